# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays of closed loops, beside those of a step. n closures, m rows g(q) = 0 in all, G = ∂g/∂q by dofs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LoopArrays(NamedTuple):
    """What is closed, the multipliers, and memory without meaning between steps."""

    bodies: np.ndarray  # (n, 2) row of the body that an end is on, 0 for the world
    points: np.ndarray  # (n, 2, 3) from the bodies' origins, in their axes
    axes: np.ndarray  # (n, 3, 3) two directions across the axis on a, the axis on b; zeros where there is no hinge
    reach: np.ndarray  # (n,) [m] length of the links of a loop: how exactly its closure can be known
    roots: np.ndarray  # (n, 2) floating root of the tree that an end is on, by place in mu; -1 for none
    is_internal: bool  # every loop is within a tree that floats: rows are in the axes of its root, which has no part
    kept: np.ndarray  # (m,) rows that the solver uses, then -1: a planar loop says some things twice
    force: np.ndarray  # (m,) multipliers λ of the last step [N, N m]
    saved_force: np.ndarray  # (m,) and of the one before
    g: np.ndarray  # (m,)
    size: np.ndarray  # (m,) [m] of what a row is the difference of
    G_node: np.ndarray  # (m, nv) at the beginning of a step
    G_end: np.ndarray  # (m, nv) at its end
    J_node: np.ndarray  # (m, nu) kept rows of G D
    J_end: np.ndarray  # (m, nu)
    solved: np.ndarray  # (m, nu) rows of A⁻¹ J_nodeᵀ
    S: np.ndarray  # (m, m) J_end A⁻¹ J_nodeᵀ
    impulse: np.ndarray  # (m,) h λ of the kept rows
    change: np.ndarray  # (m,) of impulse, in an iteration
    right: np.ndarray  # (nv,) p_k − h/2 G(q_k), to which the impulses are added
    q_end: np.ndarray  # (nq,)
    scratch: np.ndarray  # (18,)
