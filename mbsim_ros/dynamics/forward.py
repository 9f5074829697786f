# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forward dynamics: the motion that generalised forces cause."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.factorisation import Factorisation
from mbsim_ros.dynamics.inverse import GRAVITY, inverse_dynamics
from mbsim_ros.dynamics.kernels.forward_kernel import OK, forward_dynamics_into
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import IV, Model


class MasslessJoint(ValueError):
    """A joint that moves nothing with inertia: no finite force gives it an acceleration."""


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
    workspace: Workspace | None = None,
) -> np.ndarray:
    """Accelerations a (nv,) under generalised forces tau (nv,) at q (nq,), v (nv,): W Algorithm 3.3.

    wrenches: forces from outside by link name, each (f, τ) at the link's origin in its axes.
    gravity: acceleration (3,) in the world, default (0, 0, -9.81).
    Raises MasslessJoint where a movable part of the robot has no inertia.
    """
    if model.mimic is not None:
        return _with_mimic_joints(model, q, v, tau, wrenches, gravity, workspace)
    q = check.shaped_configuration(model, q)
    v, tau = check.shaped_velocity(model, v), check.shaped_velocity(model, tau, "tau")
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    ws = workspace_of(model, workspace)
    a = np.empty(model.nv)
    outside = check.body_wrenches(model, wrenches)
    failed = forward_dynamics_into(
        model.topology, model.constants, q, v, tau, g, outside, ws.sincos, ws.rows, ws.dofs, a
    )
    if failed != OK:
        # What is not finite looks like a missing inertia to the kernel; without motion and forces only that is left.
        still, none = np.zeros(model.nv), check.NO_WRENCHES
        again = forward_dynamics_into(
            model.topology, model.constants, q, still, still, g, none, ws.sincos, ws.rows, ws.dofs, a
        )
        if again == OK:
            check.refuse_infinite("forward_dynamics", q=q, v=v, tau=tau)
        check.finite("q", q)
        raise _massless(model, failed)
    return check.finite_result("forward_dynamics", a, q=q, v=v, tau=tau)


def _with_mimic_joints(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Mapping[str, ArrayLike] | None,
    gravity: ArrayLike | None,
    workspace: Workspace | None,
) -> np.ndarray:
    """Mimic joints tie branches together, so the equations of motion are projected: Gᵀ M G a = τ − Gᵀ bias."""
    options = {"wrenches": wrenches, "gravity": gravity, "workspace": workspace}
    bias = inverse_dynamics(model, q, v, np.zeros(model.nv), **options)  # type: ignore[arg-type]
    left = check.effort(model, tau) - bias
    try:
        a = Factorisation(model, mass_matrix(model, q, workspace=workspace)).solve(left)
    except ValueError as error:
        raise MasslessJoint(f"a joint moves no inertia: {error}") from None
    return check.finite_result("forward_dynamics", a, tau=tau)


def _massless(model: Model, dof: int) -> MasslessJoint:
    body = int(np.flatnonzero(model.topology[:, IV] <= dof)[-1])
    names = [joint.name for joint in model.joints if joint.body == body]
    what = f"joint '{names[0]}'" if names else "the floating base"
    return MasslessJoint(
        f"{what} moves no inertia (link '{model.body_names[body]}' and all it carries): "
        "give a link there mass and inertia, or make the joint fixed"
    )
