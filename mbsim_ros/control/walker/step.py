# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One step of the walker: the feet of one frame stand and stroke, those of the other are lifted, moved and lowered.

Every motion is a quintic that begins and ends at rest. The frames' feet end half a step apart, before and behind their
hips, so that the next step is a whole one; a step of length zero ends with all feet under their hips, which is how a
walk ends. The waist turns while the lifted frame is in the air.
"""

from __future__ import annotations

from dataclasses import dataclass

from mbsim_ros.control.joints.quintic import Quintic
from mbsim_ros.control.walker.geometry import WalkerGeometry
from mbsim_ros.control.walker.parameters import WalkerGaitParameters


@dataclass(frozen=True)
class StepShape:
    """How long a step is, how far, and how much it turns: length [m] and turn [rad] signed, forward and left."""

    duration: float
    length: float
    turn: float
    lift: float  # [m] of the swinging feet
    lifting: float  # share of the duration, and again for lowering
    overlap: float  # share of lifting and of lowering in which the stroke is already, or still, under way

    @property
    def stroke_window(self) -> tuple[float, float]:
        """Times of the stroke after the step's begin [s]."""
        wait = self.lifting * (1.0 - self.overlap) * self.duration
        return wait, self.duration - wait


@dataclass
class WalkerStep:
    """The motions of one step; `reach` is by frame, in the coordinate of geometry.py."""

    geometry: WalkerGeometry
    begin: float
    shape: StepShape
    stance: str
    swing: str
    reach: dict[str, Quintic]
    waist: Quintic
    up: Quintic
    down: Quintic

    @property
    def end(self) -> float:
        """Time when all feet stand again."""
        return self.begin + self.shape.duration

    def lift(self, time: float) -> tuple[float, float]:
        """Height of the swinging feet above their stand, and its rate."""
        risen, rising = self.up.at(time)
        sunk, sinking = self.down.at(time)
        return risen - sunk, rising - sinking

    @property
    def moves(self) -> frozenset[str]:
        """Motors that this step needs."""
        needed = {frame.femurs for frame in self.geometry.frames}
        needed |= {self.geometry.frame(name).shins for name, reach in self.reach.items() if not reach.is_still}
        return frozenset(needed if self.waist.is_still else needed | {self.geometry.waist})

    def change(self, time: float, length: float, turn: float, largest_acceleration: float) -> bool:
        """Step elsewhere from now on, if that can be done without turning back or slipping; says whether it does."""
        stance_end, swing_end, waist_end = ends(self.geometry.frame(self.stance).is_turned, length, turn)
        stroke = self.reach[self.stance].towards(time, stance_end) if time < self.reach[self.stance].end else None
        if stroke is None or (stroke.turns_back() or stroke.largest_acceleration() > largest_acceleration):
            return False
        waist = self.waist.towards(time, waist_end)
        if time > self.waist.begin and waist.turns_back():
            return False
        if self.geometry.foot_x * waist.largest_acceleration() > largest_acceleration:  # of feet that the waist turns
            return False
        self.reach = {self.stance: stroke, self.swing: self.reach[self.swing].towards(time, swing_end)}
        self.waist = waist
        return True


def ends(is_turned: bool, length: float, turn: float) -> tuple[float, float, float]:
    """Where the standing feet, the swinging feet and the waist come to rest; is_turned: the standing frame, by it.

    The frame in the air turns the way that the walker turns.
    """
    return -0.5 * length, 0.5 * length, -0.5 * turn if is_turned else 0.5 * turn


def plan_step(
    geometry: WalkerGeometry, begin: float, stance: str, shape: StepShape, reach: dict[str, float], waist: float
) -> WalkerStep:
    """The step that begins now with this frame standing, from where the feet and the waist are."""
    swing = geometry.other(stance)
    stance_end, swing_end, waist_end = ends(geometry.frame(stance).is_turned, shape.length, shape.turn)
    first, last = (begin + time for time in shape.stroke_window)
    lifting = shape.lifting * shape.duration
    return WalkerStep(
        geometry, begin, shape, stance, swing,
        {
            stance: Quintic(first, last, reach[stance], stance_end),
            swing: Quintic(first, last, reach[swing], swing_end),
        },
        Quintic(first, last, waist, waist_end),
        Quintic(begin, begin + lifting, 0.0, shape.lift),
        Quintic(begin + shape.duration - lifting, begin + shape.duration, 0.0, shape.lift),
    )  # fmt: skip


def motions_of(
    geometry: WalkerGeometry, step: WalkerStep | None, waist: float, reach: dict[str, float]
) -> list[Quintic]:
    """Motions of the waist, of lifting and lowering, and of the feet by frame, or where they rest without a step."""
    if step is not None:
        return [step.waist, step.up, step.down, *(step.reach[name] for name in geometry.names)]
    return [Quintic.rest(position) for position in (waist, 0.0, 0.0, *(reach[name] for name in geometry.names))]


def wanted_shape(geometry: WalkerGeometry, p: WalkerGaitParameters, forward: float, turn: float) -> StepShape:
    """The step that a velocity [m/s, rad/s] asks for, within what the legs and the ground allow."""
    easy, full = p.easy_step / p.step_time, p.longest_step / p.shortest_step_time
    hurry = (abs(forward) - easy) / (full - easy) if full > easy else 0.0
    if p.waist_reach > 0.0:
        easy_turn, full_turn = p.waist_reach / p.step_time, p.waist_reach / p.shortest_step_time
        hurry = max(hurry, (abs(turn) - easy_turn) / (full_turn - easy_turn) if full_turn > easy_turn else 0.0)
    hurry = min(max(hurry, 0.0), 1.0)
    duration = p.step_time + hurry * (p.shortest_step_time - p.step_time)
    longest, lift, overlap = p.longest_step, p.lift + hurry * (p.fast_lift - p.lift), hurry * p.overlap
    if p.rough:
        duration, longest, lift, overlap = p.rough_step_time, min(p.rough_step, longest), p.rough_lift, 0.0
    length = min(max(forward * duration, -longest), longest)
    reach = 2.0 * min(p.waist_reach, geometry.waist_limit(length))
    # A whole turn takes two steps, one for each frame.
    turned = min(max(2.0 * turn * duration, -reach), reach)
    return StepShape(duration, length, turned, lift, p.lifting, overlap)
