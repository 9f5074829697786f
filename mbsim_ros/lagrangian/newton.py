# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Newton's method with the exact Jacobian, W (2.43), down to rounding."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dgesv

MOST_ITERATIONS = 30
EPSILON = float(np.finfo(float).eps)
SMALL = 1e-9  # a change this small, relative, that gets no smaller, is rounding


class NoSolution(ArithmeticError):
    """Why an iteration found nothing, in words."""


def solve(
    equations: Callable[[], list[np.ndarray]], x: np.ndarray, n: int, rounding: float = 0.0, *, linear: bool = False
) -> int:
    """Change x until the equations hold, and return in how many iterations; NoSolution says why not.

    equations: gives residual and Jacobian at x, which it reads where it is.
    n: how many of x, the first, say whether it has converged; multipliers follow from them.
    rounding: how far these are from exact numbers at best.
    linear: the equations are, so that one change is enough.
    """
    before, worst = 0.0, math.inf
    for iteration in range(1, MOST_ITERATIONS + 1):
        residual, jacobian = equations()
        worst = length(residual)
        if not worst < math.inf:
            raise NoSolution("the numbers are not finite any more")
        _, _, change, info = dgesv(jacobian, residual)
        if info > 0:
            raise NoSolution(f"the matrix of Newton's method is singular; the residual is {worst:.3g}")
        x -= change
        step, size = length(change[:n]), length(x[:n])
        ratio = step / before if before else 1.0
        # Changes shrink as squares, so that the next one would be step · ratio².
        if linear or step * min(1.0, ratio * ratio) <= max(EPSILON * size, rounding):
            return iteration
        if before and ratio >= 0.5 and step <= SMALL * (1.0 + size):
            return iteration
        before = step
    raise NoSolution(f"no convergence in {MOST_ITERATIONS} iterations of Newton's method, the residual is {worst:.3g}")


def length(vector: np.ndarray) -> float:
    """Of a vector, in a fifth of the time of NumPy's norm."""
    return math.sqrt(vector.dot(vector))
