# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where a robot stands: the height of a floating base at which its lowest points carry it, and how deep a start is.

A URDF says nothing about the ground. Its root is most often at the hips or the chest, so that at height 0 the legs are
below the floor, and stiff contact would throw the robot into the sky.
"""

from __future__ import annotations

import warnings

import numpy as np

from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain_kernel import FLAT
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import warn_user
from mbsim_ros.sim.surroundings.scene import Scene, make_scene

APPROACHES = 30  # of a robot to uneven ground; a slope of 60° is reached to 1e-9 of the way
REACHED = 1e-9  # m
STEP, STRENGTH = 1e-3, 9.81  # s, m/s²: of a simulation that leaves them open
DEEP = 5.0  # times the penetration at rest: a start below that is told of


def gaps(model: Model, scene: Scene, q: np.ndarray) -> np.ndarray:
    """Signed distances (n,) of the contact points to the ground [m] at q (nq,), negative below it."""
    points, ground = scene.points, scene.ground
    if points is None or ground is None:
        return np.empty(0)
    X_WB = forward_kinematics(model, q).X_WB[points.bodies]
    places = np.einsum("nij,nj->ni", X_WB[:, :3, :3], points.geometry[:, :3]) + X_WB[:, :3, 3]
    if ground.kind == FLAT:
        return places[:, 2] - ground.data[0] - points.geometry[:, 3]
    return np.array([ground.gap(place) for place in places]) - points.geometry[:, 3]


def standing(model: Model, scene: Scene, q: np.ndarray, gravity: float) -> np.ndarray:
    """q (nq,) with its floating base at the height where the robot stands: its lowest points carry its weight.

    gravity: strength [m/s²]. Without a floating base, ground or contact points it is q as it was.
    """
    if not model.is_floating or scene.ground is None or scene.points is None or scene.contact is None:
        return q
    q = q.copy()
    for _ in range(APPROACHES):
        lowest = float(gaps(model, scene, q).min())
        q[2] -= lowest
        if abs(lowest) < REACHED:
            break
    q[2] -= _static_depth(gaps(model, scene, q), model.mass * gravity / scene.contact.stiffness)
    return q


def stand_on_floor(model: Model, q: np.ndarray) -> tuple[np.ndarray, Scene]:
    """q (nq,) as `standing` has it on the ground of the sidecar, or the floor, and that scene; for who only looks.

    A robot of which no simulation can be made, for want of mass, stays where it is.
    """
    terrain = None if model.sidecar is not None and model.sidecar.terrain is not None else "flat"
    gravity = np.array([0.0, 0.0, -STRENGTH])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = make_scene(model, STEP, gravity, terrain, None, None, None, None)
    except ValueError:
        return q, Scene()
    return standing(model, scene, q, STRENGTH), scene


def warn_if_deep(model: Model, scene: Scene, q: np.ndarray, gravity: float) -> None:
    """A ContactWarning where a start is in the ground, by how much, with which link, and at which height it is not."""
    found = gaps(model, scene, q)
    if not len(found) or scene.contact is None or scene.points is None:
        return
    k = int(found.argmin())
    if -found[k] <= DEEP * scene.contact.max_penetration:
        return
    remedy = "which pushes its joints away; give another initial state, or the ground another height"
    if model.is_floating:
        remedy = f"which throws it up; with the base at z = {standing(model, scene, q, gravity)[2]:.4g} m it stands"
    warn_user(
        f"'{model.name}' starts {-found[k]:.3g} m in the ground ({scene.points.labels[k]} of "
        f"'{scene.points.links[k]}', {int((found < 0.0).sum())} of {len(found)} points), {remedy}",
        ContactWarning,
    )


def _static_depth(above: np.ndarray, length: float) -> float:
    """d with Σ max(0, d − gap) = length, the sum of depths that carries the weight; above (n,): gaps, the lowest 0."""
    above, carried = np.sort(above), 0.0
    for count, gap in enumerate(above, start=1):
        carried += gap
        depth = (length + carried) / count
        if count == len(above) or depth <= above[count]:
            return float(depth)
    return 0.0
