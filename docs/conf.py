# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Settings of the documentation site, which `mbsim docs` builds: Sphinx with MyST (Markdown) and the theme furo.

The pages are plain Markdown that reads as well on GitHub. Nothing is loaded from elsewhere: no fonts, no scripts.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mbsim_ros import __version__

project = "mbsim_ros"
copyright = "mbsim_ros maintainers, Apache-2.0"
version = release = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures"]
nitpicky = True
suppress_warnings: list[str] = []
myst_heading_anchors = 3  # a link may name a heading of another page: simulation.md#drives
myst_links_external_new_tab = False

html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_title = f"mbsim_ros {__version__}"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"footer_icons": []}


def contents(text: str) -> str:
    """The lists of pages in index.md as toctrees, one for each heading."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        caption, _, rest = section.partition("\n")
        pages = re.findall(r"^- \[[^\]]+\]\((\w+)\.md\)", rest, flags=re.MULTILINE)
        if pages:
            trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]))
    return "\n".join(trees)


def setup(app: Any) -> None:
    """Read the table of contents from the list that a reader of index.md sees, so that there is one list only.

    The reference of the Python interface is written from the docstrings, tables from what there is.
    """

    from capability_table import filled

    def add_contents(_: Any, name: str, source: list[str]) -> None:
        if name == "index":
            source[0] += "\n" + contents(source[0])
        source[0] = filled(source[0])
        if name == "api":
            from api_reference import reference

            source[0] = source[0].rpartition("\n\n")[0] + "\n" + reference()  # in place of the words about the site

    app.connect("source-read", add_contents)
