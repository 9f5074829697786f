# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From an initial state of a sidecar to vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from transforms3d.euler import euler2quat

from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import InitialState


def state_vectors(model: Model, state: InitialState) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) of an initial state: what it does not name is zero."""
    q, v = model.neutral.copy(), np.zeros(model.nv)
    if model.is_floating:
        q[:3] = (0.0, 0.0, 0.0) if state.base_xyz is None else state.base_xyz
        q[3:7] = _ros_quaternion((0.0, 0.0, 0.0) if state.base_rpy is None else state.base_rpy)
        v[:3], v[3:6] = state.base_linear, state.base_angular
    elif (
        state.base_xyz
        or state.base_rpy
        or state.lowest_point is not None
        or any((*state.base_linear, *state.base_angular))
    ):
        raise ValueError(f"initial state '{state.name}': it places the base, which is fixed in '{model.name}'")
    for name, value in state.joints.items():
        joint = model.joint(name)
        q[joint.iq : joint.iq + joint.nq] = _coordinates(joint.type, value)
    for name, value in state.velocities.items():
        joint = model.joint(name)
        v[joint.iv : joint.iv + joint.nv] = value
    return q, v


def _coordinates(kind: str, value: float | tuple[float, ...]) -> float | Sequence[float]:
    """A joint's part of q: turns of spherical and floating joints are given by roll, pitch and yaw."""
    if isinstance(value, tuple) and kind in ("spherical", "floating"):
        return [*value[:-3], *_ros_quaternion(value[-3:])]
    return value


def _ros_quaternion(rpy: Sequence[float]) -> list[float]:
    w, x, y, z = euler2quat(*rpy, axes="sxyz")
    return [x, y, z, w]
