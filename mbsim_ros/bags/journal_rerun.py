# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A simulation that goes again through a recorded run by its journal, which tells what acted at every instant."""

from __future__ import annotations

from mbsim_ros.bags.formats.cdr import joint_message
from mbsim_ros.bags.journal import (
    COMMANDS,
    COUPLE,
    DELETE,
    GO,
    JOINTS,
    KEYFRAME,
    PUSH,
    SET,
    SPAWN,
    STAND_BY,
    STATE,
    Entry,
    read_journal,
    restore_keyframe,
)
from mbsim_ros.bags.recorded_run import JOINTS as JOINT_COMMANDS, MOTORS, CannotReplay, RecordedRun
from mbsim_ros.bags.rerun import Rerun
from mbsim_ros.bags.scene_rerun import SceneRerun
from mbsim_ros.integrators.errors import SimulationDiverged


class JournalRerun(Rerun):
    """As Rerun; nothing is guessed. `untold` are states of the bag of which the journal does not tell.

    A journal begins with a keyframe, wherever the recorder came in. Where messages of it are missing, the next keyframe
    is where it goes on. States after its last message, which a kill may keep from the bag, are not told.
    """

    knows_sets = True

    def __init__(self, run: RecordedRun):
        super().__init__(run)
        try:
            self._pieces = read_journal(run.journal)
        except ValueError as error:
            raise CannotReplay(f"{run.namespace}: {error}") from None
        self.first_stamp = min(run.states)
        self._set = {entry.stamp for piece in self._pieces for entry in piece if entry.kind == SET}
        self._scene = SceneRerun(self.intake, run.setups)
        self._piece: list[Entry] = []
        self._next = 0  # of the piece: the entry that comes next

    @property
    def has_begin(self) -> bool:
        """A keyframe is a beginning."""
        return True

    @property
    def notes(self) -> list[str]:
        """What the journal does not tell."""
        if not self.untold:
            return []
        return [f"{self.untold} states are from where the bag has no journal, such as before it begins: not compared"]

    def is_reset(self, before: int, stamp: int) -> bool:
        """The journal tells when the simulation was set; before it begins a long gap is a reset."""
        return super().is_reset(before, stamp) and (stamp in self._set or self.untold > 0)

    def go_to(self, stamp: int) -> bool:
        """Follow the journal to the first state that was published with this stamp."""
        found = self._follow_to(stamp)
        self.untold += not found
        return found

    def is_again_at(self, stamp: int) -> bool:
        """Whether another state was published with the same stamp; then it is here."""
        for k in range(self._next, len(self._piece)):
            entry = self._piece[k]
            if entry.stamp != stamp or entry.kind == GO:
                return False
            if entry.kind == STATE:
                while self._next <= k:
                    self._play()
                return True
        return False

    def _follow_to(self, stamp: int) -> bool:
        while True:
            while self._next < len(self._piece):
                entry = self._piece[self._next]
                if entry.stamp > stamp and entry.kind in (GO, STATE):
                    return False  # no state of this stamp was published
                self._play()
                if entry.kind in (GO, STATE) and entry.stamp == stamp:
                    return True
            if not self._pieces or self._pieces[0][0].stamp > stamp:
                return False  # nothing is known of it: commands in the bag need not have acted
            self._begin_piece()
            if self.stamp == stamp and self._piece[0].kind == KEYFRAME:
                return True  # where the simulation was set, the state of this stamp may have been published before that

    def _begin_piece(self) -> None:
        self._piece, self._next = self._pieces.pop(0), 1
        self._restore(self._piece[0])

    def _play(self) -> None:
        """What happened next."""
        entry = self._piece[self._next]
        self._next += 1
        kind, value = entry.kind, entry.value
        if kind in COMMANDS:
            command = self._read(JOINT_COMMANDS if kind == JOINTS else MOTORS, joint_message(value))
            if command is None:
                raise CannotReplay(f"{self._run.namespace}: the command at {entry.stamp} ns is none of this robot")
            command.apply()
        elif kind == COUPLE:
            self.intake.couple(value)
        elif kind == PUSH:
            self.sim.push(*value)
        elif kind == STAND_BY:
            self._stand_by(*([value] if isinstance(value, str) else value))
        elif kind == SET:
            self._restore(entry)
        elif kind in (SPAWN, DELETE):
            self._change_scene(entry)
        elif kind == GO:
            self._advance(entry.stamp)
        else:
            assert kind in (STATE, KEYFRAME)

    def _change_scene(self, entry: Entry) -> None:
        try:
            (self._scene.spawn if entry.kind == SPAWN else self._scene.delete)(entry.value)
        except ValueError as error:
            raise CannotReplay(f"{self._run.namespace}: at {entry.stamp} ns: {error}") from None
        self.read_joints()

    def _advance(self, stamp: int) -> None:
        try:
            self.sim.advance(self._steps)
        except SimulationDiverged as error:
            raise CannotReplay(f"the replay of {self._run.namespace} does not get to {stamp} ns: {error}") from None
        if self.stamp != stamp:
            raise CannotReplay(f"{self._run.namespace}: the state stamped {stamp} ns is at none of the control periods")

    def _restore(self, entry: Entry) -> None:
        try:
            if isinstance(entry.value, dict) and entry.value.get("entities"):
                self._scene.change_to(entry.value["entities"])
                self.read_joints()
            restore_keyframe(self.intake, entry.value)
        except ValueError as error:
            raise CannotReplay(f"{self._run.namespace}: at {entry.stamp} ns: {error}") from None
        self._offset = entry.stamp - self.sim.time


def rerun_of(run: RecordedRun) -> Rerun:
    """The run by its journal, or where it has none by its commands."""
    return JournalRerun(run) if run.setups[0].has_journal or run.journal else Rerun(run)
