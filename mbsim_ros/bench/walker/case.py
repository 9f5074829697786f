# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The eight-legged walker as it is measured: its transmission, its gains, how it stands and how it walks.

Two frames, A (top) and B (bottom), carry four legs each. Five motors drive the 17 joints, N (48): the waist, and for
each frame one motor for its four femurs and one for its four tibias, whose angles a cable drive measures from the
body, N (29). In motor angles, with all four legs of a frame alike,

    foot under the hip   x = −L sin θ,   depth = l sin φ + L cos θ      φ femur motor (+ lowers), θ tibia motor

The gait is an alternating one: while the feet of one frame stand and stroke from S/2 ahead to S/2 behind the hips at
constant height, those of the other are lifted, brought forward and lowered; then the frames change over. Every phase is
a quintic from rest to rest. Its numbers, the gains (of a motor, for all its legs together) and the rotor inertia
and damping of every joint are those of the project's reference walk.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from mbsim_ros.bench.cases import WALKER
from mbsim_ros.coupling.configuration import CouplingConfiguration, couple
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.model import Model
from mbsim_ros.model.urdf.parser import parse_urdf

ROTOR_INERTIA, JOINT_DAMPING = 0.02, 0.1  # of every joint [kg m², N m s/rad]
FOOT_RADIUS, FRICTION = 0.02, 0.8
FRAMES = ("A", "B")
MOTORS = ("waist", "femur_A", "tibia_A", "femur_B", "tibia_B")
LEGS_PER_MOTOR = np.array([1.0, 4.0, 4.0, 4.0, 4.0])
STIFFNESS = np.array([600.0, 3000.0, 2000.0, 3000.0, 2000.0])  # kp of the motors [N m/rad]
DAMPING = np.array([30.0, 60.0, 40.0, 60.0, 40.0])  # kd [N m s/rad]
# Stroke S and depth H of the feet of A under the top plate [m], lift [rad], times [s].
STROKE, DEPTH, LIFT = 0.16, 0.39, 0.3
LIFTING, STROKING, LOWERING = 0.15, 0.5, 0.15
FEMUR, TIBIA, HIP_DEPTH = 0.2, {"A": 0.4, "B": 0.32}, {"A": 0.0, "B": 0.08}
CYCLE = 2.0 * (LIFTING + STROKING + LOWERING)
STANDING_HEIGHT = DEPTH + FOOT_RADIUS  # of the top plate, on stiff legs and ground


@functools.cache
def walker() -> Model:
    """The walker with a rotor on every joint."""
    description = parse_urdf(WALKER)
    joints = tuple(dataclasses.replace(joint, rotor_inertia=ROTOR_INERTIA) for joint in description.joints)
    return make_model(dataclasses.replace(description, joints=joints), "floating")


def legs(frame: str) -> list[str]:
    """Names of the legs of a frame: front and rear, left and right."""
    return [f"{frame}{end}{side}" for end in "FR" for side in "LR"]


def femur_sign(leg: str) -> float:
    """Direction of a femur joint that lowers its foot: femurs point outward, forward in front and backward behind."""
    return 1.0 if leg[1] == "F" else -1.0


@functools.cache
def five_motors() -> CouplingConfiguration:
    """The transmission, N (48) with the signs of N (49)."""
    motors = {"waist": {"body": 1.0}}
    for frame in FRAMES:
        femurs = {f"{leg}_f": femur_sign(leg) for leg in legs(frame)}
        # A tibia keeps its angle to the body when its femur turns, so its joint turns back.
        motors[f"femur_{frame}"] = femurs | {f"{leg}_t": -femur_sign(leg) for leg in legs(frame)}
        motors[f"tibia_{frame}"] = {f"{leg}_t": 1.0 for leg in legs(frame)}
    return couple(walker(), motors, rotor_inertia={})


def joint_angles(motor_angles: np.ndarray) -> np.ndarray:
    """Angles of the joints (…, 17) in the order of q for angles of the motors (…, 5)."""
    return motor_angles @ five_motors().D[6:, 6:].T


def standing_motors() -> np.ndarray:
    """Angles of the motors (5,) with all feet under their hips."""
    return _motors({frame: (np.array(0.0), np.array(0.0)) for frame in FRAMES})


def state_on_feet(motor_angles: np.ndarray, above: float = 0.0) -> np.ndarray:
    """q (nq,) with the plates level, the motors at these angles and feet that are down just touching the floor.

    above: or so far from it [m].
    """
    q = walker().neutral.copy()
    q[2] = STANDING_HEIGHT + above
    q[7:] = joint_angles(motor_angles)
    return q


def gait(period: float) -> np.ndarray:
    """Targets of the motors (rows, 5), one row every `period` [s], over one cycle: A stands first, then B."""
    count = round(CYCLE / period)
    times = period * np.arange(1, count + 1)
    half = 0.5 * CYCLE
    feet = {"A": _foot(times % CYCLE, half), "B": _foot((times + half) % CYCLE, half)}
    return _motors(feet)


def _foot(time: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Place of a frame's feet before their hips [m] and lift of its femurs [rad], standing in the first half."""
    stroke = STROKE * (0.5 - _quintic((time - LIFTING) / STROKING))
    swing = STROKE * (_quintic((time - half - LIFTING) / STROKING) - 0.5)
    raised = _quintic((time - half) / LIFTING) - _quintic((time - half - LIFTING - STROKING) / LOWERING)
    return np.where(time < half, stroke, swing), LIFT * raised


def _motors(feet: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    columns = [np.zeros_like(feet["A"][0])]
    for frame in FRAMES:
        x, lift = feet[frame]
        tibia = -np.arcsin(x / TIBIA[frame])
        depth = DEPTH - HIP_DEPTH[frame]
        columns += [np.arcsin((depth - TIBIA[frame] * np.cos(tibia)) / FEMUR) - lift, tibia]
    return np.stack(columns, axis=-1)


def _quintic(s: np.ndarray) -> np.ndarray:
    """From 0 to 1 with no speed and no acceleration at both ends, constant outside."""
    s = np.clip(s, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))
