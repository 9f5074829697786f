# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gauss points and what collocation makes of them (Hairer, Lubich & Wanner, Geometric Numerical Integration, II.1)."""

from __future__ import annotations

import numpy as np


def gauss_points(stages: int) -> tuple[np.ndarray, np.ndarray]:
    """Points c and weights b (stages,) on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(stages)
    return 0.5 * (1.0 + x), 0.5 * w


def lagrange(nodes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """l_j(at_i): how the polynomial through values at the nodes is read elsewhere."""
    found = np.ones((len(at), len(nodes)))
    for j, node in enumerate(nodes):
        for other in np.delete(nodes, j):
            found[:, j] *= (at - other) / (node - other)
    return found


def integrals(nodes: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """∫ l_j from 0 to each end: a_ij where the ends are the nodes."""
    x, w = gauss_points(len(nodes))  # exact for these polynomials
    return np.array([w @ lagrange(nodes, end * x) * end for end in ends])
