# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How places of point masses follow from the joints of their bars, and the joints from places.

Places are counted from the pivot in the world, of every tree its own. Two hinges have two pairs of angles for one
place, and a ball joint has a turn of the bar about itself, which no place knows: of all joints that have the places of
now those nearest the joints of before are taken, so that they have to be found step by step.
"""

from __future__ import annotations

import math

import numpy as np

from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.integrators.particles.bar_tree import RigidBar
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import Model


def places_of(model: Model, bars: list[RigidBar], q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities (n, 3) of the masses at q (nq,) and v (nv,)."""
    found = forward_kinematics(model, q, v)
    x, dx = np.zeros((2, len(bars), 3))
    for i, bar in enumerate(bars):
        X, V = found.X_WB[bar.body], found.V_WB[bar.body]
        x[i] = X[:3, :3] @ bar.end + (x[bar.parent] if bar.parent >= 0 else 0.0)
        dx[i] = X[:3, :3] @ (V[:3] + np.cross(V[3:], bar.end))
    return x, dx


def spins_of(model: Model, bars: list[RigidBar], q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """How fast the bars on ball joints turn about themselves [rad/s], by name."""
    V = forward_kinematics(model, q, v).V_WB
    return {bar.name: float(V[bar.body, 3:] @ bar.end / np.linalg.norm(bar.end)) for bar in bars if bar.is_ball}


def joints_of(model: Model, bars: list[RigidBar], x: np.ndarray, q_before: np.ndarray) -> np.ndarray:
    """The q (nq,) nearest q_before at which the masses are at places x (n, 3)."""
    q, before = q_before.copy(), forward_kinematics(model, q_before).X_WB[:, :3, :3]
    R = np.zeros((len(bars), 3, 3))
    for i, bar in enumerate(bars):
        J = (R[bar.parent] if bar.parent >= 0 else np.eye(3)) @ bar.R_PJ
        way = x[i] - (x[bar.parent] if bar.parent >= 0 else 0.0)
        if bar.is_ball:
            R[i] = _least_turn(before[bar.body] @ bar.end, way) @ before[bar.body]
            own = slice(bar.iq[0], bar.iq[0] + 4)
            turn = quaternion.to_ros(quaternion.from_matrix(J.T @ R[i]))
            q[own] = turn if turn @ q_before[own] >= 0.0 else -turn  # both are the same rotation
        else:
            q[list(bar.iq)] = _hinge_angles(bar, J.T @ way, *q_before[list(bar.iq)])
            R[i] = J @ _about_z(q[bar.iq[0]]) @ bar.R_JK @ _about_z(q[bar.iq[1]])
    return q


def rates_of(model: Model, bars: list[RigidBar], q: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """The v (nv,) at q with which the masses have the velocities dx (n, 3), and no bar on a ball turns about itself."""
    X, v = forward_kinematics(model, q).X_WB[:, :3, :3], np.zeros(model.nv)
    w = np.zeros((len(bars), 3))  # of the bars, in the world
    for i, bar in enumerate(bars):
        R, w_P = X[bar.body], w[bar.parent] if bar.parent >= 0 else np.zeros(3)
        way, rate = R @ bar.end, dx[i] - (dx[bar.parent] if bar.parent >= 0 else 0.0)
        if bar.is_ball:
            w[i] = np.cross(way, rate) / (way @ way)
            v[list(bar.iv)] = R.T @ (w[i] - w_P)
        else:
            axes = np.stack([X[bar.cross, :, 2], R[:, 2]], axis=1)  # a body has its joint's axis as z
            pushed = np.cross(axes, way, axis=0)
            # where the bar lies along its first axis no rate of that turns it: the shortest v is taken
            own = np.linalg.lstsq(pushed, rate - np.cross(w_P, way), rcond=1e-9)[0]
            v[list(bar.iv)], w[i] = own, w_P + axes @ own
    return v


def _hinge_angles(bar: RigidBar, way: np.ndarray, first: float, second: float) -> tuple[float, float]:
    """Angles of two hinges at which the bar lies along `way` (3,), in the axes of the first; nearest those of before.

    way = Rz(a) R Rz(b) end: its part along the first axis is u cos b + w sin b + const, which has two solutions.
    """
    x, y, z = bar.end
    r = bar.R_JK[2]
    u, w, rest = r[0] * x + r[1] * y, r[1] * x - r[0] * y, r[2] * z
    middle, size = math.atan2(w, u), math.hypot(u, w)
    half = math.acos(min(1.0, max(-1.0, (way[2] - rest) / size)))
    b = min((_near(middle + half, second), _near(middle - half, second)), key=lambda angle: abs(angle - second))
    along = bar.R_JK @ _about_z(b) @ bar.end
    if math.hypot(along[0], along[1]) < 1e-12 * float(np.linalg.norm(bar.end)):
        return first, b  # along the first axis: any angle about it
    return _near(math.atan2(way[1], way[0]) - math.atan2(along[1], along[0]), first), b


def _near(angle: float, other: float) -> float:
    """The angle plus full turns, nearest another."""
    return angle + 2.0 * math.pi * round((other - angle) / (2.0 * math.pi))


def _about_z(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _least_turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) by the least angle that turns the direction of a into that of b; not for opposite ones."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    x, y, z = np.cross(a, b)
    W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + W + W @ W / (1.0 + a @ b)
