"""When the physics node may take the next control period: answers, pause, wall clock, the owner of /clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rosgraph_msgs.msg import Clock

from mbsim_ros.nodes.fast_loop import FastLoop
from mbsim_ros.nodes.lockstep import ANYBODY, Answers
from mbsim_ros.nodes.pacing import Pace
from mbsim_ros.nodes.physics_parameters import WAIT
from mbsim_ros.nodes.stamps import SECOND, nanoseconds

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics import Physics

REMIND = 1.0  # s of wall time after which a state that is not answered is published again
LOOK = 0.2  # s between looks at what no message announces
JOINS_LATE = 10 * SECOND  # ns that a clock may be ahead for a robot that joins it to catch up with it
RESET_JUMP = SECOND  # ns that a reset moves the clock on, for controllers to see it


class Gate:
    """Waits for messages and says whether time may go on. `physics` is asked for the present, and told to publish."""

    def __init__(self, physics: Physics, loop: FastLoop, answers: Answers | None, pace: Pace):
        self._physics, self._loop, self._answers, self._pace = physics, loop, answers, pace
        self._inputs, self._values = physics.inputs, physics.values
        self._asked_at = self._published_at = time.monotonic()
        self._clock_now: int | None = None
        self.trouble = ""

    def asked(self) -> None:
        """A new state has been published."""
        if self._answers is not None:
            self._answers.ask(self._physics.stamp)
        self._asked_at = self._published_at = time.monotonic()

    def may_go_on(self) -> bool:
        """Wait for messages a while; whether the next period may be taken now."""
        physics, inputs = self._physics, self._inputs
        stepping = physics.paused and physics.has_wanted_steps
        on_hold = not (inputs.has_command or self._values["start"] == "run")
        if (physics.paused or on_hold) and not stepping:
            self._loop.wait(LOOK)
            self._remind()
            self._pace.restart(physics.stamp)
            return False
        if self._answers is not None and not self._answers.complete and inputs.missing_since is None:
            self._wait_for_answers(self._answers)
            return False
        if self._answers is not None and inputs.missing_since is not None and self._is_back(self._answers):
            return False
        return stepping or self._is_due()

    def _wait_for_answers(self, answers: Answers) -> None:
        left = self._asked_at + self._values["lockstep_timeout"] - time.monotonic()
        if left > 0.0:
            self._loop.wait(min(left, LOOK))
            self._remind()
            return
        missing, policy, log = ", ".join(answers.missing), self._values["on_missing"], self._physics.get_logger()
        self._asked_at = time.monotonic()
        if policy == WAIT or self._physics.stamp == 0:  # nobody is missing who has not been there yet
            log.warning(f"no answer from {missing}: waiting")
            return
        log.warning(f"no answer from {missing}: {policy} until it is back")
        self.trouble = f"no answer from {missing}"
        self._inputs.missing_since, self._inputs.returned = self._physics.stamp, set()
        answers.ask(self._physics.stamp)  # what some have answered does not act without the others
        self._physics.stand_by(policy)
        self._pace.restart(self._physics.stamp)

    def _remind(self) -> None:
        """Publish the same state again after a while, for whom it did not reach, or whose answer was lost."""
        if time.monotonic() - self._published_at > REMIND:
            self._published_at = time.monotonic()
            self._physics.publish_again()

    def _is_back(self, answers: Answers) -> bool:
        """Whether all who were missing have answered again; then lockstep goes on with the next state."""
        back = self._inputs.returned
        if not back or not all(name in back or name == ANYBODY for name in answers.participants):
            return False
        self._physics.get_logger().info("all participants are back")
        self._inputs.missing_since, self.trouble = None, ""
        self._physics.publish()
        return True

    def _is_due(self) -> bool:
        """Whether the wall clock, or the owner of /clock, lets the next period begin."""
        next_stamp = self._physics.stamp + self._physics.period
        if self._values["clock"] == "follow":
            if self._clock_now is None or self._clock_now < next_stamp:
                self._loop.wait(LOOK)
                return False
            return True
        # without its controllers a robot does not run ahead of the time in which they come back
        factor = self._pace.factor
        if self._inputs.missing_since is not None and factor == 0.0:
            factor = 1.0
        left = self._pace.wait(next_stamp, factor)
        if left > 0.0:
            self._loop.wait(min(left, LOOK))
            return False
        if self._answers is None or self._inputs.missing_since is not None:
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
