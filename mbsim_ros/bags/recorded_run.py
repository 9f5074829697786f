# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a bag holds of one robot, sorted for a replay: setups, states, and commands by the stamps they answer."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import (
    JointMessage,
    WrenchesMessage,
    WrenchMessage,
    joint_message,
    string_message,
    wrench_message,
    wrenches_message,
)
from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.bags.topics import JOURNAL_TOPIC, ODOMETRY_TOPIC, SETUP_TOPIC, STATE_TOPIC
from mbsim_ros.model.sidecar.coupling_text import split_command

LATEST = 2**31 * 1_000_000_000  # ns: seconds of a stamp are 32 bits
JOINTS, MOTORS = "joint_commands", "motor_commands"
COUPLING, WRENCH, MOTOR_STATES = "coupling_command", "wrench", "motor_states"
WRENCHES = "wrench_commands"


class CannotReplay(ValueError):
    """A recording that lacks what a replay needs; the text says what."""


class NoRun(CannotReplay):
    """A bag without the setup of a simulation."""


@dataclass
class RecordedRun:
    """One robot's part of a bag. Commands are kept in the order in which they were recorded."""

    namespace: str  # "/" or "/name"
    setups: list[SimulationSetup] = field(default_factory=list)
    states: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))  # by stamp, in time's order
    odometry: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    published: Counter[int] = field(default_factory=Counter)  # how often a state was: motor_states keep repetitions
    commands: dict[int, list[tuple[str, JointMessage]]] = field(default_factory=lambda: defaultdict(list))
    arrivals: list[tuple[int, str, JointMessage]] = field(default_factory=list)  # the same by time, for async
    couplings: list[tuple[int, bool, str]] = field(default_factory=list)  # time, whether it was stamped, name
    wrenches: list[tuple[int, WrenchMessage]] = field(default_factory=list)
    wrench_commands: dict[int, list[WrenchesMessage]] = field(default_factory=lambda: defaultdict(list))
    journal: list[str] = field(default_factory=list)  # messages of simulation_journal; none in bags of before

    def add(self, topic: str, time: int, data: bytes) -> None:
        """Take in a message; topic without the namespace."""
        if topic == STATE_TOPIC:
            self.states[time].append(data)
        elif topic == ODOMETRY_TOPIC:
            self.odometry[time].append(data)
        elif topic == MOTOR_STATES:
            self.published[time] += 1
        elif topic in (JOINTS, MOTORS):
            command = joint_message(data)
            self.commands[command.stamp].append((topic, command))
            self.arrivals.append((time, topic, command))
        elif topic == COUPLING:
            name, stamp = split_command(string_message(data))
            stamped = stamp.isdecimal() and len(stamp) < 20  # digits of LATEST
            self.couplings.append((int(stamp) if stamped else time, stamped, name))
        elif topic == WRENCH:
            self.wrenches.append((time, wrench_message(data)))
        elif topic == WRENCHES:
            pushes = wrenches_message(data)
            self.wrench_commands[pushes.stamp].append(pushes)
        elif topic == JOURNAL_TOPIC:
            self.journal.append(string_message(data))
        elif topic == SETUP_TOPIC:
            self.setups.append(SimulationSetup.from_json(string_message(data)))


def recorded_runs(bag: BagReader, package_dirs: Sequence[str | os.PathLike] = ()) -> list[RecordedRun]:
    """The runs of all robots in a bag, each with its setup. Raises CannotReplay if there is none.

    package_dirs: packages, or folders of packages, with meshes that are no longer where they were.
    """
    spaces = [name.removesuffix(SETUP_TOPIC) for name in bag.topics if name.endswith("/" + SETUP_TOPIC)]
    runs = []
    for space in sorted(spaces):
        names = (
            STATE_TOPIC, ODOMETRY_TOPIC, JOINTS, MOTORS, COUPLING, WRENCH, WRENCHES, MOTOR_STATES, SETUP_TOPIC,
            JOURNAL_TOPIC,
        )  # fmt: skip
        run = RecordedRun(space.rstrip("/") or "/")
        try:
            for message in bag.messages([space + name for name in names]):
                if message.time >= LATEST:
                    raise ValueError(f"a message of {message.topic} at {message.time} ns, beyond what a stamp can be")
                run.add(message.topic.removeprefix(space), message.time, message.data)
        except ValueError as error:
            raise CannotReplay(f"{bag.path}: {error}") from None
        run.setups = [replace(setup, package_dirs=tuple(package_dirs)) for setup in run.setups]
        if run.setups:
            runs.append(run)
    if not runs:
        raise NoRun(
            f"{bag.path} has no message on {SETUP_TOPIC}: it was not recorded beside a physics node, or not that topic"
        )
    return runs
