# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""README and docs: commands and snippets run, links lead somewhere, every page is in the table of contents."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SITE = sorted((ROOT / "docs").glob("*.md"))
RECORDING = "my_run"  # how the pages name one
PAGES = [ROOT / "README.md", *SITE]


def commands_of(page: Path) -> list[str]:
    """Every ./mbsim command of a page, without its comment; those of a ROS installation cannot run here."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.partition("#")[0].strip() for line in lines if line.startswith("./mbsim")]


def commands() -> list[str]:
    return sorted({command for page in PAGES for command in commands_of(page)})


def runs() -> list[tuple[str, ...]]:
    """What is run in one test: a command, or all of a page that work on the same recording, in their order."""
    alone = [(command,) for command in commands() if RECORDING not in command]
    pages = [tuple(command for command in commands_of(page) if RECORDING in command) for page in PAGES]
    return [run for run in alone if not run[0].startswith("./mbsim test")] + sorted(set(filter(None, pages)))


def test_the_pages_have_commands():
    assert "./mbsim doctor" in commands()
    assert "./mbsim test" in commands()


@pytest.mark.parametrize("run", runs(), ids=lambda run: run[0].removeprefix("./mbsim "))
@pytest.mark.ros
def test_command_runs(run, tmp_path):
    for command in run:
        arguments = [word.replace(RECORDING, str(tmp_path / RECORDING)) for word in shlex.split(command)[1:]]
        done = subprocess.run([sys.executable, "-m", "mbsim_ros", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


SHORT = ("view:=false", "real_time_factor:=0.0", "duration:=0.1")
BY_HAND = {
    "drive",
    "view",
    "record",
    "sidecar",
    "experiment",
    "plot",
    "docs",
}  # they take a person or minutes, and have tests of their own


def commands_by_hand() -> list[str]:
    """Every ./mbsim command that a page shows without running it: most go on until Ctrl-C."""
    text = "\n".join(page.read_text() for page in PAGES)
    lines = [line for block in re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()]
    found = {line.partition(" #")[0].strip() for line in lines if line.startswith("./mbsim ")}
    return sorted({re.sub(r" duration:=[\d.]+", "", command) for command in found})


def launches() -> list[list[str]]:
    """The words of those that launch something that begins by itself, without what `test_command_runs` launches."""
    found = [
        words_of(command) for command in commands_by_hand()
        if command.startswith("./mbsim launch") and "controller:=none" not in command and "record:=" not in command
    ]  # fmt: skip
    run = [words_of(command) for command in commands()]
    return [words for k, words in enumerate(found) if words not in run and words not in found[:k]]


def words_of(command: str) -> list[str]:
    """The words of a command, without those that only say how long and how fast it runs."""
    words = shlex.split(command.replace("/path/to/robot.urdf", "urdf/double_pendulum.urdf"))[1:]
    shortened = tuple(word.partition(":=")[0] + ":=" for word in SHORT)
    return [word for word in words if not word.startswith(shortened)]


def test_what_is_shown_is_launched_here_or_has_a_test_of_its_own():
    for command in commands_by_hand():
        assert command.split()[1] in BY_HAND | {"launch"}, command
    assert len(launches()) > 5


@pytest.mark.parametrize("words", launches(), ids=" ".join)
@pytest.mark.ros
def test_what_is_launched_by_hand_runs(words):
    command = [sys.executable, "-m", "mbsim_ros", *words, *SHORT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250.0)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr


def snippets() -> list[tuple[str, str]]:
    """The Python of every page, page by page: later snippets may use what earlier ones made."""
    found = []
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
        if blocks:
            found.append((page.name, "\n".join(blocks)))
    return found


@pytest.mark.parametrize("page", SITE, ids=lambda page: page.name)
def test_every_page_has_something_that_is_run(page):
    generated = page.name == "interface.md"  # from the running nodes, with which a test in test/nodes compares it
    assert commands_of(page) or page.name in dict(snippets()) or generated


@pytest.mark.slow
@pytest.mark.parametrize(("page", "code"), snippets(), ids=lambda value: value if value.endswith(".md") else "")
def test_snippets_run(page, code):
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("script", ["clutch.py", "own_robot.py", "look_at_it.py"])
def test_examples_run(script):
    done = subprocess.run([sys.executable, f"examples/{script}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_the_pendulum_shows_that_one_error_is_bounded_and_the_other_grows():
    done = subprocess.run([sys.executable, "examples/pendulum_energy.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {line.split()[0]: line.partition("quarter: ")[2] for line in done.stdout.splitlines()}
    variational, rk4 = ([float(word) for word in found[name].split()] for name in ("lie_variational", "rk4"))
    assert max(variational) < 1.05 * min(variational) and max(variational) < 0.8  # percent, in 20 min
    assert all(later > earlier + 0.7 for earlier, later in pairwise(rk4)) and rk4[-1] > 3.5
    assert "gone after" in found["lie_euler"]


def test_every_example_is_run_or_is_a_controller_of_which_a_page_has_a_snippet():
    scripts = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert scripts == {
        "clutch.py", "own_robot.py", "look_at_it.py", "pendulum_energy.py", "crouch.py", "swing_controller.py", "trot.py",
        "lagrangian_tables.py",  # in test/lagrangian
    }  # fmt: skip
    for name, page in {"swing_controller.py": "controllers.md", "crouch.py": "own_controller.md"}.items():
        controller = (ROOT / "examples" / name).read_text()
        shown = (ROOT / "docs" / page).read_text().partition("```python\n")[2].partition("```")[0]
        assert shown in controller, page
        assert name != "swing_controller.py" or controller.index(shown) < controller.index("if __name__")
    trot = (ROOT / "examples/trot.py").read_text()
    assert trot[trot.index("class Trot") :] in (ROOT / "docs/legged.md").read_text()


def anchors(page: Path) -> set[str]:
    """The names that headings of a page have as targets of links: in lower case, without signs, - for spaces."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if re.match(r"\w+:", link):
            assert re.fullmatch(r"https?://[\w.-]+(/[^\s<>\"]*)?", link), link
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_table_of_contents_once():
    listed = re.findall(r"^- \[[^\]]+\]\((\w+\.md)\)", (ROOT / "docs/index.md").read_text(), flags=re.MULTILINE)
    assert sorted([*listed, "index.md"]) == [page.name for page in SITE]


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


