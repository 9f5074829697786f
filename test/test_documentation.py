"""README and docs: the commands run, the links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands() -> list[str]:
    """Every ./mbsim command of the pages, without its comment; those of a ROS installation cannot run here."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.DOTALL):
            found += [line.partition("#")[0].strip() for line in block.splitlines() if line.startswith("./mbsim")]
    return sorted(set(found))


def test_the_pages_have_commands():
    assert "./mbsim doctor" in commands()
    assert "./mbsim test" in commands()


@pytest.mark.parametrize("command", [c for c in commands() if not c.startswith("./mbsim test")])
def test_command_runs(command):
    arguments = shlex.split(command)[1:]
    done = subprocess.run([sys.executable, "-m", "mbsim_ros", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def snippets() -> list[tuple[str, str]]:
    """The Python of every page, page by page: later snippets may use what earlier ones made."""
    found = []
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
        if blocks:
            found.append((page.name, "\n".join(blocks)))
    return found


@pytest.mark.parametrize(("page", "code"), snippets(), ids=lambda value: value if value.endswith(".md") else "")
def test_snippets_run(page, code):
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", ["clutch.py", "own_robot.py", "pendulum_energy.py"])
def test_examples_run(script):
    done = subprocess.run([sys.executable, f"examples/{script}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_example_is_run_or_is_a_controller_of_which_a_page_has_a_snippet():
    scripts = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert scripts == {"clutch.py", "own_robot.py", "pendulum_energy.py", "swing_controller.py"}
    assert "from swing_controller import" in (ROOT / "docs/controllers.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert re.match("https?://", target) or (page.parent / target).exists(), target


def test_the_documented_launch_tags_are_those_that_exist():
    from mbsim_ros.launcher.functions import FUNCTIONS
    from mbsim_ros.launcher.schema import TAGS

    text = (ROOT / "docs/launch_files.md").read_text()
    table = text.partition("## Tags")[2].partition("## Substitutions")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)) == set(TAGS)
    listed = text.partition("## Substitutions")[2].partition("##")[0]
    assert set(re.findall(r"`\$\(([\w-]+)", listed)) - {"("} == set(FUNCTIONS)
    for tag, shape in TAGS.items():
        row = next(line for line in table.splitlines() if line.startswith(f"| `{tag}`"))
        for attribute in (*shape.required, *shape.optional):
            assert re.search(rf"\b{attribute}\b", row), f"{tag} {attribute}"


def test_readme_shows_the_version_that_is():
    from mbsim_ros import __version__

    assert f"mbsim_ros {__version__}:" in (ROOT / "README.md").read_text()
    assert os.access(ROOT / "mbsim", os.X_OK)
