# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The mass matrix of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import checked_mass_matrix_into, mass_matrix_into, reduce_into
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model


def mass_matrix(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Joint-space inertia M (nv, nv) at q (nq,), W (3.32): symmetric, both triangles, rotor inertias included.

    Entries between dofs of which neither carries the other are exactly zero.
    """
    q = check.vector("q", q, model.nq)
    ws = workspace_of(model, workspace)
    nv_tree = len(model.dof_parent)
    M = np.empty((nv_tree, nv_tree))
    arguments = (model.topology, model.constants, model.dof_parent, model.tree_q(q), ws.sincos, ws.rows, ws.dofs, M)
    if not checked_mass_matrix_into(*arguments):
        check.configuration(model, q)  # says what is wrong; if its rounding lets q pass, so do we
        M.fill(0.0)
        mass_matrix_into(*arguments)
    check.finite_result("mass_matrix", M, q=q)
    return M if model.mimic is None else _reduced(model, M)


def _reduced(model: Model, M_tree: np.ndarray) -> np.ndarray:
    """M (nv, nv) = Gᵀ M_tree G, where v_tree = G v: mimic joints move with their leader."""
    assert model.mimic is not None
    M = np.zeros((model.nv, model.nv))
    reduce_into(model.dof_parent, model.mimic.source_v, model.mimic.ratio_v, M_tree, M)
    return M
