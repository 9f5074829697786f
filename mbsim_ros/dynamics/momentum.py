# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Spatial momentum of the robot, (linear, angular) in world axes, and its centre of mass.

Rotor inertias have no part in it: the rotors of a model turn in nothing but their own joint's coordinate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.jacobian import reduce_columns
from mbsim_ros.dynamics.kernels.kinematics_kernel import world_poses_into
from mbsim_ros.dynamics.kernels.momentum_kernel import (
    ANGULAR_ABOUT_ORIGIN,
    COM,
    LINEAR,
    MOMENTUM_SIZE,
    TOTAL_MASS,
    centroidal_matrix_into,
    momentum_into,
)
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model

_ABOUT_ORIGIN = [*range(LINEAR, LINEAR + 3), *range(ANGULAR_ABOUT_ORIGIN, ANGULAR_ABOUT_ORIGIN + 3)]


def momentum(model: Model, q: ArrayLike, v: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Linear momentum and angular momentum about the world's origin (6,) at q (nq,), v (nv,), in world axes."""
    out = _momentum(model, q, check.velocity(model, v), workspace)
    return out[_ABOUT_ORIGIN]


def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Linear momentum and angular momentum about the centre of mass (6,) at q (nq,), v (nv,), in world axes."""
    out = _momentum(model, q, check.velocity(model, v), workspace)
    return _massive(model, out)[LINEAR:ANGULAR_ABOUT_ORIGIN].copy()


def centre_of_mass(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Centre of mass (3,) of all that moves, in the world, at q (nq,)."""
    out = _momentum(model, q, np.zeros(len(model.dof_parent)), workspace)
    return _massive(model, out)[COM:LINEAR].copy()


def centroidal_momentum_matrix(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """A (6, nv) with A v = centroidal_momentum(model, q, v), at q (nq,)."""
    ws = _world_poses(model, q, workspace)
    out, A = np.empty(MOMENTUM_SIZE), np.empty((6, len(model.dof_parent)))
    centroidal_matrix_into(model.topology, model.constants, ws.rows, out, A)
    _massive(model, out)
    return check.finite_result("centroidal_momentum_matrix", reduce_columns(model, A), q=q)


def _momentum(model: Model, q: ArrayLike, v_tree: np.ndarray, workspace: Workspace | None) -> np.ndarray:
    """What momentum_into writes: mass, centre of mass, linear, angular momentum about it."""
    ws = _world_poses(model, q, workspace)
    out = np.empty(MOMENTUM_SIZE)
    momentum_into(model.topology, model.constants, v_tree, ws.rows, out)
    return check.finite_result("momentum", out, q=q, v=v_tree)


def _world_poses(model: Model, q: ArrayLike, workspace: Workspace | None) -> Workspace:
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    world_poses_into(model.topology, model.constants, q_tree, ws.sincos, ws.rows)
    return ws


def _massive(model: Model, out: np.ndarray) -> np.ndarray:
    if out[TOTAL_MASS] <= 0.0:
        raise ValueError(f"model {model.name!r}: nothing that moves has mass, so there is no centre of mass")
    return out
