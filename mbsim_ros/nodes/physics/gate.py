# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""When the physics node may take the next control period: answers, pause, wall clock, the owner of /clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rosgraph_msgs.msg import Clock

from mbsim_ros.nodes.composition.host import CompositionHost
from mbsim_ros.nodes.physics.lockstep import ANYBODY, Answers
from mbsim_ros.nodes.physics.pacing import Pace
from mbsim_ros.nodes.physics.parameters import WAIT
from mbsim_ros.nodes.stamps import SECOND, nanoseconds
from mbsim_ros.nodes.transport.fast_loop import FastLoop
from mbsim_ros.nodes.waiting import Waiting

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

REMIND = 1.0  # s of wall time after which a state that is not answered is published again
LOOK = 0.2  # s between looks at what no message announces
NAMED_AFTER = 1.0  # s of waiting after which it is said who is waited for
ASLEEP = 0.5  # s: a wait that took so much longer than it should: it was this process that did not run
LAST_WAIT = 5.0  # s of wall time at the end of a run for everybody to answer the last state
RETURNS_WITHIN = (
    5.0  # s of wall time in which an observer that is missing should find no more than it can catch up with
)
JOINS_LATE = 10 * SECOND  # ns that a clock may be ahead for a robot that joins it to catch up with it
RESET_JUMP = SECOND  # ns that a reset moves the clock on, for controllers to see it


