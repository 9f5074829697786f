# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The eight-legged walker's legs: their names, their sizes, and where their feet are for angles of the five motors.

Two frames, A (top) and B (bottom), carry four legs each. Five motors drive the 17 joints, N (48): the waist, and for
each frame one motor for its four femurs and one for its four shins, whose angles a cable drive measures from the frame,
N (29). With all four legs of a frame alike, φ the angle of the femur motor (positive lowers) and θ that of the shin's,

    centre of a foot before its knee's place at φ = 0:  −L sin θ,     below the top frame:  h + l sin φ + L cos θ.

A foot is a sphere of radius r that rolls on the ground while its shin turns, so that the frame gets on by
(L cos θ + r) dθ. `reach` is what the feet stroke along: x = −(L sin θ + r θ), before the hips; −dx is the way of the
frame over ground on which the feet do not slip.
"""

from __future__ import annotations

import math

import numpy as np

from mbsim_ros.control.walker.gait_kernel import (
    FEMUR,
    HIP_DEPTH_A,
    HIP_DEPTH_B,
    SHIN_A,
    SHIN_B,
    leg_angles,
)
from mbsim_ros.model.model import Model

FRAMES = ("A", "B")
MOTORS = ("waist", "femur_A", "tibia_A", "femur_B", "tibia_B")
SHIN = {"A": SHIN_A, "B": SHIN_B}  # [m]
HIP_DEPTH = {"A": HIP_DEPTH_A, "B": HIP_DEPTH_B}  # of the hips below the top frame
FOOT_X = 0.45  # [m] of feet under their hips, before or behind the waist
FOOT_Y = {"A": 0.26, "B": 0.16}  # [m] of feet, to the left or right of the waist
LEG_GAP = 0.056  # [m] by which legs of A and B may come closer: they are 0.1 m apart, feet have a diameter of 0.04 m


def legs(frame: str) -> tuple[str, ...]:
    """Names of the legs of a frame: front and rear, left and right."""
    return tuple(f"{frame}{end}{side}" for end in "FR" for side in "LR")


LEGS = legs("A") + legs("B")


def femur_sign(leg: str) -> float:
    """Direction of a femur joint that lowers its foot, N (49): femurs point forward in front and backward behind."""
    return 1.0 if leg[1] == "F" else -1.0


def transmission() -> dict[str, dict[str, float]]:
    """The five motors with their joints and ratios, N (48) with the signs of N (49)."""
    motors: dict[str, dict[str, float]] = {"waist": {"body": 1.0}}
    for frame in FRAMES:
        femurs = {f"{leg}_f": femur_sign(leg) for leg in legs(frame)}
        # A shin keeps its angle to the frame when its femur turns, so its joint turns back.
        motors[f"femur_{frame}"] = femurs | {f"{leg}_t": -femur_sign(leg) for leg in legs(frame)}
        motors[f"tibia_{frame}"] = {f"{leg}_t": 1.0 for leg in legs(frame)}
    return motors


def joint_matrix(model: Model) -> np.ndarray:
    """What joints (17, in the order of q) turn by for angles of the five motors (5,), as a matrix (17, 5)."""
    matrix = np.zeros((model.nv - 6, len(MOTORS)))
    for motor, joints in transmission().items():
        for joint, ratio in joints.items():
            matrix[model.joint(joint).iv - 6, MOTORS.index(motor)] = ratio
    return matrix


def waist_limit(step: float) -> float:
    """How far the waist may turn with steps of this length [m] before legs of the two frames touch [rad]."""
    return LEG_GAP / (FOOT_X + 0.5 * abs(step))


def foot_depth(frame: str, phi: float, theta: float) -> float:
    """How deep feet stand below the top frame [m] at these angles of the femur's and the shin's motor."""
    return HIP_DEPTH[frame] + FEMUR * math.sin(phi) + SHIN[frame] * math.cos(theta)


def motor_angles(
    frame: str, reach: float, reach_rate: float, depth: float, depth_rate: float
) -> tuple[float, float, float, float]:
    """φ, θ and their rates for feet that reach so far [m] and stand so deep below the top frame [m], and their rates.

    A femur stops short of its end where the depth cannot be reached.
    """
    return leg_angles(SHIN[frame], HIP_DEPTH[frame], reach, reach_rate, depth, depth_rate)  # type: ignore[no-any-return]
