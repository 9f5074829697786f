# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Solving with a mass matrix: the factors of M along the branches of the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.factorisation_kernel import (
    FINE,
    NOT_FINITE,
    NOT_SYMMETRIC,
    check_pattern,
    factorise_in_place,
    solve_columns_in_place,
    solve_in_place,
)
from mbsim_ros.model.model import Model

EPSILON = float(np.finfo(float).eps)


class Factorisation:
    """M = LᵀDL of a model's mass matrix M (nv, nv), or of M plus terms with the same zeros (damping, springs).

    Costs the sum over the dofs of their squared depth; a solve is linear in the entries of L. Raises ValueError if M
    is not finite, not symmetric, not zero between branches, or not positive definite, naming the dof.
    """

    def __init__(self, model: Model, M: ArrayLike):
        self._parents = factor_parents(model)
        self._factors = _matrix(model, M)
        self._check_pattern(model)
        diagonal = self._factors.diagonal().copy()
        failed = factorise_in_place(self._parents, self._factors)
        self._check_pivots(model, diagonal, failed)

    @property
    def L(self) -> np.ndarray:
        """Unit lower triangular factor (nv, nv)."""
        return np.tril(self._factors, -1) + np.eye(len(self._factors))

    @property
    def D(self) -> np.ndarray:
        """Pivots (nv,)."""
        return self._factors.diagonal().copy()

    def solve(self, b: ArrayLike) -> np.ndarray:
        """M⁻¹ b, for b (nv,) or (nv, m)."""
        nv = len(self._factors)
        x = np.array(b, dtype=np.float64, order="C")
        if x.ndim == 2 and x.shape[0] == nv:
            check.finite("b", x.ravel())
            solve_columns_in_place(self._parents, self._factors, x)
            return check.finite_result("solve", x)
        if x.shape != (nv,):
            raise ValueError(f"b: expected shape ({nv},) or ({nv}, m), got {x.shape}")
        solve_in_place(self._parents, self._factors, check.finite("b", x))
        return check.finite_result("solve", x)

    def _check_pattern(self, model: Model) -> None:
        problem, i, j = check_pattern(self._parents, self._factors)
        if problem == FINE:
            return
        entries = f"M[{i}, {j}] = {self._factors[i, j]:.6g}, M[{j}, {i}] = {self._factors[j, i]:.6g}"
        if problem == NOT_FINITE:
            raise ValueError(f"M: expected finite numbers, got {entries}")
        if problem == NOT_SYMMETRIC:
            raise ValueError(f"M: expected a symmetric matrix, got {entries}")
        raise ValueError(
            f"M: expected zero between {dof_name(model, i)} and {dof_name(model, j)}, of which neither carries the "
            f"other, got {entries}; factorise it as a full matrix"
        )

    def _check_pivots(self, model: Model, diagonal: np.ndarray, failed: int) -> None:
        # A pivot that is a rounding error of the entry it came from is zero; what is factored after it means nothing.
        pivots = self._factors.diagonal()
        is_zero = ~(pivots > len(pivots) * EPSILON * diagonal)
        bad = np.flatnonzero(is_zero[max(failed, 0) :]) + max(failed, 0)
        if bad.size:
            dof = int(bad[-1])
            raise ValueError(
                f"M: expected a positive definite matrix, got pivot {pivots[dof]:.3g} at dof {dof}, "
                f"{dof_name(model, dof)}: does it move a mass?"
            )


def factor_parents(model: Model) -> np.ndarray:
    """The dof before each in the pattern of M (nv,): the tree's, or a chain where mimic joints fill the matrix."""
    if model.mimic is None:
        return model.dof_parent
    chain = np.arange(-1, model.nv - 1, dtype=np.int64)
    chain.setflags(write=False)  # like dof_parent, or the kernels would be compiled twice
    return chain


def dof_name(model: Model, dof: int) -> str:
    """Which joint an entry of v belongs to, for messages."""
    for joint in model.joints:
        if 0 <= joint.iv <= dof < joint.iv + joint.nv:
            return f"joint {joint.name!r}" + (f" velocity {dof - joint.iv}" if joint.nv > 1 else "")
    return f"floating base velocity {dof}"


def _matrix(model: Model, M: ArrayLike) -> np.ndarray:
    try:
        matrix = np.array(M, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"M: expected a matrix of numbers, got {M!r}") from None
    if matrix.shape != (model.nv, model.nv):
        raise ValueError(f"M: expected shape ({model.nv}, {model.nv}), got {matrix.shape}")
    return matrix