class Gate:
    """Waits for messages and says whether time may go on. `physics` is asked for the present, and told to publish."""

    def __init__(self, physics: Physics, loop: FastLoop | CompositionHost, answers: Answers | None, pace: Pace):
        self._physics, self._loop, self._answers, self._pace = physics, loop, answers, pace
        self._inputs, self._values = physics.inputs, physics.values
        self._published_at = time.monotonic()
        self._waited = 0.0  # s that answers to this state have been waited for, asleep or not
        self._is_named = False  # whether it has been said who is waited for
        self._is_warned = False  # whether it has been said that answers to this state are late
        self._waiting = Waiting(physics)
        self._there: set[str] = set()  # participants that were seen as nodes
        self._slow_until = 0.0  # s of wall time until which an observer may come back
        self._clock_now: int | None = None
        self.trouble = ""

    def asked(self) -> None:
        """A new state has been published."""
        if self._answers is not None:
            if not self._there and self._physics.stamp > 0:  # all have answered: now they can be seen
                self._participants_present(self._answers)
            self._answers.ask(self._physics.stamp)
        self._published_at = time.monotonic()
        self._waited, self._is_named, self._is_warned = 0.0, False, False
        self._waiting.look("")

    def may_go_on(self) -> bool:
        """Wait for messages a while; whether the next period may be taken now."""
        physics, inputs = self._physics, self._inputs
        stepping = physics.paused and physics.has_wanted_steps
        on_hold = not (inputs.has_command or self._values["start"] == "run")
        if (physics.paused or on_hold) and not stepping:
            if on_hold and not physics.paused:
                refused = f"; refused so far: {', '.join(inputs.refused)}" if inputs.refused else ""
                topics = " or ".join(map(physics.resolve_topic_name, ("joint_commands", "wrench_commands")))
                self._waiting.look(f"a command on {topics}{refused}")
            self._loop.wait(LOOK)
            self._remind()
            self._pace.restart(physics.stamp)
            return False
        if inputs.rejoined:
            self._welcome(inputs.rejoined)
        if self._answers is not None and not self._answers.is_standing_by and not self._answers.complete:
            self._wait_for_answers(self._answers)
            return False
        if self._answers is not None and self._answers.is_standing_by and self._answers.all_are_back:
            self._resume(self._answers)
            return False
        return stepping or self._is_due()

    def wait_for_the_last(self) -> None:
        """The run is over: wait a while until everybody has answered the last state, and so has it.

        Who only looks on is waited for also while the robot holds because others are missing.
        """
        answers, end = self._answers, time.monotonic() + LAST_WAIT
        while answers is not None and time.monotonic() < end:
            is_answered = answers.is_standing_by or answers.complete
            late = answers.late_observers()
            if is_answered and not (late and self._participants_present(answers) & set(late)):
                return
            self._loop.wait(LOOK)

    def _wait_for_answers(self, answers: Answers) -> None:
        left = self._values["lockstep_timeout"] - self._waited
        if left > 0.0:
            self._wait(min(left, LOOK))
            self._remind()
            if self._physics.stamp == 0 and not answers.complete:
                self._waiting.look(", ".join(answers.missing), log=False)
            if not answers.complete and self._waited >= NAMED_AFTER:
                self._name(answers)
            return
        observers = [name for name in answers.awaited if answers.is_observer(name)]
        if len(observers) == len(answers.awaited) and self._values["on_missing"] != WAIT:
            self._go_on_without(answers, observers, "no answer from")
            return
        self._waited = 0.0
        missing, policy, log = ", ".join(answers.missing), self._values["on_missing"], self._physics.get_logger()
        if policy == WAIT or self._physics.stamp == 0:  # nobody is missing who has not been there yet
            if not (self._is_warned or self._waiting.is_shown):
                self._is_warned = True
                log.warning(f"no answer from {missing}: waiting")
            return
        log.warning(f"no answer from {missing}: {policy} until it is back")
        self.trouble = f"no answer from {missing}"
        answers.stand_by(self._physics.stamp)
        self._physics.events.tell("missing", answers.missing)
        self._physics.stand_by(policy, answers.missing)
        answers.ask(self._physics.stamp)  # what some have answered does not act without the others
        self._pace.restart(self._physics.stamp)

    def _wait(self, seconds: float) -> None:
        """Take messages. If this process itself was stopped meanwhile, the others have all of their time again."""
        begin = time.monotonic()
        self._loop.wait(seconds)
        took = time.monotonic() - begin
        self._waited = 0.0 if took > seconds + ASLEEP else self._waited + took

    def _name(self, answers: Answers) -> None:
        """Say who is waited for; an observer that has left is not waited for any longer."""
        present = self._participants_present(answers)
        gone = [name for name in answers.awaited if name in self._there and name not in present]
        observers = [name for name in gone if answers.is_observer(name)]
        if observers:
            self._go_on_without(answers, observers, "gone:")
            return
        if self._is_named or self._physics.stamp == 0:  # who has not been there yet is still starting
            return
        self._is_named = True
        words = [f"{name or 'any controller'} ({_last_word(answers, name, name in gone)})" for name in answers.awaited]
        self._physics.get_logger().warning(f"waiting for {', '.join(words)}")
        self._physics.events.tell("waiting", answers.missing)

    def _go_on_without(self, answers: Answers, observers: list[str], why: str) -> None:
        """Who only looks on does not take the robot away from those who drive it."""
        names = ", ".join(observers)
        self._physics.get_logger().warning(f"{why} {names}: going on without it until it is back")
        self._physics.events.tell("missing", observers)
        answers.leave(observers)
        self._slow_until = time.monotonic() + RETURNS_WITHIN
        self._pace.restart(self._physics.stamp)

    def _welcome(self, observers: list[str]) -> None:
        """Observers answer again."""
        self._physics.get_logger().info(f"{', '.join(observers)} is back")
        self._physics.events.tell("back", observers)
        self._physics.journal.want_keyframe()
        observers.clear()

    def _participants_present(self, answers: Answers) -> set[str]:
        """Who of them is a node that can be seen now."""
        found = {f"{space.rstrip('/')}/{name}" for name, space in self._physics.get_node_names_and_namespaces()}
        present = found & set(answers.participants)
        self._there |= present or {ANYBODY}  # looked at once, even if nobody of them is a node
        return present

    def _remind(self) -> None:
        """Publish the same state again after a while, for whom it did not reach, or whose answer was lost."""
        if time.monotonic() - self._published_at > REMIND:
            self._published_at = time.monotonic()
            self._physics.publish_again()

    def _resume(self, answers: Answers) -> None:
        """All who were missing have answered again: lockstep goes on with the state of now."""
        self._physics.get_logger().info("all participants are back")
        answers.resume()
        self.trouble = ""
        self._physics.events.tell("back", sorted(answers.returned))
        self.asked()
        self._physics.publish_again()

    def _is_due(self) -> bool:
        """Whether the wall clock, or the owner of /clock, lets the next period begin."""
        next_stamp = self._physics.stamp + self._physics.period
        if self._values["clock"] == "follow":
            if self._clock_now is None or self._clock_now < next_stamp:
                self._loop.wait(LOOK)
                return False
            return True
        # without its controllers, or a recorder, a robot does not run ahead of the time in which they come back
        factor = self._pace.factor
        answers = self._answers
        slowly = answers is not None and (
            answers.is_standing_by or (bool(answers.absent) and time.monotonic() < self._slow_until)
        )
        if slowly and factor == 0.0:
            factor = 1.0
        left = self._pace.wait(next_stamp, factor)
        if left > 0.0:
            self._loop.wait(min(left, LOOK))
            return False
        if answers is None or answers.is_standing_by:
            self._loop.wait(0.0)
            is_same = self._physics.stamp + self._physics.period == next_stamp
            return is_same and not self._physics.paused  # a service may have paused or reset it
        return True

    def on_clock(self, message: Clock) -> None:
        """The owner's time. Who joins a clock that has run for long begins there, and only then are stamps left out.

        A jump later on, by a reset of the owner or because messages of a fast clock were lost, is caught up with step
        by step: what this robot does depends on its own commands alone.
        """
        now, physics = nanoseconds(message.clock), self._physics
        if self._clock_now is None and now - physics.stamp >= JOINS_LATE:
            physics.jump(now)
        self._clock_now = now


def _last_word(answers: Answers, name: str, is_gone: bool) -> str:
    """When a participant answered last, and whether it is there at all."""
    last = answers.answered.get(name)
    when = "it has never answered" if last is None else f"its last answer was to the state at {last / SECOND:.9g} s"
    return f"{when}; its node is gone" if is_gone else when
