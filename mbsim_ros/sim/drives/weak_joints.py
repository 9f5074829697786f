# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Joints that cannot hold what hangs on them: gravity asks more of them than their effort limit.

No gains help then. A drive that is cut at its limit is a constant effort, which damps nothing: the limb sinks and
swings about where the limit would carry it, until the joint's own damping has taken its energy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.model.model import END, Model, ModelJoint
from mbsim_ros.sim.names import driven_joints
from mbsim_ros.sim.surroundings.scene import Scene
from mbsim_ros.sim.surroundings.standing import gaps

LISTED = 3  # in a sentence


class WeakJoint(NamedTuple):
    """A joint, and what gravity asks of it [Nm, N] beside its limit."""

    joint: ModelJoint
    needed: float
    limit: float

    def __str__(self) -> str:
        unit = "N" if self.joint.type == "prismatic" else "N m"
        return f"'{self.joint.name}' needs {self.needed:.3g} {unit}, its limit is {self.limit:.3g}"


def weak_joints(model: Model, scene: Scene, q: np.ndarray, gravity: np.ndarray) -> list[WeakJoint]:
    """The joints that have to give way at q (nq,), at rest under gravity (3,), the most overloaded first.

    Left out is who may have help: joints of limbs that touch the ground, at a stop, or of a robot with springs.
    """
    if scene.springs is not None:
        return []
    still = np.zeros(model.nv)
    needed = inverse_dynamics(model, q, still, still, gravity=gravity)
    touching = np.array([]) if scene.points is None else scene.points.bodies[gaps(model, scene, q) < 0.0]
    found = []
    for joint in map(model.joint, driven_joints(model).names):
        effort, limit = float(needed[joint.iv]), float(model.effort_limit[joint.iv])
        ends = model.lower[joint.iv] if effort > 0.0 else -model.upper[joint.iv]
        is_at_stop = q[joint.iq] * np.sign(effort) <= ends
        is_on_ground = bool(((touching >= joint.body) & (touching < model.topology[joint.body, END])).any())
        if abs(effort) > limit + model.friction[joint.iv] and limit > 0.0 and not (is_at_stop or is_on_ground):
            found.append(WeakJoint(joint, abs(effort), limit))
    return sorted(found, key=lambda weak: -weak.needed / weak.limit)


def weakness(model: Model, scene: Scene, q: np.ndarray, gravity: np.ndarray, names: Iterable[str]) -> str:
    """In a sentence which joints of these names cannot hold, or ""."""
    found = [weak for weak in weak_joints(model, scene, q, gravity) if weak.joint.name in names]
    if not found:
        return ""
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return f"'{model.name}' cannot hold itself against gravity: {'; '.join(map(str, found[:LISTED]))}{more}"
