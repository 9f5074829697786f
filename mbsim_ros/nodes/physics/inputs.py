# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What reaches the physics node: commands of joints and motors, couplings, pushes. Refusals are counted by cause."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import HistoryPolicy, QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.bags.journal import COUPLE, JOINTS, MOTORS, PUSH
from mbsim_ros.nodes.physics.lockstep import COUPLING, DUPLICATE, STALE, WRENCH, Answers
from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.raw_reader import RawReader
from mbsim_ros.sim.drives.drive_table import PARTS, DriveCommand, Refusal

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

# Reliable, and none is dropped for those that come after it: an answer that is lost would be waited for.
COMMANDS = QoSProfile(history=HistoryPolicy.KEEP_ALL, depth=100)
PUSH_LASTS = 100_000_000  # ns of simulated time, unless replaced
MOST_COUPLINGS = 100  # that wait for their stamps


class Inputs:
    """Subscriptions of commands, and what is to be done about them at the next instant."""

    def __init__(self, physics: Physics, answers: Answers | None, frame_prefix: str):
        """answers: of the participants in lockstep, None where commands act as they come."""
        self._node, self._answers, self._prefix = physics, answers, frame_prefix
        self._intake, self._note = physics.intake, physics.journal.note
        self.now = 0  # stamp of the present state [ns]
        self.rejoined: list[str] = []  # observers who were absent and have answered again
        self.has_command = False
        self.last_command = 0
        self.refused: Counter[str] = Counter()
        self._couplings: list[tuple[int, str]] = []
        self._pushes: dict[str, int] = {}  # link → stamp of its end
        self._reader = RawReader(JointState)
        make: Callable[..., Subscription[Any]] = physics.create_subscription
        joints = make(JointState, "joint_commands", _unused, COMMANDS, raw=True)
        motors = make(JointState, "motor_commands", _unused, COMMANDS, raw=True)
        self.handlers: list[Handler] = [
            (joints, partial(self._on_command, JOINTS)),
            (motors, partial(self._on_command, MOTORS)),
            (make(String, "coupling_command", _unused, COMMANDS), self._on_coupling),
            (make(WrenchStamped, "wrench", _unused, COMMANDS), self._on_wrench),
        ]

    def begin_instant(self, now: int) -> None:
        """Act on what is due at this stamp: answers, couplings, the end of pushes."""
        self.now = now
        if self._answers is not None:
            for command in self._answers.take():
                command()
        due = [name for stamp, name in self._couplings if stamp <= now]
        self._couplings = [(stamp, name) for stamp, name in self._couplings if stamp > now]
        for name in due:
            self._couple(name)
        for link in [link for link, end in self._pushes.items() if end <= now]:
            self._intake.sim.push(link, None)
            self._note(PUSH, [link])
            del self._pushes[link]

    def clear(self) -> None:
        """Forget what is waiting: the simulation starts again."""
        self._couplings.clear()
        for link in self._pushes:
            self._intake.sim.push(link, None)
        self._pushes.clear()
        self.has_command = False

    def ask_for_coupling(self, name: str) -> None:
        """Engage a coupling that is known at the next instant, as a coupling_command without a stamp does."""
        self._put_aside(0, name)

    def refuse(self, cause: str, detail: str) -> None:
        """Count a refusal; the first of a cause is logged."""
        self.refused[cause] += 1
        if self.refused[cause] == 1 and cause != DUPLICATE:  # who is not sure to have been heard answers twice
            self._node.get_logger().warning(
                f"refused a command ({cause}): {detail}; further ones are counted in /diagnostics"
            )

    def _on_command(self, kind: str, data: bytes) -> None:
        try:
            given = self._reader.read(data)
        except ValueError as error:
            self.refuse("unreadable", str(error))
            return
        stamp, names, sender = given.stamp, given.message.name, given.message.header.frame_id
        if self._answers is not None:
            self._answers.hear(sender, stamp)
        if self._answers is not None and sender in self._answers.absent and 0 <= stamp <= self.now:
            self._answers.absent.discard(sender)
            self.rejoined.append(sender)
        if self._answers is not None and not self._answers.is_standing_by:
            cause = self._answers.refusal(stamp, sender)
            if cause:
                if cause == STALE and self._answers.is_observer(sender):
                    cause = DUPLICATE  # a recorder that catches up
                self.refuse(cause, f"{sender or 'somebody'} at {stamp} ns, the state is of {self.now} ns")
                return
        table = self._intake.joints if kind == JOINTS else self._intake.motors
        command = table.read(names, *map(given.numbers, PARTS))
        if isinstance(command, Refusal):
            self.refuse(command.cause, f"{command.reason} (from {sender or 'somebody'})")
            return
        if self._answers is None:
            self._apply(kind, data, command)
            self.last_command = self.now
        elif not self._answers.is_standing_by:
            self._answers.give(sender, partial(self._apply, kind, data, command), is_empty=not names)
        elif stamp > self.now or not self._answers.note_return(sender, stamp):
            self.refuse(STALE, f"{sender or 'somebody'} at {stamp} ns")
            return
        sim = self._intake.sim
        # Who only answers, such as a recorder, does not start a robot that somebody is going to command.
        if names or not (sim.tau_names or sim.motor_names):
            self.has_command = True

    def _apply(self, kind: str, data: bytes, command: DriveCommand) -> None:
        """Drive with a command from now on; it is read again if another coupling, or other gains, came before it."""
        table = self._intake.joints if kind == JOINTS else self._intake.motors
        if not table.is_current(command):
            given = self._reader.read(data)
            again = table.read(given.message.name, *map(given.numbers, PARTS))
            if isinstance(again, Refusal):
                self.refuse(again.cause, f"{again.reason} (from {given.message.header.frame_id or 'somebody'})")
                return
            command = again
        command.apply()
        if not command.is_empty:
            self._note(kind, data)

    def _on_coupling(self, message: String) -> None:
        name, _, stamp = message.data.partition("@")
        if stamp and not stamp.isdecimal():
            self.refuse("bad coupling command", f"expected name or name@nanoseconds, got {message.data!r}")
            return
        known = {*self._intake.sim.couplings, self._intake.sim.coupling.name}
        if name not in known:
            there = ", ".join(sorted(known - {""})) or "none"
            self.refuse("unknown coupling", f"{name!r}; there are: {there}")
            return
        answers = self._answers
        if answers is not None and COUPLING in answers.participants and stamp:
            cause = "" if answers.is_standing_by else answers.refusal(int(stamp), COUPLING)
            if cause:
                self.refuse(cause, f"coupling {message.data!r}, the state is of {self.now} ns")
            elif answers.is_standing_by:
                answers.returned.add(COUPLING)
            else:
                answers.give(COUPLING, lambda: self._couple(name))
        else:
            self._put_aside(int(stamp) if stamp else 0, name)
        self.has_command = True

    def _put_aside(self, stamp: int, name: str) -> None:
        """Engage a coupling at the first instant at or after a stamp [ns]."""
        if len(self._couplings) >= MOST_COUPLINGS:
            self.refuse("too many couplings", f"{name!r}: {len(self._couplings)} wait for their stamps already")
        else:
            self._couplings.append((stamp, name))

    def _couple(self, name: str) -> None:
        if name == self._intake.sim.coupling.name:
            return
        reason = self._intake.couple(name)
        if reason:
            self.refuse("coupling not possible", reason)
        else:
            self._note(COUPLE, name)

    def _on_wrench(self, message: WrenchStamped) -> None:
        link = message.header.frame_id.removeprefix(self._prefix)
        f, t = message.wrench.force, message.wrench.torque
        force, torque = (f.x, f.y, f.z), (t.x, t.y, t.z)
        if not all(map(math.isfinite, (*force, *torque))):
            self.refuse("not finite", f"wrench on '{link}'")
            return
        answers, stamp = self._answers, nanoseconds(message.header.stamp)
        if answers is None or WRENCH not in answers.participants or stamp == 0 < answers.stamp:
            self._push(link, force, torque)  # of somebody who does not answer
            return
        cause = "" if answers.is_standing_by else answers.refusal(stamp, WRENCH)
        if cause:
            self.refuse(cause, f"wrench on '{link}' at {stamp} ns, the state is of {self.now} ns")
        elif answers.is_standing_by:
            answers.returned.add(WRENCH)
        else:
            answers.give(WRENCH, lambda: self._push(link, force, torque))
        self.has_command = True

    def _push(self, link: str, force: tuple[float, ...], torque: tuple[float, ...]) -> None:
        try:
            self._intake.sim.push(link, force, torque)
        except ValueError as error:
            self.refuse("bad wrench", str(error))
            return
        self._pushes[link] = self.now + PUSH_LASTS
        self._note(PUSH, [link, list(force), list(torque)])


def _unused(_: object) -> None:
    """Callback of a subscription whose messages are taken directly."""
