# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What joints carried in the last step of the Lie-group variational integrator, from what it keeps of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.workspace import workspace_of
from mbsim_ros.integrators.driven import NO_JOINT_WRENCHES
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.lie_variational.reactions.step_wrenches_kernel import (
    SCRATCH_ROWS,
    momenta_before_into,
    step_wrenches_into,
)
from mbsim_ros.integrators.retraction import advance_into

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.integrator import LieVariational

UNKNOWN = (
    "joint_wrenches: what acted in the last step is not known, because a step failed since or the state is from a "
    "snapshot of an older version: take a step first"
)


def step_wrenches(integrator: LieVariational) -> np.ndarray:
    """Wrenches (bodies, 6) on the bodies through their joints; see step_wrenches_kernel.

    Nothing is kept for it while steps are taken: the node before the step follows from this one, the mean velocity, and
    the equation that the step solved, Dᵀp_k + π_k = Dᵀ(−D₁L_d + h/2 G_k) + J u − h/2 (Dᵀ Q + Q_m).
    """
    if integrator.order != 2:
        raise UnsupportedModel(NO_JOINT_WRENCHES)
    system, state, model = integrator.system, integrator.state, integrator.model
    tree, scheme, coupling = system.tree, system.scheme, system.coupling
    out, h = np.zeros((model.n_bodies, 6)), integrator.last_length()
    if h <= 0.0:
        return out
    nv, nq, ws = len(state.p), len(state.q), workspace_of(model)
    if not check.all_finite(system.work.wrenches.reshape(-1)):
        raise ValueError(UNKNOWN)
    v = integrator.configuration.expand(state.u)
    q_before, p_before = np.empty(nq), np.empty(nv)
    scratch = np.zeros((SCRATCH_ROWS, max(nq, nv, 18)))
    advance_into(tree.topology, scheme.retraction, state.q, v, -h, q_before)
    momenta_before_into(tree, scheme, q_before, v, h, check.NO_WRENCHES, ws.sincos, ws.rows, scratch, p_before)
    rotors_before = coupling.rotor * state.u - 0.5 * h * state.force
    before = integrator.velocities_of(q_before, p_before, rotors_before)[1]
    now = integrator.velocities_of(state.q, state.p, state.motor_momentum)[1]
    step_wrenches_into(
        tree, scheme, (q_before, before), (state.q, now), v, h, system.work.wrenches, check.NO_WRENCHES, ws.sincos,
        ws.rows, scratch, out,
    )  # fmt: skip
    return check.finite_result("joint_wrenches", out)
