# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker's gait: from a velocity that is asked for to targets of its motors.

The two frames step in turn. A step takes its length and turn from the velocity that is asked for as it begins; a change
in mid-stride bends the step under way if that needs no turning back and no slipping, and acts with the next step
otherwise. Everything goes along quintics, so targets have continuous positions and speeds whatever is asked for when.
Walking ends with a step of length zero, after which all feet stand under their hips. On rough ground a step ends with
a landing (see landing.py), in which the gait's time stands still.

Units: SI. A velocity is forward [m/s] and turn [rad/s, left]; `rise` stands up (> 0) or sits down (< 0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mbsim_ros.control.balance.touch_down import TouchDown
from mbsim_ros.control.command import MOTORS as OF_MOTORS, Command, Targets
from mbsim_ros.control.feet import foot_forces
from mbsim_ros.control.joints.quintic import Quintic
from mbsim_ros.control.parameters import ValidatedParameters
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait_kernel import NOBODY, targets_into
from mbsim_ros.control.walker.geometry import walker_geometry
from mbsim_ros.control.walker.landing import BrakedCouplings, Landing, tilt
from mbsim_ros.control.walker.motors import Transmission
from mbsim_ros.control.walker.parameters import WalkerGaitParameters
from mbsim_ros.control.walker.reachable import reachable
from mbsim_ros.control.walker.sag import sag
from mbsim_ros.control.walker.step import WalkerStep, motions_of, plan_step, wanted_shape
from mbsim_ros.model.model import Model

GAP = 0.5  # s between two states that mean a reset
NEEDED_FEET = 3  # of a frame, to carry the robot


class WalkerGait:
    """Gait generator and motor targets; a controller of the five motors that plans ahead (see control/controller.py).

    On rough ground it decides about the coupling as well; elsewhere it leaves that to others and feels no ground.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = WalkerGaitParameters
    commands: ClassVar[tuple[str, ...]] = (OF_MOTORS,)
    control_period = 0.004  # [s], as in walker.launch.xml

    def __init__(self, model: Model, parameters: WalkerGaitParameters | None = None):
        self.geometry = walker_geometry(model)
        self._transmission = Transmission(model, self.geometry)
        self.couplings = self._transmission.couplings  # by name
        self._braked = BrakedCouplings(self.geometry, self.couplings)
        self._sag = sag(model, self.geometry)
        self.configure(parameters or WalkerGaitParameters())
        self._legs_of_feet = {leg.foot: leg.name for leg in self.geometry.legs}
        self.feet = self.geometry.feet  # links whose forces it has to know on rough ground
        self.touch_down = TouchDown(tuple(self._legs_of_feet.values()))
        self._wanted = (0.0, 0.0)
        self._rise = 0.0
        self._last_t: float | None = None
        self.reset()

    def configure(self, parameters: WalkerGaitParameters) -> None:
        """Go on with other parameters, from the next step on; ValueError says what these legs cannot do."""
        if parameters.rough and self._braked.missing():
            legs = ", ".join(self._braked.missing()[0])
            raise ValueError(
                f"rough: the sidecar has no coupling that brakes the femurs of {legs} alone, and "
                f"{len(self._braked.missing()) - 1} more: see `for_some` in docs/couplings.md"
            )
        self.parameters = reachable(self.geometry, parameters, max(self._sag.values()))

    def reset(self) -> None:
        """Forget the past: the next state is the first."""
        self._last_t = None
        self._time = 0.0  # of the gait; it stands still while brakes hold what it would move
        self._rate = 1.0  # of that time
        self.step: WalkerStep | None = None
        self.landing: Landing | None = None  # of the step under way, on rough ground
        self._next_stance = self.geometry.names[0]
        self._reach = dict.fromkeys(self.geometry.names, 0.0)
        self._waist = 0.0
        self._depth = Quintic.rest(self.parameters.depth)
        self._ground = dict.fromkeys(
            self.geometry.names, Quintic.rest(0.0)
        )  # how much deeper the feet of a frame stand [m]
        self._settling = [Quintic.rest(0.0) for _ in self.geometry.motors]
        self._settled = 0.0
        self._packed: np.ndarray | None = None  # the motions below, until one of them is another
        self._late = 0.0
        self.has_forces = False

    def ask(self, forward: float = 0.0, turn: float = 0.0, rise: float = 0.0) -> None:
        """Ask for a velocity from now on: forward [m/s], turn [rad/s]; rise > 0 stands up, < 0 sits down.

        A walker that sits stands up before it walks, one that walks stops before it sits.
        """
        if not all(map(math.isfinite, (forward, turn, rise))):
            raise ValueError(f"velocity: expected finite numbers, got {forward}, {turn}, {rise}")
        small = self.parameters.smallest_speed
        wanted = (forward if abs(forward) > small else 0.0, turn if abs(turn) > small else 0.0)
        if rise < 0.0:
            wanted = (0.0, 0.0)
        changed, self._wanted = wanted != self._wanted, wanted
        self._rise = math.copysign(1.0, rise) if rise else (1.0 if any(wanted) else self._rise)
        if changed and self.step is not None:
            shape = wanted_shape(self.geometry, self.parameters, *self._wanted)
            scale = self.step.shape.duration / shape.duration  # the step keeps its time
            length = min(max(shape.length * scale, -self.parameters.longest_step), self.parameters.longest_step)
            reach = 2.0 * min(self.parameters.waist_reach, self.geometry.waist_limit(length))
            turned = min(max(shape.turn * scale, -reach), reach)
            self.step.change(self._time, length, turned, self.parameters.largest_acceleration)
            self._packed = None

    @property
    def gait_time(self) -> float:
        """Time of the gait [s], in which its steps are planned; it stands still while brakes hold what would move."""
        return self._time

    @property
    def is_walking(self) -> bool:
        """Whether a step is under way."""
        return self.step is not None

    def is_under_way(self, coupling: str) -> bool:
        """Whether a state was answered with this coupling in force, and it feels for no ground: `ahead` can tell."""
        is_known = self._last_t is not None and coupling == self._transmission.coupling
        return is_known and self.landing is None and not self.parameters.rough

    def update(self, t: float, state: RobotState) -> Command:
        """Targets of the motors of the coupling in force at t [s], the one with all motors where the state tells none.

        Where it has no motor_position, motors count from the joints' zeros.
        """
        if self._last_t is not None and not 0.0 <= t - self._last_t < GAP:
            self.reset()
        dt = 0.0 if self._last_t is None else t - self._last_t
        coupling = state.coupling or self.geometry.coupling
        if self._last_t is None:
            self._begin(state)
        elif coupling != self._transmission.coupling:
            self._anchor(state)
        self._last_t = t
        feels = self.parameters.rough or self.landing is not None
        forces = foot_forces(state, self._legs_of_feet) if feels else None
        self.has_forces = forces is not None
        if forces is not None:
            self.touch_down.update(t, forces)
        if self.landing is None:
            self._advance(dt)
        else:
            self.landing.update(dt, coupling, forces or {})
        self._choose_step(state)
        angles, rates = self.targets()
        positions, velocities = self._transmission.to_columns(angles, rates)
        wanted = None if self.landing is None else self.landing.coupling
        names = self._transmission.motors
        motors = Targets(names, np.array(positions), np.array(velocities)) if names else Targets()
        return Command(motor=motors, coupling=wanted)

    def ahead(self, times: Sequence[float]) -> np.ndarray:
        """What `update` would say at these times [s] as long as the coupling stays and no forces are reported.

        Returns positions and velocities (n, 2, columns of D), as `LieVariational.follow` takes them; the gait is then
        at the last of the times. The first state must have been answered by `update`.
        """
        if self._last_t is None or self.landing is not None:
            raise ValueError("ahead: expected a gait whose first state was answered, and no landing under way")
        between = np.diff([self._last_t, *times])
        if not ((between >= 0.0) & (between < GAP)).all():
            raise ValueError(f"times: expected steps of less than {GAP:g} s forward from {self._last_t:g} s on")
        self.has_forces = False
        targets = np.empty((len(times), 2, len(self.geometry.motors)))
        passed = np.empty((2, len(times)))  # time of the gait and its rate
        lengths = self.geometry.lengths
        first, plan, swing = 0, self._plan(), self._swing()
        for k, t in enumerate(times):
            self._advance(t - self._last_t)
            self._last_t = t
            self._choose_step(None)
            if self._packed is None:  # the motions are others from this time on
                passing = passed[0, first:k], passed[1, first:k]
                targets_into(*passing, plan, swing, self._settled, lengths, targets[first:k])
                first, plan, swing = k, self._plan(), self._swing()
            passed[0, k], passed[1, k] = self._time, self._rate
        targets_into(passed[0, first:], passed[1, first:], plan, swing, self._settled, lengths, targets[first:])
        return self._transmission.table(targets)

    def targets(self) -> tuple[list[float], list[float]]:
        """Angles and rates of the gait's five motors (`WalkerGeometry.motors`) now, whatever the coupling."""
        now, found = np.array([self._time, self._rate]), np.empty((1, 2, len(self.geometry.motors)))
        targets_into(now[:1], now[1:], self._plan(), self._swing(), self._settled, self.geometry.lengths, found)
        angles, rates = found[0].tolist()
        if self.landing is not None:
            k = self.geometry.motors.index(self.landing.frame.femurs)
            angles[k], rates[k] = self.landing.angle, self.landing.rate
        return angles, rates

    def _plan(self) -> np.ndarray:
        """All motions of the gait, as gait_kernel.py takes them."""
        if self._packed is None:
            ground = [self._ground[frame] for frame in self.geometry.names]
            motions = motions_of(self.geometry, self.step, self._waist, self._reach)
            self._packed = np.array([motion.row for motion in (self._depth, *motions, *ground, *self._settling)])
        return self._packed

    def _swing(self) -> int:
        return NOBODY if self.step is None else self.geometry.names.index(self.step.swing)

    def _begin(self, state: RobotState) -> None:
        """Start where the robot is, and go from there to the gait's stand."""
        self._anchor(state)
        found, (wanted, _) = self._transmission.angles(state.q), self.targets()
        ways = [have - want for have, want in zip(found, wanted, strict=True)]
        # Close to it, as after a start in `home`: a short way needs a short time.
        self._settled = self._time + (0.2 if max(map(abs, ways)) < 0.05 else self.parameters.rising_time)
        self._settling = [Quintic(self._time, self._settled, way, 0.0) for way in ways]
        self._packed = None

    def _anchor(self, state: RobotState) -> None:
        femurs = "" if self.landing is None else self.landing.frame.femurs
        before = self._transmission.zero(femurs)
        position = state.motor_position if len(state.motor_position) else None
        self._transmission.anchor(state.coupling or self.geometry.coupling, state.q, position)
        if self.landing is not None:
            self.landing.shift(self._transmission.zero(femurs) - before)

    def _advance(self, dt: float) -> None:
        """Let the gait's time go on, unless a brake holds what would move; after that it picks up speed in 0.2 s."""
        if self._transmission.has_all or self._needed() <= set(self._transmission.motors):
            self._rate = min(1.0, self._rate + dt / 0.2)
        else:
            self._rate = 0.0
        self._time += self._rate * dt

    def _needed(self) -> frozenset[str]:
        if self._time < self._settled:
            return frozenset(self.geometry.motors)
        if self.step is not None:
            return self.step.moves
        femurs = frozenset(frame.femurs for frame in self.geometry.frames)
        return frozenset() if self._depth.end <= self._time else femurs

    def _choose_step(self, state: RobotState | None) -> None:
        """End a step that is over, begin the next, or stand up and sit down between walks."""
        time = self._time
        if self.step is not None:
            if self._lands(state) or time < self.step.end or self._waits_for_feet(time):
                return
            self._reach = {frame: reach.end_position for frame, reach in self.step.reach.items()}
            self._waist = self.step.waist.end_position
            self._next_stance = self.step.swing
            begin = time if self._late else self.step.end
            self.step, self._packed = None, None
        else:
            begin = time
        self._late = 0.0
        if time < self._settled or time < self._depth.end:
            return
        is_low = self._depth.end_position != self.parameters.depth
        is_apart = any(self._reach.values()) or self._waist != 0.0
        if (any(self._wanted) and not is_low) or is_apart:
            shape = wanted_shape(self.geometry, self.parameters, *self._wanted)
            added = self.parameters.lift_compensation * self._sag[self._next_stance]
            shape = replace(shape, lift=shape.lift + added)
            self.step = plan_step(self.geometry, begin, self._next_stance, shape, self._reach, self._waist)
            self._return_to_level(self.step)
            self._packed = None
        elif (self._rise < 0.0) != is_low:
            end = self.parameters.depth if is_low else self.parameters.sitting_depth
            self._depth = Quintic(time, time + self.parameters.rising_time, self._depth.end_position, end)
            self._packed = None

    def _lands(self, state: RobotState | None) -> bool:
        """Whether feet are feeling for the ground; the end of that is the end of the step."""
        step, p = self.step, self.parameters
        assert step is not None
        if self.landing is None:
            is_due = p.rough and self.has_forces and step.down.begin <= self._time < step.end
            if state is None or not is_due:
                return False
            self._time = step.down.begin
            frame = self.geometry.frame(step.swing)
            angle = self.targets()[0][self.geometry.motors.index(frame.femurs)]
            self.landing = Landing(frame, self._braked, angle, step.shape.lift + p.deepest, tilt(state.q), p)
            return True
        if not self.landing.is_done:
            return True
        shin = self.targets()[0][self.geometry.motors.index(self.landing.frame.shins)]
        stands = self.landing.frame.foot_depth(self.landing.angle, shin)
        self._ground[step.swing] = Quintic.rest(stands - self._depth.at(self._time)[0])
        self.landing = None
        self._time = step.end
        return False

    def _return_to_level(self, step: WalkerStep) -> None:
        """Feet that stand higher or deeper than the level carry the body back to its height while they stroke."""
        deeper = self._ground[step.stance].at(step.begin)[0]
        if deeper:
            stroke = step.reach[step.stance]
            self._ground[step.stance] = Quintic(stroke.begin, stroke.end, deeper, 0.0)

    def _waits_for_feet(self, time: float) -> bool:
        """Whether feet that should be down by now are not, and there is patience left."""
        if self.step is None or not self.has_forces:
            return False
        down = sum(self.touch_down.is_down(leg.name) for leg in self.geometry.frame(self.step.swing).legs)
        self._late = time - self.step.end
        return down < NEEDED_FEET and self._late < self.parameters.patience
