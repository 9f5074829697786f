"""The walker's gait: from a velocity that is asked for to targets of its motors.

The two frames step in turn. A step takes its length and turn from the velocity that is asked for as it begins; a change
in mid-stride bends the step under way if that needs no turning back and no slipping, and acts with the next step
otherwise. Everything goes along quintics, so targets have continuous positions and speeds whatever is asked for when.
Walking ends with a step of length zero, after which all feet stand under their hips.

Units: SI. A velocity is forward [m/s] and turn [rad/s, left]; `rise` stands up (> 0) or sits down (< 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mbsim_ros.control.parameters import Checked, parameter
from mbsim_ros.control.quintic import Quintic
from mbsim_ros.control.touch_down import TouchDown
from mbsim_ros.control.walker_legs import FRAMES, LEGS, MOTORS, legs, motor_angles, waist_limit
from mbsim_ros.control.walker_motors import Transmission
from mbsim_ros.control.walker_step import Step, StepShape, plan_step
from mbsim_ros.model.model import Model

GAP = 0.5  # s between two states that mean a reset
NORMAL = "normal"
NEEDED_FEET = 3  # of a frame, to carry the robot


@dataclass(frozen=True)
class WalkerGaitParameters(Checked):
    """Of the gait; lengths in m, times in s, angles in rad."""

    depth: float = parameter(0.39, "Of the feet below the top frame, standing.", "m", lower=0.3, upper=0.5)
    sitting_depth: float = parameter(0.32, "The same, sitting.", "m", lower=0.28, upper=0.5)
    lift: float = parameter(0.06, "Of the swinging feet.", "m", lower=0.01, upper=0.12)
    step_time: float = parameter(0.8, "Duration of a step at ease.", "s", lower=0.3, upper=5.0)
    shortest_step_time: float = parameter(0.7, "Duration of a step at full speed.", "s", lower=0.3, upper=5.0)
    longest_step: float = parameter(0.35, "Length of a step at full speed.", "m", lower=0.01, upper=0.4)
    easy_step: float = parameter(0.2, "Length of a step up to which it takes its time.", "m", lower=0.01, upper=0.4)
    lifting: float = parameter(0.1875, "Share of a step for lifting, and for lowering.", lower=0.05, upper=0.4)
    overlap: float = parameter(0.4, "Share of lifting and lowering with stroke, at full speed.", lower=0.0, upper=0.6)
    waist_reach: float = parameter(
        0.1, "Of the waist, to either side; legs clear each other.", "rad", lower=0.0, upper=0.12
    )
    largest_acceleration: float = parameter(6.5, "Of a stroke that is changed.", "m/s²", lower=0.1, upper=50.0)
    rising_time: float = parameter(1.5, "To stand up or sit down.", "s", lower=0.2, upper=20.0)
    patience: float = parameter(0.3, "For feet to touch down before the next step.", "s", lower=0.0, upper=10.0)
    smallest_speed: float = parameter(1e-3, "Below which a velocity is none.", "m/s, rad/s", lower=0.0, upper=0.1)


@dataclass(frozen=True)
class MotorCommand:
    """Positions and velocities for columns of D, by name, to be held by the motors' drives."""

    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]


