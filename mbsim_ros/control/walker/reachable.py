# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a walker's legs can do what the parameters of its gait ask for, and what they could do instead.

A femur that comes to its stop lifts less than it is asked for, and nobody notices; so what cannot be reached is refused
before the first step, with the number that can.
"""

from __future__ import annotations

import math
from dataclasses import replace

from mbsim_ros.control.walker.gait_kernel import shin_angle
from mbsim_ros.control.walker.geometry import DIGITS, WalkerGeometry, WalkingFrame
from mbsim_ros.control.walker.parameters import WalkerGaitParameters

BENT = 0.01  # [m] by which a walker stands lower than with level femurs, where nothing else is asked for
SITTING = 0.07  # [m] by which it sits lower than it stands
LARGEST_SWING = 1.2  # [rad] of a shin
SMALLEST = 1e-3  # [m] to which numbers that would work are told, rounded to where they do


def reachable(geometry: WalkerGeometry, p: WalkerGaitParameters, sag: float = 0.0) -> WalkerGaitParameters:
    """The parameters with the depths that they leave to the legs; ValueError with all that the legs cannot reach.

    sag: by how much the body comes down while one frame carries it [m].
    """
    depth = p.depth or round(geometry.level_depth() - BENT, DIGITS)
    least = _up(max(frame.hip_depth + frame.shin - _travel(frame) for frame in geometry.frames))
    p = replace(p, depth=depth, sitting_depth=p.sitting_depth or max(round(depth - SITTING, DIGITS), least))
    problems = [problem for frame in geometry.frames for problem in _about(frame, p, p.lift_compensation * sag)]
    if problems:
        raise ValueError("\n".join(dict.fromkeys(problems)))
    return p


def _about(frame: WalkingFrame, p: WalkerGaitParameters, added: float) -> list[str]:
    level, travel = frame.hip_depth + frame.shin, _travel(frame)
    least, most = level - travel, level + travel
    size = f"with femurs of {frame.femur:g} m and shins of {frame.shin:g} m (frame {frame.name})"
    lifts = {"lift": p.lift, "fast_lift": p.fast_lift} | ({"rough_lift": p.rough_lift} if p.rough else {})
    steps = {"longest_step": (p.longest_step, 0.0)} | ({"rough_step": (p.rough_step, p.deepest)} if p.rough else {})
    if not least <= p.depth <= most:
        low = least + max(lifts.values()) + added
        high = min(most - deeper - _shortened(frame, 0.5 * step) for step, deeper in steps.values())
        return [
            f"depth: {p.depth:g} m below the base is out of reach {size}: {_up(low):g} to {_down(high):g} m are not"
            if low < high else f"depth: {p.depth:g} m, these lifts and these steps do not go together {size}"
        ]  # fmt: skip
    problems = []
    if not least <= p.sitting_depth <= most:
        problems.append(
            f"sitting_depth: {p.sitting_depth:g} m below the base is out of reach {size}: {_up(least):g} to "
            f"{_down(most):g} m are not"
        )
    for name, lift in lifts.items():
        highest = p.depth - least - added
        if lift > highest:
            remedy = f"{_down(highest):g} m they can" if highest > SMALLEST else "stand deeper"
            problems.append(
                f"{name}: feet that stand {p.depth:g} m below the base cannot be lifted by {lift:g} m {size}: {remedy}"
            )
    for name, (step, deeper) in steps.items():
        longest = _longest_step(frame, p.depth + deeper, most)
        if step > longest:
            below = f" {deeper:g} m below the level" if deeper else ""
            remedy = f"{_down(longest):g} m they can" if longest > SMALLEST else "stand higher"
            problems.append(
                f"{name}: feet{below} cannot step by {step:g} m {size} at a depth of {p.depth:g} m: {remedy}"
            )
    return problems


def _travel(frame: WalkingFrame) -> float:
    """How far feet go up and down from where femurs are level [m]."""
    return frame.femur * math.sin(frame.furthest)


def _longest_step(frame: WalkingFrame, depth: float, most: float) -> float:
    """Length of a step [m] at whose ends feet still reach this depth: shins that lean reach less deep."""
    cosine = 1.0 - (most - depth) / frame.shin  # with shins at θ feet reach most − L (1 − cos θ) deep
    if cosine > 1.0:
        return 0.0
    return _step_of(frame, min(LARGEST_SWING, math.acos(max(cosine, -1.0))))


def _shortened(frame: WalkingFrame, reach: float) -> float:
    """By how much less deep feet reach this far before their hips [m]."""
    return frame.shin * (1.0 - math.cos(shin_angle(frame.shin, frame.foot_radius, reach)))


def _step_of(frame: WalkingFrame, swing: float) -> float:
    """Length of the step [m] that ends with shins at ± this angle [rad]."""
    return 2.0 * (frame.shin * math.sin(swing) + frame.foot_radius * swing)


def _down(length: float) -> float:
    return math.floor(length / SMALLEST) * SMALLEST


def _up(length: float) -> float:
    return math.ceil(length / SMALLEST) * SMALLEST