def test_the_sidecars_of_the_pages_are_right():
    """All of the YAML on the pages, as sidecars of a leg with the names that they use; and every key is shown."""
    from mbsim_ros import ModelBuilder
    from mbsim_ros.model.sidecar.parser import SECTIONS, parse_sidecar

    leg = ModelBuilder("leg").link("base", mass=1.0, sphere=0.1)
    for joint, parent, child in (("waist", "base", "thigh"), ("hip", "thigh", "shin"), ("knee", "shin", "foot")):
        leg.link(child, mass=1.0, sphere=0.1)
        leg.joint(joint, "continuous", parent, child, xyz=(0, 0, -0.3), axis=(0, 1, 0))
    model = leg.build("floating")
    found = [
        (page.name, text) for page in PAGES for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    assert {name for name, _ in found} == {"sidecar.md", "couplings.md", "first_robot.md"}
    for name, text in found:
        if name == "first_robot.md":  # of the dog, whose commands on that page read it
            assert text == (ROOT / "examples/dog.mbsim.yaml").read_text()
        else:
            parse_sidecar(text, model.description, file=name)
    shown = (ROOT / "docs/sidecar.md").read_text()
    assert all(re.search(rf"(^|`){key}\b", shown, flags=re.MULTILINE) for key in SECTIONS)


def test_the_topics_of_the_foxglove_layout_exist():
    from mbsim_ros import load_urdf

    layout = json.loads((ROOT / "config/foxglove_walker.json").read_text())
    named = re.findall(r'"(/[\w/]+)[".]', json.dumps(layout["configById"]))
    assert {"/walker/odom", "/walker/robot_description", "/diagnostics"} <= set(named)
    links = load_urdf(ROOT / "urdf/walker.urdf.xacro").link_names
    offered = set(
        re.findall(r"^\| `([^`]+)` \| (?:publishes|subscribes)", (ROOT / "docs/interface.md").read_text(), re.M)
    )
    offered |= {f"contact_wrench/{link}" for link in links if "contact_wrench/<link>" in offered}
    assert {topic.removeprefix("/walker/") for topic in named} <= offered
    placed = re.findall(r'"(\w+!\w+)"', json.dumps(layout["layout"]))
    assert sorted(placed) == sorted(layout["configById"])
    assert layout["configById"]["3D!robot"]["followTf"] in links


def test_readme_shows_the_version_that_is():
    from mbsim_ros import __version__

    assert f"mbsim_ros {__version__}:" in (ROOT / "README.md").read_text()
    assert os.access(ROOT / "mbsim", os.X_OK)


def test_the_picture_of_the_architecture_is_that_of_the_layers():
    sys.path.append(str(ROOT / "docs"))
    from architecture_picture import LAYERS, PICTURE, drawing

    assert all(f">{name}<" in drawing() for level in LAYERS for name in level)
    assert PICTURE.read_text() == drawing(), "run: python3 docs/architecture_picture.py"
