# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The names that Nelson and Quinn's walker has here: eight legs, five motors, and their ratios, N (48), (49).

For the paper's experiments and for tests; the gait takes names and lengths from model and sidecar (geometry.py).
"""

from __future__ import annotations

import numpy as np

from mbsim_ros.model.model import Model

FRAMES = ("A", "B")
MOTORS = ("waist", "femur_A", "tibia_A", "femur_B", "tibia_B")


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