class WalkerGait:
    """Gait generator and motor targets; a Controller (see control/controller.py) of the five motors."""

    Parameters = WalkerGaitParameters

    def __init__(self, model: Model, parameters: WalkerGaitParameters | None = None):
        self.parameters = parameters or WalkerGaitParameters()
        self._transmission = Transmission(model)
        self.couplings = self._transmission.couplings  # by name
        self.touch_down = TouchDown(LEGS)
        self._wanted = (0.0, 0.0)
        self._rise = 0.0
        self._last_t: float | None = None
        self.reset()

    def configure(self, parameters: WalkerGaitParameters) -> None:
        """Go on with other parameters, from the next step on."""
        self.parameters = parameters

    def reset(self) -> None:
        """Forget the past: the next state is the first."""
        self._last_t = None
        self._time = 0.0  # of the gait; it stands still while brakes hold what it would move
        self._rate = 1.0  # of that time
        self.step: Step | None = None
        self._next_stance = "A"
        self._reach = dict.fromkeys(FRAMES, 0.0)
        self._waist = 0.0
        self._depth = Quintic.rest(self.parameters.depth)
        self._settling: list[Quintic] = []
        self._settled = 0.0
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
            shape = self._shape()
            scale = self.step.shape.duration / shape.duration  # the step keeps its time
            length = min(max(shape.length * scale, -self.parameters.longest_step), self.parameters.longest_step)
            reach = 2.0 * min(self.parameters.waist_reach, waist_limit(length))
            turned = min(max(shape.turn * scale, -reach), reach)
            self.step.change(self._time, length, turned, self.parameters.largest_acceleration)

    @property
    def gait_time(self) -> float:
        """Time of the gait [s], in which its steps are planned; it stands still while brakes hold what would move."""
        return self._time

    @property
    def is_walking(self) -> bool:
        """Whether a step is under way."""
        return self.step is not None

    def update(self, t: float, state: Any) -> MotorCommand:
        """Targets of the motors of the coupling in force at t [s].

        state: has q (nq,), and may have coupling (a name, default `normal`), motor_position of the columns of D but the
        base's (without it motors count from the joints' zeros), and foot_forces, from legs to normal forces [N].
        """
        if self._last_t is not None and not 0.0 <= t - self._last_t < GAP:
            self.reset()
        if self._last_t is None:
            self._begin(state)
        elif getattr(state, "coupling", NORMAL) != self._transmission.coupling:
            self._anchor(state)
        self._advance(0.0 if self._last_t is None else t - self._last_t)
        self._last_t = t
        forces = getattr(state, "foot_forces", None)
        self.has_forces = forces is not None
        if forces is not None:
            self.touch_down.update(t, forces)
        self._choose_step()
        angles, rates = self.targets()
        positions, velocities = self._transmission.to_columns(angles, rates)
        return MotorCommand(self._transmission.motors, tuple(positions), tuple(velocities))

    def targets(self) -> tuple[list[float], list[float]]:
        """Angles and rates of the gait's five motors (`walker_legs.MOTORS`) now, whatever the coupling."""
        time, rate = self._time, self._rate
        depth, depth_rate = self._depth.at(time)
        step = self.step
        waist, waist_rate = (self._waist, 0.0) if step is None else step.waist.at(time)
        angles, rates = [waist], [rate * waist_rate]
        for frame in FRAMES:
            reach, reach_rate = (self._reach[frame], 0.0) if step is None else step.reach[frame].at(time)
            lift, lift_rate = step.lift(time) if step is not None and step.swing == frame else (0.0, 0.0)
            phi, theta, phi_rate, theta_rate = motor_angles(
                frame, reach, reach_rate, depth - lift, depth_rate - lift_rate
            )
            angles += [phi, theta]
            rates += [rate * phi_rate, rate * theta_rate]
        if time < self._settled:
            for k, motion in enumerate(self._settling):
                offset, offset_rate = motion.at(time)
                angles[k] += offset
                rates[k] += rate * offset_rate
        return angles, rates

    def _begin(self, state: Any) -> None:
        """Start where the robot is, and go from there to the gait's stand."""
        self._anchor(state)
        found, (wanted, _) = self._transmission.angles(state.q), self.targets()
        self._settled = self._time + self.parameters.rising_time
        self._settling = [
            Quintic(self._time, self._settled, have - want, 0.0) for have, want in zip(found, wanted, strict=True)
        ]
        if max(abs(have - want) for have, want in zip(found, wanted, strict=True)) < 0.05:
            # Close to it, as after a start in `home`: a short way needs a short time.
            self._settled = self._time + 0.2
            self._settling = [
                Quintic(self._time, self._settled, motion.at(self._time)[0], 0.0) for motion in self._settling
            ]

    def _anchor(self, state: Any) -> None:
        position = getattr(state, "motor_position", None)
        self._transmission.anchor(getattr(state, "coupling", NORMAL), state.q, position)

    def _advance(self, dt: float) -> None:
        """Let the gait's time go on, unless a brake holds what would move; after that it picks up speed in 0.2 s."""
        needed = self._needed()
        if needed - set(self._transmission.motors):
            self._rate = 0.0
        else:
            self._rate = min(1.0, self._rate + dt / 0.2)
        self._time += self._rate * dt

    def _needed(self) -> frozenset[str]:
        if self._time < self._settled:
            return frozenset(MOTORS)
        if self.step is not None:
            return self.step.moves
        return frozenset() if self._depth.end <= self._time else frozenset({"femur_A", "femur_B"})

    def _choose_step(self) -> None:
        """End a step that is over, begin the next, or stand up and sit down between walks."""
        time = self._time
        if self.step is not None:
            if time < self.step.end or self._waits_for_feet(time):
                return
            self._reach = {frame: reach.end_position for frame, reach in self.step.reach.items()}
            self._waist = self.step.waist.end_position
            self._next_stance = self.step.swing
            begin = time if self._late else self.step.end
            self.step = None
        else:
            begin = time
        self._late = 0.0
        if time < self._settled or time < self._depth.end:
            return
        is_low = self._depth.end_position != self.parameters.depth
        is_apart = any(self._reach.values()) or self._waist != 0.0
        if (any(self._wanted) and not is_low) or is_apart:
            self.step = plan_step(begin, self._next_stance, self._shape(), self._reach, self._waist)
        elif (self._rise < 0.0) != is_low:
            end = self.parameters.depth if is_low else self.parameters.sitting_depth
            self._depth = Quintic(time, time + self.parameters.rising_time, self._depth.end_position, end)

    def _waits_for_feet(self, time: float) -> bool:
        """Whether feet that should be down by now are not, and there is patience left."""
        if self.step is None or not self.has_forces:
            return False
        down = sum(self.touch_down.is_down(leg) for leg in legs(self.step.swing))
        self._late = time - self.step.end
        return down < NEEDED_FEET and self._late < self.parameters.patience

    def _shape(self) -> StepShape:
        """The step that the wanted velocity asks for, within what the legs and the ground allow."""
        p = self.parameters
        forward, turn = self._wanted
        easy, full = p.easy_step / p.step_time, p.longest_step / p.shortest_step_time
        hurry = (abs(forward) - easy) / (full - easy) if full > easy else 0.0
        if p.waist_reach > 0.0:
            easy_turn, full_turn = p.waist_reach / p.step_time, p.waist_reach / p.shortest_step_time
            hurry = max(hurry, (abs(turn) - easy_turn) / (full_turn - easy_turn) if full_turn > easy_turn else 0.0)
        hurry = min(max(hurry, 0.0), 1.0)
        duration = p.step_time + hurry * (p.shortest_step_time - p.step_time)
        length = min(max(forward * duration, -p.longest_step), p.longest_step)
        reach = 2.0 * min(p.waist_reach, waist_limit(length))
        # A whole turn takes two steps, one for each frame.
        turned = min(max(2.0 * turn * duration, -reach), reach)
        return StepShape(duration, length, turned, p.lift, p.lifting, hurry * p.overlap)
