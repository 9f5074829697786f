# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A page to choose a robot and its controller from, and to start and end its simulation.

The simulation is `mbsim launch` in a process of its own, with a view of its own: this page says where. What the page
runs is written on it, to be typed as well.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.launcher.plan import find_launch_file, launch_names, list_arguments
from mbsim_ros.model.catalogue import catalogue, robots_folder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.sim.surroundings.terrain_parameter import TERRAINS
from mbsim_ros.viewer.drawing.shapes import missing_meshes
from mbsim_ros.viewer.page.markdown import code, code_block, plain
from mbsim_ros.viewer.page.page_script import VIEW_LINK
from mbsim_ros.viewer.page.uploads import add_upload

if TYPE_CHECKING:
    from viser import GuiApi, ViserServer

NOT_ROBOTS = ("doctor", "free", "physics", "view")  # launch files that show no robot of their own
FIRST = "walker"
OWN = "simulate"  # the launch file for any robot
OTHERS = {  # controllers that can take the place of a launch file's own
    "arm": ("joint_hold",), "two_arms": ("joint_hold",), "biped": ("joint_hold",), OWN: ("computed_torque",),
}  # fmt: skip
LINES = 6  # of what it said last


class Chooser:
    """Choosers, a button to start and one to end. Call `tick` often, and `close` at the end."""

    def __init__(self, server: ViserServer):
        self._process: subprocess.Popen[str] | None = None
        self._said: deque[str] = deque(maxlen=LINES)
        self._view = ""
        self._asked = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        gui = server.gui
        names = [name for name in launch_names(share_directory("mbsim_ros") / "launch") if name not in NOT_ROBOTS]
        ready = [robot.name for robot in catalogue() if robot.file is not None and robot.name not in names]
        self._robot: Any = gui.add_dropdown("robot or launch file", (*names, *ready), initial_value=FIRST)
        self._robot.on_update(lambda _: self._show_fields())
        self._fields = {name: _fields(gui, name) for name in names}
        add_upload(server, "a URDF of your own, or drop it here", ".urdf", self._on_file)
        self._problem = gui.add_markdown("")
        self._words = gui.add_markdown("")
        gui.add_button("start").on_click(lambda _: self._ask("start"))
        gui.add_button("end").on_click(lambda _: self._ask("end"))
        self._state = gui.add_markdown("nothing runs")
        for fields in self._fields.values():
            for field in fields.values():
                field.on_update(lambda _: self._show_fields())
        self._show_fields()

    def command(self) -> list[str]:
        """What is started: `mbsim` and these words. Arguments that are as the launch file has them are left out."""
        name = self._robot.value
        if name not in self._fields:  # of the catalogue
            return ["launch", name]
        given = {key: str(field.value).strip() for key, field in self._fields[name].items()}
        known = {argument.name: argument.default for argument in list_arguments(find_launch_file(name))}
        return ["launch", name, *(f"{key}:={value}" for key, value in given.items() if value != known[key])]

    def tick(self) -> None:
        """Do what was asked for, and say what the simulation does."""
        asked, self._asked = self._asked, ""
        if asked:
            self._end()
        if asked == "start":
            self._start()
        process = self._process
        if process is None:
            return
        ended = process.poll()
        state = "runs" if ended is None else "has ended" if ended == 0 else f"has failed with code {ended}"
        view = f": [{VIEW_LINK}]({self._view})" if self._view and ended is None else ""
        text = f"It {state}{view}\n{code_block(list(self._said))}"
        if text != self._state.content:
            self._state.content = text

    def close(self) -> None:
        """End what runs."""
        self._end()
        if self._folder is not None:
            self._folder.cleanup()

    def _on_file(self, name: str, content: bytes) -> None:
        """Start a robot that a page has sent: on the ground if it floats, held where it is."""
        try:
            text = content.decode("utf-8-sig").lstrip()
            if not text.startswith("<"):  # it would be the name of a file
                raise ValueError("expected XML")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UrdfWarning)  # said when it starts
                model = self._load(text)
        except ValueError as error:
            self._problem.content = (
                f"⚠ {code(name)} cannot be simulated:\n{code_block(str(error).splitlines()[:LINES])}"
            )
            return
        self._problem.content = f"⚠ {plain(missing)}" if (missing := missing_meshes(model)) else ""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="mbsim_robot_")  # for this user alone
        file = Path(self._folder.name) / "robot.urdf"
        file.write_text(text, encoding="utf-8")
        self._robot.value = OWN
        self._fields[OWN]["robot"].value = str(file)
        self._fields[OWN]["terrain"].value = "flat" if model.is_floating else "auto"
        self._ask("start")

    def _load(self, text: str) -> Model:
        """The robot; its meshes are looked for in `package_dirs`, and else where the robots of the catalogue are."""
        given = self._fields[OWN]["package_dirs"]
        model = load_urdf(text, package_dirs=[folder for folder in given.value.split(os.pathsep) if folder])
        known = robots_folder()
        if not given.value and known is not None and missing_meshes(model):
            share = str(known.parents[1])
            found = load_urdf(text, package_dirs=[share])
            if not missing_meshes(found):
                model, given.value = found, share
        return model

    def _ask(self, what: str) -> None:
        self._asked = what  # buttons are pressed in threads of the server

    def _show_fields(self) -> None:
        for name, fields in self._fields.items():
            for field in fields.values():
                field.visible = name == self._robot.value
        self._words.content = code(f"./mbsim {' '.join(self.command())}")

    def _start(self) -> None:
        self._said.clear()
        self._view = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mbsim_ros", *self.command()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env={**os.environ, "MBSIM_VIEW": "true", "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C is for this process, which then ends the other
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._said.append(line.rstrip())
            found = re.search(r"open (http://[\w.:\[\]-]+) in a browser", line)
            if found:
                self._view = found[1]

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()


def _fields(gui: GuiApi, name: str) -> dict[str, Any]:
    """What can be chosen for a launch file: the controllers, arguments with few values, the file of an own robot."""
    found: dict[str, Any] = {}
    shown = name == FIRST
    for argument in list_arguments(find_launch_file(name)):
        default, about = argument.default or "", argument.description or None
        if argument.name == "controller" or argument.name.endswith("_controller"):
            choices: tuple[str, ...] = (default, *OTHERS.get(name, ()))
        elif argument.choices:
            choices = tuple(argument.choices)
        elif argument.name == "terrain" and name == OWN:
            choices = tuple(TERRAINS)
        elif name == OWN and argument.name in ("robot", "package_dirs"):
            found[argument.name] = gui.add_text(argument.name, initial_value="", hint=about, visible=shown)
            continue
        else:
            continue
        found[argument.name] = gui.add_dropdown(
            argument.name, choices, initial_value=default, hint=about, visible=shown
        )
    return found
