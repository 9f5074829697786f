# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Generalised momenta and the gradient of the kinetic energy, the two halves of a discrete Legendre transform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.momentum_pass_kernel import momentum_pass_into
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model


class MomentumPass(NamedTuple):
    """Generalised momenta p = M(q) v (nv,) and dT_dr (nv,), the gradient of ½ vᵀ M(q) v at constant v."""

    p: np.ndarray
    dT_dr: np.ndarray  # noqa: N815


def generalised_momentum_and_gradient(
    model: Model, q: ArrayLike, v: ArrayLike, *, workspace: Workspace | None = None
) -> MomentumPass:
    """p (nv,) and ∂T/∂r (nv,) at q (nq,), v (nv,), in linear time and without a mass matrix.

    For joints of several dofs the gradient is d/dε T(q ⊕ ε e_k, v), where ⊕ moves along the axes of the body as v does.
    """
    q_tree, v_tree = check.shaped_configuration(model, q), check.shaped_velocity(model, v)
    ws = workspace_of(model, workspace)
    p, dT_dr = np.empty(len(v_tree)), np.empty(len(v_tree))
    momentum_pass_into(model.topology, model.constants, q_tree, v_tree, ws.sincos, ws.rows, p, dT_dr)
    check.finite_result("generalised_momentum_and_gradient", p, q=q, v=v)
    check.finite_result("generalised_momentum_and_gradient", dT_dr)
    if model.mimic is None:
        return MomentumPass(p, dT_dr)
    return MomentumPass(model.reduce_forces(p), model.reduce_forces(dT_dr))
