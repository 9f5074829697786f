# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Equations of motion of a coupled robot in continuous time: Dᵀ(M D u' + bias) = load, N (27).

D is constant within a configuration, so its derivative, which N (20) carries for Euler angles, is zero here: the base
moves along its body axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.coupling.reduction_kernel import (
    add_rotors,
    factorise_dense_in_place,
    reduce_matrix_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.kernels.inverse_kernel import inverse_dynamics_into
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import mass_matrix_into
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model

_NO_WRENCHES = np.zeros((0, 6))


def coupled_forward_dynamics(
    model: Model,
    configuration: CouplingConfiguration,
    q: ArrayLike,
    u: ArrayLike,
    motor: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    gravity: ArrayLike | None = None,
    *,
    workspace: Workspace | None = None,
) -> np.ndarray:
    """u' (nu,) at q (nq,) and rates u (nu,): motor (nu,) acts on the columns, tau (nv,) on the joints, default none.

    The accelerations of the tree are `configuration.expand` of it.
    """
    load = _load(configuration, motor, tau)
    bias = _bias(model, q, configuration.expand(u), gravity, workspace)
    M_u = coupled_mass_matrix(model, configuration, q, workspace=workspace)
    acceleration = load - configuration.reduce(bias)
    solve_reduced(configuration, M_u, acceleration)
    return check.finite_result("coupled_forward_dynamics", acceleration, q=q, u=u)


def coupled_mass_matrix(
    model: Model, configuration: CouplingConfiguration, q: ArrayLike, *, workspace: Workspace | None = None
) -> np.ndarray:
    """Dᵀ M D plus the inertias of the motors' rotors (nu, nu) at q (nq,)."""
    return reduced(configuration, tree_mass_matrix(model, q, workspace=workspace))


def tree_mass_matrix(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """M of the tree (tree nv, tree nv) at q (nq,): mimic joints have rows of their own."""
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    M = np.zeros((len(model.dof_parent), len(model.dof_parent)))
    mass_matrix_into(model.topology, model.constants, model.dof_parent, q_tree, ws.sincos, ws.rows, ws.dofs, M)
    return M


def reduced(configuration: CouplingConfiguration, M_tree: np.ndarray) -> np.ndarray:
    """Dᵀ M_tree D plus the inertias of the motors' rotors."""
    M_u = np.empty((configuration.nu, configuration.nu))
    parents = configuration.model.dof_parent
    reduce_matrix_into(parents, configuration.start, configuration.column, configuration.ratio, M_tree, M_u)
    add_rotors(configuration.rotor_inertia, M_u)
    return M_u


def solve_reduced(configuration: CouplingConfiguration, M_u: np.ndarray, x: np.ndarray) -> None:
    """Replace x (nu,) by M_u⁻¹ x. Raises ValueError naming the column that moves no inertia."""
    factors = M_u.copy()
    diagonal = M_u.diagonal()
    failed = factorise_dense_in_place(factors)
    # A pivot that is a rounding error of the entry it came from is zero.
    small = np.flatnonzero(~(factors.diagonal() > len(x) * np.finfo(float).eps * diagonal))
    if failed >= 0 or small.size:
        column = configuration.column_names[failed if failed >= 0 else int(small[-1])]
        raise ValueError(
            f"coupling '{configuration.name}': column '{column}' moves no inertia: give it a link with mass"
        )
    solve_dense_in_place(factors, x)


def _load(configuration: CouplingConfiguration, motor: ArrayLike | None, tau: ArrayLike | None) -> np.ndarray:
    """Forces on the columns, Dᵀ tau + motor; tau of a joint that others mimic acts on it alone."""
    load = np.zeros(configuration.nu)
    if motor is not None:
        load += check.finite("motor", check.vector("motor", motor, configuration.nu))
    if tau is not None:
        on_tree = np.zeros(len(configuration.start) - 1)
        on_tree[configuration.own_dofs] = check.effort(configuration.model, tau)
        load += configuration.reduce(on_tree)
    return load


def _bias(
    model: Model, q: ArrayLike, v_tree: np.ndarray, gravity: ArrayLike | None, workspace: Workspace | None
) -> np.ndarray:
    """Generalised forces of the tree that hold its rates constant (tree nv,)."""
    q_tree = check.configuration(model, q)
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    ws = workspace_of(model, workspace)
    bias, zero = np.empty(len(v_tree)), np.zeros(len(v_tree))
    inverse_dynamics_into(
        model.topology, model.constants, q_tree, v_tree, zero, g, _NO_WRENCHES, ws.sincos, ws.rows, bias
    )
    return bias
