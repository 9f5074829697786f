# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Who has answered to the state of this instant, and whom physics still waits for. No ROS, no clock: pure bookkeeping.

An answer is a command that carries the stamp of the state it answers. Participants are told apart by the name they
give; with the one participant "" anybody's answer is the answer. Commands act when all have answered, in the order of
the participants, so that it does not matter whose message came first.

Who has only ever given empty answers, such as a recorder, is an observer: without it everything goes on as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

ANYBODY = ""
# Why a command is no answer, in words that refusals are counted by.
DUPLICATE, STALE, FUTURE, NOT_A_PARTICIPANT = "duplicate", "stale stamp", "stamp from the future", "not a participant"
COUPLING = "coupling"  # the answer on the topic coupling_command, which names no sender
WRENCH = "wrench"  # the answer on the topic wrench, whose frame_id is that of a link


class Phase(Enum):
    """What lockstep does about a state that has been published."""

    ANSWERING = "time goes on when all have answered it"
    STANDING_BY = "time goes on by itself until those who are missing are back"


class Answers:
    """The answers to one stamp after the other.

    ANSWERING becomes STANDING_BY by `stand_by`, when somebody is missing, and ANSWERING again by `resume`, when all
    have answered a state of the time since then, or at a reset.
    """

    def __init__(self, participants: Iterable[str], namespace: str):
        """participants: names of nodes, fully qualified or relative to the namespace; none: anybody."""
        self.participants = tuple(qualified(name, namespace) for name in participants) or (ANYBODY,)
        self.stamp = -1
        self.phase = Phase.ANSWERING
        self.returned: set[str] = set()  # who has answered since it stands by
        self._stands_by_since = 0  # stamp [ns]
        self.absent: set[str] = set()  # observers who are not waited for
        self.answered: dict[str, int] = {}  # the last stamp that each has answered [ns]
        self._commanders = {ANYBODY, COUPLING, WRENCH}
        self._given: dict[str, Callable[[], None]] = {}
        self._before: tuple[int, frozenset[str]] = -1, frozenset()  # the stamp before, and who answered it

    def change(self, participants: Iterable[str]) -> None:
        """From now on these are waited for, names fully qualified; what they have answered already counts."""
        self.participants = tuple(participants) or (ANYBODY,)
        self._given = {name: command for name, command in self._given.items() if name in self.participants}
        self.absent &= set(self.participants)
        self.answered = {name: stamp for name, stamp in self.answered.items() if name in self.participants}

    def ask(self, stamp: int) -> None:
        """A state with this stamp [ns] has been published: nobody has answered yet."""
        self._before = self.stamp, frozenset(self._given)
        self.stamp = stamp
        self._given = {}

    @property
    def is_standing_by(self) -> bool:
        """Whether time goes on without answers."""
        return self.phase is Phase.STANDING_BY

    def stand_by(self, stamp: int) -> None:
        """Do without answers from this stamp [ns] on."""
        self.phase, self.returned, self._stands_by_since = Phase.STANDING_BY, set(), stamp

    def resume(self) -> None:
        """Wait for answers again."""
        self.phase = Phase.ANSWERING

    def note_return(self, sender: str, stamp: int) -> bool:
        """While it stands by: somebody has answered; whether that is a state [ns] of the time since then."""
        if not self._stands_by_since <= stamp:
            return False
        self.returned.add(sender if sender in self.participants else ANYBODY)
        return True

    @property
    def all_are_back(self) -> bool:
        """While it stands by: whether all who command have answered again."""
        needed = [name for name in self.participants if name != ANYBODY and not self.is_observer(name)]
        return bool(self.returned) and all(name in self.returned for name in needed)

    def refusal(self, stamp: int, sender: str) -> str:
        """Why a command with this stamp by this sender is no answer, or ""."""
        name = self._participant(sender)
        if stamp < self.stamp:  # who is asked twice answers twice, and the second answer may come after the next state
            return DUPLICATE if stamp == self._before[0] and name in self._before[1] else STALE
        if stamp > self.stamp:
            return FUTURE
        if name is None:
            return NOT_A_PARTICIPANT
        return DUPLICATE if name in self._given else ""

    def give(self, sender: str, command: Callable[[], None], is_empty: bool = False) -> None:
        """Note the answer of a sender that `refusal` has nothing against."""
        name = self._participant(sender)
        if name is not None:
            self._given[name] = command
            self.answered[name] = self.stamp
            if not is_empty:
                self._commanders.add(name)

    def hear(self, sender: str, stamp: int) -> None:
        """Note that a participant who is known has answered this stamp [ns], whether the answer still counts or not."""
        if sender in self.answered:
            self.answered[sender] = max(self.answered[sender], min(stamp, self.stamp))

    def late_observers(self) -> list[str]:
        """Observers who have not answered the present state yet, waited for or not."""
        return [name for name, last in self.answered.items() if last < self.stamp and self.is_observer(name)]

    def is_observer(self, name: str) -> bool:
        """Whether a participant has been there and has never commanded anything."""
        return name in self.answered and name not in self._commanders

    def leave(self, names: Iterable[str]) -> None:
        """Do not wait for these until they answer again."""
        self.absent.update(names)

    def take(self) -> list[Callable[[], None]]:
        """All answers, in the order of the participants."""
        return [self._given[name] for name in self.participants if name in self._given]

    @property
    def complete(self) -> bool:
        """Whether all who are waited for have answered."""
        return len(self._given) == len(self.participants) or not self.awaited

    @property
    def awaited(self) -> tuple[str, ...]:
        """Who has not answered and is waited for, in the order of the participants."""
        return tuple(name for name in self.participants if name not in self._given and name not in self.absent)

    @property
    def missing(self) -> tuple[str, ...]:
        """Who has not, in the order of the participants, with words for anybody."""
        return tuple(name or "any controller" for name in self.awaited)

    def _participant(self, sender: str) -> str | None:
        if sender in self.participants:
            return sender
        return ANYBODY if ANYBODY in self.participants else None


def qualified(name: str, namespace: str) -> str:
    """The fully qualified name of a node."""
    if name in (ANYBODY, COUPLING, WRENCH) or name.startswith("/"):
        return name
    return f"{namespace.rstrip('/')}/{name}"
