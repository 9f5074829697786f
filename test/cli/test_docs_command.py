# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim docs`: the site builds without a warning and needs nothing from elsewhere; mistakes in pages are errors."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import mbsim_ros
from mbsim_ros.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_site_builds_without_a_warning(tmp_path, capfd):
    out = tmp_path / "site"
    assert main(["docs", "--out", str(out)]) == 0, capfd.readouterr().err
    said = capfd.readouterr()
    assert (said.out, said.err) == (f"the site is in {out}: open {out / 'index.html'}\n", "")
    pages = {page.stem for page in DOCS.glob("*.md")}
    assert pages <= {page.stem for page in out.glob("*.html")}
    for page in pages:
        text = (out / f"{page}.html").read_text()
        loaded = re.findall(r'<(?:script|img|source|iframe)\b[^>]*\bsrc="([^"]+)"', text)
        loaded += re.findall(r'<link\b[^>]*\brel="(?:stylesheet|preload|icon)"[^>]*\bhref="([^"]+)"', text)
        assert loaded and not [address for address in loaded if "//" in address], page
        contents = re.search(r'<div class="sidebar-tree">(.*?)</div>', text, flags=re.DOTALL)[1]
        assert {f"{other}.html" for other in pages - {page, "index"}} <= set(re.findall(r'href="([^"#]+)', contents))
    found = (out / "searchindex.js").read_text()
    for name in ("Simulation.jacobian", "Model.joint", "dynamics.frame_jacobian", "control.JointCommand"):
        assert f"mbsim_ros.{name}" in found, name
    for style in (out / "_static").rglob("*.css"):
        assert not re.search(r"@import|url\(\W?(https?:)?//", style.read_text()), style


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with two pages and the settings of the real site."""
    (tmp_path / "docs").mkdir()
    for name in ("conf.py", "site.css"):
        shutil.copy(DOCS / name, tmp_path / "docs")
    (tmp_path / "docs/index.md").write_text("# Site\n\n## Pages\n\n- [Other](other.md)\n")
    (tmp_path / "docs/other.md").write_text("# Other\n\n## Part\n\n[begin](index.md#pages), [here](#part)\n")
    monkeypatch.setattr(mbsim_ros, "__file__", str(tmp_path / "mbsim_ros/__init__.py"))
    return tmp_path


def test_it_is_written_to_the_folder_for_builds(checkout, capfd):
    assert main(["docs"]) == 0, capfd.readouterr().err
    assert (checkout / "build/docs/other.html").is_file()


def test_open_asks_for_a_browser_where_there_is_a_screen(checkout, capfd, monkeypatch):
    asked = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or True)
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["docs", "--open"]) == 0
    assert asked == [(checkout / "build/docs/index.html").as_uri()]
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["docs", "--open"]) == 0
    assert len(asked) == 1
    assert "there is no screen" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[a](nowhere.md)", "nowhere.md"), ("[a](index.md#no-such)", "no-such"), ("[a](#no-such)", "no-such"),
        ("![a](nothing.png)", "nothing.png"), ("[a](../examples/nothing.py)", "nothing.py"),
    ],
)  # fmt: skip
def test_what_leads_nowhere_is_an_error_with_its_line(checkout, capfd, line, said):
    with open(checkout / "docs/other.md", "a") as page:
        page.write(f"\n{line}\n")
    assert main(["docs"]) == 1
    err = capfd.readouterr().err
    assert re.search(rf"other\.md:7: WARNING: .*{re.escape(said)}", err), err
    assert err.endswith("mbsim docs: the site has mistakes, see above\n")


def test_a_page_that_is_not_in_the_table_of_contents_is_an_error(checkout, capfd):
    (checkout / "docs/lost.md").write_text("# Lost\n")
    assert main(["docs"]) == 1
    assert "document isn't included in any toctree" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["sphinx", "myst_parser", "furo"])
def test_what_to_install_is_said(name, monkeypatch, capsys, tmp_path):
    for loaded in [module for module in sys.modules if module.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["docs", "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert f"'{name}' is missing" in err and "pip install -e '.[docs]'" in err


def test_wrong_calls(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit):
        main(["docs", "--out", str(tmp_path / "file")])
    assert "expected a folder" in capsys.readouterr().err
    monkeypatch.setattr(mbsim_ros, "__file__", str(tmp_path / "mbsim_ros/__init__.py"))
    assert main(["docs"]) == 2
    assert "source checkout" in capsys.readouterr().err
