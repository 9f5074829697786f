# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Memory that the kernels work in, made once and reused."""

from __future__ import annotations

import threading

import numpy as np

from mbsim_ros.dynamics.layout import DOF_COLUMNS, ROW_COLUMNS
from mbsim_ros.model.model import Model


class Workspace:
    """Scratch arrays of one model. Nothing in it outlives a call, so one serves all functions, but not two threads."""

    def __init__(self, model: Model):
        self.model = model
        nq_tree = len(model.tree_q(model.neutral))
        nv_tree = len(model.dof_parent)
        self.sincos = np.zeros((2, nq_tree))
        self.rows = np.zeros((model.n_bodies + 1, ROW_COLUMNS))  # row 0 is the world
        self.dofs = np.zeros((nv_tree, DOF_COLUMNS))


def workspace_of(model: Model, workspace: Workspace | None = None) -> Workspace:
    """The workspace given, or this thread's own for the model."""
    if workspace is not None:
        if workspace.model is not model:
            raise ValueError(f"workspace: expected one of model '{model.name}', got one of '{workspace.model.name}'")
        return workspace
    thread = threading.get_ident()
    try:
        return model.scratch[thread]  # type: ignore[no-any-return]
    except KeyError:
        made = model.scratch[thread] = Workspace(model)
        return made
