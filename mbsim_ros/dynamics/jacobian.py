# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Jacobians: how links move with v."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.jacobian_kernel import (
    LOCAL,
    LOCAL_WORLD_ALIGNED,
    WORLD,
    frame_jacobian_into,
    motion_columns_into,
)
from mbsim_ros.dynamics.kernels.kinematics_kernel import world_poses_into
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model

REFERENCES = {"local": LOCAL, "world": WORLD, "local_world_aligned": LOCAL_WORLD_ALIGNED}


def frame_jacobian(
    model: Model, q: ArrayLike, link: str, reference: str = "local", *, workspace: Workspace | None = None
) -> np.ndarray:
    """J (6, nv) with J v = (v, ω) of a link at q (nq,).

    reference: "local" velocity of the link's origin in the link's axes, "local_world_aligned" the same in world axes,
    "world" velocity of the point of the link that is at the world's origin, in world axes.
    """
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise ValueError(f"reference: expected one of {', '.join(map(repr, REFERENCES))}, got {reference!r}")
    frame = model.frame(link)
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    J = np.empty((6, len(model.dof_parent)))
    world_poses_into(model.topology, model.constants, q_tree, ws.sincos, ws.rows)
    frame_jacobian_into(model.topology, frame.body + 1, frame.X_BF, REFERENCES[reference], ws.rows, J)
    return check.finite_result("frame_jacobian", reduce_columns(model, J), q=q)


def motion_subspaces(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Column by column (6, nv) the twist in the world that a unit velocity of each dof gives the bodies beyond it.

    A link's "world" Jacobian has these columns for the dofs between it and the root, and zeros elsewhere. Mimic joints
    have columns of their own here, in the order of the tree: they move other bodies than their leader.
    """
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    world_poses_into(model.topology, model.constants, q_tree, ws.sincos, ws.rows)
    motion_columns_into(model.topology, ws.rows, ws.dofs)
    return np.ascontiguousarray(ws.dofs[:, :6].T)


def reduce_columns(model: Model, J_tree: np.ndarray) -> np.ndarray:
    """J (…, nv) of the model from that of the tree: columns of mimic joints go to their leader's."""
    return J_tree if model.mimic is None else J_tree @ model.mimic.matrix(model.nv)
