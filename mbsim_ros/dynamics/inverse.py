# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Inverse dynamics: the generalised forces that a motion takes, and the wrenches that the joints carry in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.inverse_kernel import inverse_dynamics_into
from mbsim_ros.dynamics.layout import INVERSE_WRENCH
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model

GRAVITY = np.array([0.0, 0.0, -9.81])


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
    workspace: Workspace | None = None,
) -> np.ndarray:
    """Generalised forces tau (nv,) for accelerations a (nv,) at q (nq,), v (nv,): W Algorithm 3.2.

    wrenches: forces from outside by link name, each (f, τ) at the link's origin in its axes.
    gravity: acceleration (3,) in the world, default (0, 0, -9.81).
    """
    q_tree = check.shaped_configuration(model, q)
    v_tree, a_tree = check.shaped_velocity(model, v), check.shaped_velocity(model, a, "a")
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    ws = workspace_of(model, workspace)
    tau = np.empty(len(v_tree))
    outside = check.body_wrenches(model, wrenches)
    inverse_dynamics_into(model.topology, model.constants, q_tree, v_tree, a_tree, g, outside, ws.sincos, ws.rows, tau)
    check.finite_result("inverse_dynamics", tau, q=q, v=v, a=a)
    return tau if model.mimic is None else model.reduce_forces(tau)


def joint_wrenches(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
    workspace: Workspace | None = None,
) -> dict[str, np.ndarray]:
    """By joint, the wrench (f, τ) (6,) of the parent on the child for accelerations a (nv,) at q and v, W (3.17).

    It is about the origin of the child link, which is the joint's, and in the child's axes. All that passes through the
    joint is in it: along its axis that is `inverse_dynamics` less what turns a rotor. wrenches: forces from outside by
    link name, each (f, τ) at the link's origin in its axes. gravity: acceleration (3,), default (0, 0, -9.81).
    """
    q_tree = check.shaped_configuration(model, q)
    v_tree, a_tree = check.shaped_velocity(model, v), check.shaped_velocity(model, a, "a")
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    ws = workspace_of(model, workspace)
    tau, outside = np.empty(len(v_tree)), check.body_wrenches(model, wrenches)
    inverse_dynamics_into(model.topology, model.constants, q_tree, v_tree, a_tree, g, outside, ws.sincos, ws.rows, tau)
    on_bodies = ws.rows[1:, INVERSE_WRENCH : INVERSE_WRENCH + 6].copy()
    check.finite_result("joint_wrenches", on_bodies, q=q, v=v, a=a)
    return dict(zip(model.joint_names, wrenches_at_joints(model, on_bodies), strict=True))


def wrenches_at_joints(model: Model, on_bodies: np.ndarray) -> np.ndarray:
    """The wrenches (joints, 6) of the joints, in the child links' frames, of those of the bodies (bodies, 6)."""
    found = np.zeros((len(model.joints), 6))
    for row, joint in zip(found, model.joints, strict=True):
        X_BL = model.frames[joint.child_link].X_BF
        R, p = X_BL[:3, :3], X_BL[:3, 3]
        force, torque = on_bodies[joint.body, :3], on_bodies[joint.body, 3:]
        row[:3], row[3:] = R.T @ force, R.T @ (torque - np.cross(p, force))
    return found
