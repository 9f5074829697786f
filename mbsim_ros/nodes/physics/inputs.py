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
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mbsim_ros.bags.journal import COUPLE, JOINTS, PUSH
from mbsim_ros.coupling.of_entities import UNCOUPLED, parts_of, with_part
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text
from mbsim_ros.nodes.physics.command_topics import CommandTopics
from mbsim_ros.nodes.physics.lockstep import DUPLICATE, STALE, Answers
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.raw_reader import Reading
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.sim.drives.drive_table import PARTS, DriveCommand, Refusal

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

PUSH_LASTS = 100_000_000  # ns of simulated time, unless replaced
MOST_COUPLINGS = 100  # that wait for their stamps


class Inputs:
    """What is to be done at the next instant about commands, of the scene and of its entities."""

    def __init__(self, physics: Physics, answers: Answers | None, frame_prefix: str):
        """answers: of the participants in lockstep, None where commands act as they come."""
        self._node, self._answers, self._prefix = physics, answers, frame_prefix
        self._intake, self._note = physics.intake, physics.journal.note
        self.now = 0  # stamp of the present state [ns]
        self.rejoined: list[str] = []  # observers who were absent and have answered again
        self.refused: Counter[str] = Counter()
        self._couplings: list[tuple[int, str, str]] = []  # stamp, name, entity or ""
        self._pushes: dict[str, int] = {}  # link → stamp of its end
        self._has_told = False  # whether it has been said that pushes are no answers
        self._topics: dict[str, CommandTopics] = {"": CommandTopics(self, physics, frame_prefix)}

    @property
    def handlers(self) -> list[Handler]:
        """Of all topics: those of the scene, then those of its entities."""
        return [handler for topics in self._topics.values() for handler in topics.handlers]

    @property
    def has_command(self) -> bool:
        """Whether anybody drives anything."""
        return any(topics.has_command for topics in self._topics.values())

    def add_entity(self, name: str, scope: TopicScope, space: str) -> None:
        """Listen to commands of an entity, in its own names; space: its namespace, fully qualified."""
        self._topics[name] = CommandTopics(self, scope, self._prefix, name, space)

    def remove_entity(self, name: str) -> None:
        """Forget an entity that is there no longer, and what waits for it."""
        self._topics.pop(name, None)
        self._couplings = [entry for entry in self._couplings if name not in (entry[2], entry[1].partition("/")[0])]
        self._pushes = {link: end for link, end in self._pushes.items() if not link.startswith(f"{name}/")}

    def begin_instant(self, now: int) -> None:
        """Act on what is due at this stamp: answers, couplings, the end of pushes."""
        self.now = now
        if self._answers is not None:
            for command in self._answers.take():
                command()
        due = [(name, entity) for stamp, name, entity in self._couplings if stamp <= now]
        self._couplings = [entry for entry in self._couplings if entry[0] > now]
        for name, entity in due:
            self._couple(name, entity)
        for link in [link for link, end in self._pushes.items() if end <= now]:
            self._intake.sim.push(link, None)
            self._note(PUSH, [link])
            del self._pushes[link]

    def overdue(self, now: int, limit: int) -> list[str]:
        """Entities whose last command is older than this [ns], once each; "" is the whole scene."""
        late = [each for each in self._topics.values() if each.has_command and now - each.last_command > limit]
        for topics in late:
            topics.has_command = False
        names = [topics.entity for topics in late]
        if "" in names and self.has_command:  # some entities are driven by their own commands: all of the others
            names = [each for each in self._intake.sim.entities or () if not self._is_driven(each)]
        return [""] if "" in names else names

    def clear(self) -> None:
        """Forget what is waiting: the simulation starts again."""
        self._couplings.clear()
        for link in self._pushes:
            self._intake.sim.push(link, None)
        self._pushes.clear()
        for topics in self._topics.values():
            topics.has_command = False

    def ask_for_coupling(self, name: str) -> None:
        """Engage a coupling that is known at the next instant, as a coupling_command without a stamp does."""
        sim = self._intake.sim
        self._put_aside(0, sim.couplings[name].name if is_coupling_text(name) else name, "")

    def refuse(self, cause: str, detail: str) -> None:
        """Count a refusal; the first of a cause is logged."""
        self.refused[cause] += 1
        if self.refused[cause] == 1 and cause != DUPLICATE:  # who is not sure to have been heard answers twice
            self._node.get_logger().warning(
                f"refused a command ({cause}): {detail}; further ones are counted in /diagnostics"
            )

    def command(
        self, topics: CommandTopics, kind: str, given: Reading, names: Sequence[str], data: Callable[[], bytes]
    ) -> None:
        """A command of joints or motors by the names that the scene has; data: as bytes for the journal."""
        stamp, sender, answers = given.stamp, given.message.header.frame_id, self._answers
        if answers is not None:
            answers.hear(sender, stamp)
            if sender in answers.absent and 0 <= stamp <= self.now:
                answers.absent.discard(sender)
                self.rejoined.append(sender)
            cause = "" if answers.is_standing_by else answers.refusal(stamp, sender)
            if cause:
                if cause == STALE and answers.is_observer(sender):
                    cause = DUPLICATE  # a recorder that catches up
                self.refuse(cause, f"{sender or 'somebody'} at {stamp} ns, the state is of {self.now} ns")
                return
        table = self._intake.joints if kind == JOINTS else self._intake.motors
        command = table.read(names, *map(given.numbers, PARTS))
        if isinstance(command, Refusal):
            self.refuse(command.cause, f"{command.reason} (from {sender or 'somebody'})")
            return
        apply = partial(self._apply, kind, given, names, data, command)
        if answers is None:
            apply()
            topics.last_command = self.now
        elif not answers.is_standing_by:
            answers.give(sender, apply, is_empty=not names)
        elif stamp > self.now or not answers.note_return(sender, stamp):
            self.refuse(STALE, f"{sender or 'somebody'} at {stamp} ns")
            return
        sim = self._intake.sim
        # Who only answers, such as a recorder, does not start a robot that somebody is going to command.
        if names or not (sim.tau_names or sim.motor_names):
            topics.has_command = True

    def _apply(
        self, kind: str, given: Reading, names: Sequence[str], data: Callable[[], bytes], command: DriveCommand
    ) -> None:
        """Drive with a command from now on; it is read again if another coupling, or other gains, came before it."""
        table = self._intake.joints if kind == JOINTS else self._intake.motors
        if not table.is_current(command):
            again = table.read(names, *map(given.numbers, PARTS))
            if isinstance(again, Refusal):
                self.refuse(again.cause, f"{again.reason} (from {given.message.header.frame_id or 'somebody'})")
                return
            command = again
        command.apply()
        if not command.is_empty:
            self._note(kind, data)

    def coupling(self, topics: CommandTopics, name: str, stamp: int | None) -> None:
        """A coupling is asked for, to be engaged at a stamp [ns] or at once.

        name: of its entity's own couplings; on the topics of the scene, or of a robot that is alone, also the text of
        a coupling that the sidecar does not have.
        """
        sim, answers = self._intake.sim, self._answers
        if is_coupling_text(name):
            if topics.entity:
                self.refuse("bad coupling", f"a coupling as text is for coupling_command of the scene: {name[:80]!r}")
                return
            try:
                name = sim.couplings[name].name  # the same text for all who write it otherwise
            except KeyError as error:
                self.refuse("bad coupling", str(error.args[0]))
                return
        own = {each.removeprefix(topics.prefix) for each in sim.couplings if each.startswith(topics.prefix)}
        known = own | {self._coupling_of(topics.entity)}
        if name not in known and not is_coupling_text(name):
            there = ", ".join(sorted(known - {""})) or "none"
            self.refuse("unknown coupling", f"{name!r}; there are: {there}")
            return
        participant = topics.coupling_participant
        if answers is not None and participant in answers.participants and stamp is not None:
            cause = "" if answers.is_standing_by else answers.refusal(stamp, participant)
            if cause:
                self.refuse(cause, f"coupling '{name}@{stamp}', the state is of {self.now} ns")
            elif answers.is_standing_by:
                answers.returned.add(participant)
            else:
                answers.give(participant, lambda: self._couple(name, topics.entity))
        else:
            self._put_aside(stamp or 0, name, topics.entity)
        topics.has_command = True

    def wrench(
        self, topics: CommandTopics, link: str, force: tuple[float, ...], torque: tuple[float, ...], stamp: int
    ) -> None:
        """A push of a link of the scene."""
        if not all(map(math.isfinite, (*force, *torque))):
            self.refuse("not finite", f"wrench on '{link}'")
            return
        answers, participant = self._answers, topics.wrench_participant
        if answers is None or participant not in answers.participants or stamp == 0 < answers.stamp:
            self._push(link, force, torque)  # of somebody who does not answer
            self._tell_of_answer(answers, participant, stamp)
            return
        cause = "" if answers.is_standing_by else answers.refusal(stamp, participant)
        if cause:
            self.refuse(cause, f"wrench on '{link}' at {stamp} ns, the state is of {self.now} ns")
        elif answers.is_standing_by:
            answers.returned.add(participant)
        else:
            answers.give(participant, lambda: self._push(link, force, torque))
        topics.has_command = True

    def wrench_command(
        self, topics: CommandTopics, pushes: dict[str, tuple[tuple[float, ...], tuple[float, ...]]], sender: str,
        stamp: int,
    ) -> None:  # fmt: skip
        """Wrenches on links of the scene, all of one answer: what a controller of bodies commands."""
        answers = self._answers
        if answers is not None:
            answers.hear(sender, stamp)
            # Where the answers on `wrench` are waited for, these are as good.
            if sender not in answers.participants and topics.wrench_participant in answers.participants:
                sender = topics.wrench_participant
            cause = "" if answers.is_standing_by else answers.refusal(stamp, sender)
            if cause:
                self.refuse(cause, f"{sender or 'somebody'} at {stamp} ns, the state is of {self.now} ns")
                return
        frames = self._intake.sim.model.frames
        strange = [link for link in pushes if link not in frames or frames[link].body < 0]
        if strange:
            self.refuse("bad wrench", f"no link that moves is named '{strange[0]}' (from {sender or 'somebody'})")
            return
        if not all(math.isfinite(number) for push in pushes.values() for part in push for number in part):
            self.refuse("not finite", f"wrenches on {', '.join(pushes)} (from {sender or 'somebody'})")
            return
        if answers is None:
            self._push_all(pushes)
            topics.last_command = self.now
        elif not answers.is_standing_by:
            answers.give(sender, partial(self._push_all, pushes), is_empty=not pushes)
        elif stamp > self.now or not answers.note_return(sender, stamp):
            self.refuse(STALE, f"{sender or 'somebody'} at {stamp} ns")
            return
        if pushes:
            topics.has_command = True

    def _push_all(self, pushes: dict[str, tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
        for link, (force, torque) in pushes.items():
            self._push(link, force, torque)

    def _tell_of_answer(self, answers: Answers | None, participant: str, stamp: int) -> None:
        """Say once that a push does not let time go on, where it looks as if it was meant to."""
        if answers is None or answers.complete or answers.is_standing_by or stamp != answers.stamp or self._has_told:
            return
        self._has_told = True
        self._node.get_logger().warning(
            f"a push on 'wrench' is no answer to the state at {stamp} ns: physics waits for "
            f"{', '.join(answers.missing)}. A controller of bodies answers on 'wrench_commands', or by 'wrench' with "
            f"lockstep_participants: [{participant}]"
        )

    def _is_driven(self, entity: str) -> bool:
        topics = self._topics.get(entity)
        return topics is not None and topics.has_command

    def _coupling_of(self, entity: str) -> str:
        """The coupling in force, or an entity's part of it in its own words."""
        sim = self._intake.sim
        if not entity:
            return sim.coupling.name
        return parts_of(sim.coupling.name, sim.couplings).get(entity, UNCOUPLED).removeprefix(f"{entity}/")

    def _put_aside(self, stamp: int, name: str, entity: str) -> None:
        """Engage a coupling at the first instant at or after a stamp [ns]."""
        if len(self._couplings) >= MOST_COUPLINGS:
            self.refuse("too many couplings", f"{name!r}: {len(self._couplings)} wait for their stamps already")
        else:
            self._couplings.append((stamp, name, entity))

    def _couple(self, name: str, entity: str) -> None:
        sim = self._intake.sim
        if name == self._coupling_of(entity):
            return
        whole = with_part(sim.coupling.name, entity, f"{entity}/{name}", sim.couplings) if entity else name
        reason = self._intake.couple(whole)
        if reason:
            self.refuse("coupling not possible", reason)
        else:
            self._note(COUPLE, whole)

    def _push(self, link: str, force: tuple[float, ...], torque: tuple[float, ...]) -> None:
        try:
            self._intake.sim.push(link, force, torque)
        except ValueError as error:
            self.refuse("bad wrench", str(error))
            return
        self._pushes[link] = self.now + PUSH_LASTS
        self._note(PUSH, [link, list(force), list(torque)])
