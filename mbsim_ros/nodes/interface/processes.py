# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The processes that the reference is read from: every node of the package, as it comes and as launch files use it."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geometry_msgs.msg import TwistStamped
from rclpy.serialization import serialize_message

from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.executables import module_of
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.nodes.controllers import controller_node
from mbsim_ros.nodes.controllers.controller_parameters import table_of
from mbsim_ros.nodes.controllers.walker_controller import WalkerGait
from mbsim_ros.nodes.drive import replay as drive_replay
from mbsim_ros.nodes.interface.texts import COMMON
from mbsim_ros.nodes.parameters import Parameter
from mbsim_ros.nodes.recording import node as record

ENDS_WITHIN = 20.0  # s of wall time after ctrl-C
LAST_WORDS = 1000  # characters of a node that ended by itself
SCREEN = ("DISPLAY", "WAYLAND_DISPLAY")  # without one no browser is opened


@dataclass(frozen=True)
class Start:
    """One process of a node.

    space: its namespace; given: the parameters it is started with, as ROS reads them; declared: what the node declares
    its parameters by, for the defaults of those that are given in every process of it; shows: the name in texts.py of
    what it shows, if not the node's own; needs_robot: whether a robot_description has to be published for it.
    """

    node: str
    space: str
    given: Mapping[str, str] = field(default_factory=dict)
    declared: Sequence[Parameter] = ()
    shows: str = ""
    needs_robot: bool = False

    @property
    def report(self) -> str:
        """The name in texts.py of what it shows."""
        return self.shows or self.node


def starts(folder: Path) -> tuple[Start, ...]:
    """All processes; some nodes twice or thrice, which show other topics with other robots. folder: for what they need.

    A simulated walker is in /walker, slow enough to leave the processor to the others.
    """
    robots, config = (share_directory("mbsim_ros") / name for name in ("urdf", "config"))
    sidecar = str(config / "walker.mbsim.yaml")
    walker = {
        "robot_file": f"{robots}/walker.urdf.xacro", "sidecar": sidecar, "coupling": "normal",
        "real_time_factor": "0.01",
    }  # fmt: skip
    arm = {"robot_file": f"{robots}/arm.urdf.xacro", "clock": "follow", "joint_wrench_joints": "[elbow]"}
    alone = ("joint_hold", "computed_torque", "balance_controller", "viscoelastic_controller", "drive_teleop")
    return (
        Start("physics", "/without_robot"),
        Start("physics", "/walker", walker),
        Start("physics", "/arm", arm),
        Start("clutch_manager", "/walker", {"sidecar": sidecar}, controller_node.PARAMETERS),
        Start("viewer", "/walker"),
        Start("viewer", "/viewer", needs_robot=True),
        Start(
            "walker_controller",
            "/walker",
            {"rough": "true", "sidecar": sidecar},
            (*controller_node.PARAMETERS, *table_of(WalkerGait.Parameters)),
        ),
        *(Start(node, f"/{node}") for node in alone),
        Start("joint_hold", "/whole_state", {"whole_state": "true"}, shows=COMMON),
        Start("record", "/record", {"lockstep": "true"}, record.PARAMETERS),
        Start("drive_replay", "/drive_replay", {"bag": _bag(folder / "drive")}, drive_replay.PARAMETERS),
    )


@contextlib.contextmanager
def running(wanted: Sequence[Start], folder: Path) -> Iterator[list[subprocess.Popen]]:
    """Run them in a folder until the block ends; what they write is in files there."""
    environment = {name: value for name, value in os.environ.items() if name not in SCREEN}
    keyboard, terminal = pty.openpty()  # for the node that reads keys
    processes: list[subprocess.Popen] = []
    try:
        for number, start in enumerate(wanted):
            command = [
                sys.executable,
                "-m",
                module_of(start.node),
                "--ros-args",
                "-r",
                f"__ns:={start.space}",
            ]
            for name, value in start.given.items():
                command += ["-p", f"{name}:={value}"]
            with open(_words_of(folder, number), "w") as words:
                processes.append(
                    subprocess.Popen(
                        command, cwd=folder, env=environment, stdin=terminal, stdout=words, stderr=subprocess.STDOUT
                    )
                )
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in processes:
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        os.close(keyboard)
        os.close(terminal)


def ended(wanted: Sequence[Start], processes: Sequence[subprocess.Popen], folder: Path) -> list[str]:
    """What those processes said last that run no more."""
    found = []
    for number, (start, process) in enumerate(zip(wanted, processes, strict=True)):
        if process.poll() is not None:
            words = _words_of(folder, number).read_text(errors="replace")[-LAST_WORDS:].strip()
            found.append(f"{start.node} ended with exit code {process.returncode}: {words}")
    return found


def _words_of(folder: Path, number: int) -> Path:
    return folder / f"{number}.log"


def _bag(folder: Path) -> str:
    """A recording with one velocity, for the node that drives with those of a recording."""
    with BagWriter(folder) as writer:
        writer.add_topic("/drive_replay/cmd_vel", "geometry_msgs/msg/TwistStamped")
        writer.write("/drive_replay/cmd_vel", 0, serialize_message(TwistStamped()))
    return str(folder)
