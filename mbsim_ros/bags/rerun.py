# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A simulation that goes again through a recorded run: the same steps under the same commands, without ROS.

What acted when is told by the journal of the run (journal_rerun.py); here it is concluded from the commands alone, for
bags that have no journal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mbsim_ros.bags.formats.cdr import JointMessage, WrenchesMessage, WrenchMessage
from mbsim_ros.bags.recorded_run import MOTORS, RecordedRun
from mbsim_ros.bags.sim_time import SECOND
from mbsim_ros.model.model import IQ, IV
from mbsim_ros.sim.clock import whole_steps
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import DriveCommand, Refusal
from mbsim_ros.sim.parameters import friction_from
from mbsim_ros.sim.surroundings.friction import change_friction

ANYBODY, COUPLING, WRENCH = "", "coupling", "wrench"  # participants without a name of their own
PUSH_LASTS = 100_000_000  # ns
RESET_GAP = SECOND // 2  # ns: a stamp that jumps this far is a reset


class Rerun:
    """The physics of a recorded run, from its start to any later stamp.

    In lockstep the commands stamped t act from the state t on, in the order of the participants. Where a participant's
    answer is not in the recording and time went on, physics did without it by its policy, and so does this. Otherwise
    (async) commands act at the time they were recorded at, which is a guess.
    """

    first_stamp = 0  # ns: of the first state that should be in the bag
    knows_sets = False  # whether the recording tells of states that were set from outside

    def __init__(self, run: RecordedRun):
        self._run, self._values = run, run.setups[0].parameters
        self.sim = run.setups[0].simulation()
        self.intake = CommandInterface(self.sim)
        self.intake.hold()
        self._steps = whole_steps("control_period", self._values["control_period"], self.sim.dt_ns)
        self.period = self._steps * self.sim.dt_ns
        self.is_lockstep = self._values["sync"] == "lockstep"
        named = [name for name in self._values["lockstep_participants"] if name] or [ANYBODY]
        self._participants = tuple(_qualified(name, run.namespace) for name in named)
        self._offset = self.untold = 0  # ns; states of which the recording does not tell how they came about
        self._missing = self.is_lockstep and self._values["start"] == "run"  # then nobody is waited for at first
        self._arrived = self._wrenches = self._setups = 0  # of the run's lists: how many have acted
        self._couplings = [entry for entry in run.couplings if not self._is_answer(entry)]
        self._clutches: dict[int, str] = {}  # first answer by the stamp it answers
        for stamp, _, name in filter(self._is_answer, run.couplings):
            self._clutches.setdefault(stamp, name)
        self._push_answers: dict[int, WrenchMessage] = {}  # the same of wrenches
        self.pushes_from_outside = [entry for entry in run.wrenches if not self._takes_as_answer(*entry)]
        self._pushes: dict[str, int] = {}
        self._last_command: int | None = None
        self.read_joints()

    def read_joints(self) -> None:
        """Take the joints from the simulation as they are now: at the start, or when its entities are others."""
        joints = [joint for joint in self.sim.model.joints if joint.nv == 1]
        rows = self.sim.model.topology[[joint.body for joint in joints]]
        self.joint_names = tuple(joint.name for joint in joints)
        self._places_q, self._places_v = rows[:, IQ], rows[:, IV]
        self._driven = np.array([k for k, joint in enumerate(joints) if joint.iv >= 0], dtype=np.int64)

    @property
    def stamp(self) -> int:
        """Stamp of the present state [ns]."""
        return self._offset + self.sim.time

    @property
    def has_begin(self) -> bool:
        """Whether the recording tells the run from its first instant on."""
        return min(self._run.states) == 0 or (self.is_lockstep and 0 in self._run.commands)

    def is_reset(self, before: int, stamp: int) -> bool:
        """Whether the simulation was reset between two stamps of which the bag has states."""
        return stamp - before >= RESET_GAP

    def go_to(self, stamp: int) -> bool:
        """Advance to a stamp that the recording has next; whether there is a state to compare with.

        A jump of half a second or more is a reset.
        """
        if stamp - self.stamp >= RESET_GAP and self._values["clock"] == "publish":
            self._reset(stamp)
        elif self._values["clock"] != "publish":
            self._take_period()
            self._offset = stamp - self.sim.time  # a follower's clock jumps without it
        while self.stamp < stamp:
            self._take_period()
        return True

    def is_again_at(self, stamp: int) -> bool:
        """Go on to another state that was published with the same stamp, if there was one."""
        return False

    @property
    def notes(self) -> list[str]:
        """What acted at an instant that the recording does not know exactly."""
        run, notes = self._run, []
        if not self.is_lockstep and run.arrivals:
            notes.append(
                "recorded in async mode: when exactly a command acted is not known, use lockstep for equal bits"
            )
        loose = sum(not stamped for _, stamped, _ in run.couplings)
        if loose:
            notes.append(f"{loose} coupling commands had no stamp: when exactly they acted is not known")
        if self.pushes_from_outside:
            notes.append(
                f"{len(self.pushes_from_outside)} wrenches came from outside: when exactly they acted is not known"
            )
        return notes

    def joint_state(self) -> dict[str, np.ndarray]:
        """position, velocity and effort as joint_states has them, in the order of `joint_names`."""
        q, v = self.sim.q, self.sim.v
        effort = np.zeros(len(self.joint_names))
        effort[self._driven] = self.sim.efforts
        position = self.sim.model.tree_q(q)[self._places_q]
        return {"position": position, "velocity": self.sim.model.tree_v(v)[self._places_v], "effort": effort}

    def odometry(self) -> dict[str, np.ndarray]:
        """pose (7,) and twist (6,) as odom has them."""
        return {"pose": self.sim.q[:7], "twist": self.sim.v[:6]}

    def _take_period(self) -> None:
        now = self.stamp
        self._change_parameters(now)
        self._push_from_outside(now)
        if self.is_lockstep:
            self._act_on_answers(now)
        else:
            self._act_on_arrivals(now)
        for _, _, name in [entry for entry in self._couplings if entry[0] <= now]:
            self.intake.couple(name)
        self._couplings = [entry for entry in self._couplings if entry[0] > now]
        for link in [link for link, end in self._pushes.items() if end <= now]:
            self.sim.push(link, None)
            del self._pushes[link]
        self.sim.advance(self._steps)

    def _act_on_answers(self, now: int) -> None:
        back = self._missing and self._run.published[now] > 1  # asked again, because all were back
        if self._missing and not back:
            return
        given = self._answers(now, again=back)
        self._missing = any(name not in given for name in self._participants)
        if self._missing:  # what some have answered does not act without the others
            self._stand_by(self._values["on_missing"])
            return
        for name in self._participants:
            if name in given:
                given[name]()

    def _answers(self, now: int, again: bool) -> dict[str, Callable[[], object]]:
        """What each participant asked for at this stamp: its first right command, or its last when asked again."""
        given: dict[str, Callable[[], object]] = {}
        for topic, message in self._run.commands.get(now, ()):
            sender = message.frame_id if message.frame_id in self._participants else ANYBODY
            command = self._read(topic, message)
            if sender in self._participants and command is not None and (again or sender not in given):
                given[sender] = command.apply
        for pushes in self._run.wrench_commands.get(now, ()):
            sender = next((name for name in (pushes.frame_id, WRENCH) if name in self._participants), ANYBODY)
            if sender in self._participants and (again or sender not in given):
                given[sender] = partial(self._push_all, pushes, now)
        if now in self._clutches:
            given[COUPLING] = partial(self.intake.couple, self._clutches[now])
        if now in self._push_answers:
            given[WRENCH] = partial(self._push, self._push_answers[now], now)
        return given

    def _act_on_arrivals(self, now: int) -> None:
        arrivals = self._run.arrivals
        while self._arrived < len(arrivals) and arrivals[self._arrived][0] <= now:
            _, topic, message = arrivals[self._arrived]
            self._arrived += 1
            command = self._read(topic, message)
            if command is not None:
                command.apply()
                self._last_command = now
        limit = self._values["command_timeout"]
        if self._last_command is not None and 0.0 < limit * SECOND < now - self._last_command:
            self._last_command = None
            self._stand_by(self._values["on_timeout"])

    def _read(self, topic: str, message: JointMessage) -> DriveCommand | None:
        table = self.intake.motors if topic == MOTORS else self.intake.joints
        command = table.read(message.names, message.position, message.velocity, message.effort)
        return None if isinstance(command, Refusal) else command

    def _stand_by(self, policy: str, entity: str = "") -> None:
        {"hold": self.intake.hold, "damp": self.intake.damp}.get(policy, self.intake.zero)(entity)

    def _push_from_outside(self, now: int) -> None:
        wrenches = self.pushes_from_outside
        while self._wrenches < len(wrenches) and wrenches[self._wrenches][0] <= now:
            self._push(wrenches[self._wrenches][1], now)
            self._wrenches += 1

    def _push(self, wrench: WrenchMessage, now: int) -> None:
        link = wrench.frame_id.removeprefix(self._values["frame_prefix"])
        try:
            self.sim.push(link, wrench.force, wrench.torque)
        except ValueError:
            return  # physics had refused it, too
        self._pushes[link] = now + PUSH_LASTS

    def _push_all(self, pushes: WrenchesMessage, now: int) -> None:
        for link, wrench in zip(pushes.links, pushes.wrenches, strict=True):
            self._push(WrenchMessage(pushes.stamp, link, wrench[:3], wrench[3:]), now)

    def _change_parameters(self, now: int) -> None:
        """Some may change while physics runs; it says so in another setup."""
        later = self._run.setups[1:]
        while self._setups < len(later) and later[self._setups].stamp <= now:
            setup = later[self._setups]
            self._setups += 1
            changes = {name: setup.parameters[name] for name in setup.changed}
            self._values = {**self._values, **changes}
            if "gravity" in changes:
                self.sim.integrator.gravity[:] = changes["gravity"]
            if "friction" in changes:
                change_friction(self.sim, friction_from(changes["friction"]))
            if "coupling" in changes:
                self._couplings.append((now, False, changes["coupling"]))

    def _reset(self, stamp: int) -> None:
        self.sim.reset(self._values["initial_state"])
        self._offset = stamp
        self._missing, self._last_command = False, None
        self._couplings = [entry for entry in self._couplings if entry[0] >= stamp]
        for link in self._pushes:
            self.sim.push(link, None)
        self._pushes.clear()
        self.intake.hold()

    def _is_answer(self, coupling: tuple[int, bool, str]) -> bool:
        return self.is_lockstep and coupling[1] and COUPLING in self._participants

    def _takes_as_answer(self, time: int, wrench: WrenchMessage) -> bool:
        """Whether a wrench that came at this time answers a state; the first of its stamp acts.

        One without a stamp answers the first state, which waits for it; after that it is from somebody outside.
        """
        if not (self.is_lockstep and WRENCH in self._participants):
            return False
        if wrench.stamp == 0 < time and 0 in self._push_answers:
            return False
        self._push_answers.setdefault(wrench.stamp, wrench)
        return True


def _qualified(name: str, namespace: str) -> str:
    """The fully qualified name of a node."""
    if name in (ANYBODY, COUPLING, WRENCH) or name.startswith("/"):
        return name
    return f"{namespace.rstrip('/')}/{name}"
