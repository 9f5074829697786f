# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A function means the same with symbols as with numbers."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from mbsim_ros.lagrangian.expressions import as_array, symbols, vector_of

M = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.5]])
X = np.array([0.7, -0.4, 1.2])
FUNCTIONS = {
    "products": lambda x: [x @ x, x @ M @ x, (M @ x) @ x, np.dot(x, M[0]), np.einsum("i,ij,j", x, M, x)],
    "a number and an array": lambda x: x[0] * x + x * x[1] - x / x[2] + x[0] / x - (x[0] - x) + (2 - x[1]),
    "an array of floats": lambda x: x[0] * M[1] + M[2] * x[0] + np.float64(3.0) * x + x * np.float64(0.5) + np.int64(2) * x,
    "powers": lambda x: [x[0] ** 2, x[2] ** 1.5, 2.0 ** x[1], x[0] ** x[1], (x**2).sum(), np.square(x[1]), x[0] ** -1],
    "signs": lambda x: [-x[0], +x[1], abs(x[1]), np.abs(x[1]), np.fabs(x[1]), *np.abs(x), *(-x)],
    "of one": lambda x: [f(x[0]) for f in (np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh)],
    "of one, more": lambda x: [f(x[0]) for f in (np.tanh, np.arcsinh, np.arctanh, np.exp, np.expm1, np.log, np.log1p)],
    "of arrays": lambda x: np.sin(x) * np.exp(-x) + np.sqrt(x * x) + np.log10(x + 2.0) + np.arccosh(x + 2.0),
    "of two": lambda x: [np.arctan2(x[0], x[1]), np.hypot(x[0], x[1]), np.arctan2(x[0], 2.0)],
    "vectors": lambda x: np.cross(x, M @ x) + np.cross(M[0], x) + np.outer(x, x) @ x,
    "lengths": lambda x: [np.linalg.norm(x), *np.linalg.norm(np.stack([x, M @ x]), axis=1), np.mean(x), x.sum()],
    "shapes": lambda x: np.concatenate([x[:1], x[::-1], x.reshape(3, 1).T[0], np.array([x[2], 1.0]), np.zeros(1)]),
    "a turn": lambda x: np.array([[np.cos(x[0]), -np.sin(x[0])], [np.sin(x[0]), np.cos(x[0])]]) @ x[1:],
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_symbols_do_what_numbers_do(function):
    x = symbols("x", 3)
    found = casadi.Function("found", [x], [vector_of("it", function, as_array(x))])(X)
    np.testing.assert_allclose(np.asarray(found).ravel(), np.asarray(function(X), dtype=float), rtol=1e-14)


def test_functions_of_casadi_take_them():
    x = symbols("x", 3)

    def function(x):
        return [casadi.if_else(x[0] > 0.5, x[1], 0.0), casadi.fmax(x[0], x[2]) + x[1], x[0] * casadi.sign(x[1])]

    found = casadi.Function("found", [x], [vector_of("it", function, as_array(x))])(X)
    np.testing.assert_allclose(np.asarray(found).ravel(), [-0.4, 0.8, -0.7], rtol=1e-14)
