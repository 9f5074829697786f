# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Exact slopes of the mass matrix along coordinates, from its values at a few places.

As a function of one revolute coordinate the mass matrix is a + b cos r + c sin r + d cos 2r + e sin 2r, for the pose of
what the joint carries is linear in cos r and sin r and the mass matrix is quadratic in poses; as a function of a
prismatic one it is a polynomial of degree 2. So differences over finite ways have the slope exactly, without the
rounding of small ones:

    f'(r) = (√2/4 + ½) [f(r + π/4) − f(r − π/4)] + (√2/4 − ½) [f(r + 3π/4) − f(r − 3π/4)]     revolute
    f'(r) = ½ [f(r + 1) − f(r − 1)]                                                          prismatic
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.integrators.capability import listed
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.model.joint_kinds import PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IV, KIND, Model

_ROOT = np.sqrt(2.0) / 4.0
REVOLUTE_RULE = ((np.pi / 4.0, _ROOT + 0.5), (3.0 * np.pi / 4.0, _ROOT - 0.5))
PRISMATIC_RULE = ((1.0, 0.5),)


def why_not_in_coordinates(model: Model) -> str:
    """Why the coordinates of a model are not numbers on lines, each with its own joint; "" where they are."""
    if model.mimic is not None:
        return f"'{model.name}' has mimic joints"
    if model.is_floating:
        return f"'{model.name}' has a floating base, which has no coordinates in ℝⁿ"
    several = [joint.name for joint in model.joints if model.topology[joint.body, KIND] not in (REVOLUTE, PRISMATIC)]
    return f"{listed(several)} of '{model.name}' have several dofs, no coordinates in ℝⁿ" if several else ""


def refuse_other_joints(model: Model) -> None:
    """Raise UnsupportedModel unless every coordinate is a number on a line."""
    why = why_not_in_coordinates(model)
    if why:
        raise UnsupportedModel(f"coordinates: {why}: use 'lie_variational'")


def slope(model: Model, function: Callable[[np.ndarray], np.ndarray], q: np.ndarray, i: int) -> np.ndarray:
    """∂f/∂q_i of a function that is linear in the mass matrix, exactly."""
    rule = PRISMATIC_RULE if _kind_of_dof(model, i) == PRISMATIC else REVOLUTE_RULE
    total = 0.0
    for way, weight in rule:
        moved = q.copy()
        moved[i] = q[i] + way
        ahead = function(moved)
        moved[i] = q[i] - way
        total = total + weight * (ahead - function(moved))
    return np.asarray(total)


def momentum_slopes(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """∇Mᵀ(I ⊗ v) of K (25), (nv, nv): column i is ∂M/∂q_i v. Its transpose is (I ⊗ vᵀ)∇M."""

    def momentum(at: np.ndarray) -> np.ndarray:
        return generalised_momentum_and_gradient(model, at, v).p

    return np.stack([slope(model, momentum, q, i) for i in range(model.nv)], axis=1)


def _kind_of_dof(model: Model, i: int) -> int:
    return int(model.topology[model.topology[:, IV] == i, KIND][0])
