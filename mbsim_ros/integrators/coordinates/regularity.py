# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The constants of K's Assumption 1, (26)–(29), of a few revolute joints, found by searching their configurations.

They are suprema over all configurations and directions. A search finds lower bounds of them, which are the suprema
themselves where it has found the right hill; for a few joints, started from many places, it does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.integrators.coordinates.derivatives import refuse_other_joints
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.step_bound import Regularity
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import KIND, Model

MOST_JOINTS = 4
PLACES = 300  # configurations that a search looks at
HILLS = 3  # of which the best are climbed
ROUNDS = 100  # of the power method, at most


class MassSeries:
    """The mass matrix as the finite Fourier series that it is: Σ C_k exp(i k·q), every entry of k from −2 to 2."""

    def __init__(self, model: Model):
        refuse_other_joints(model)
        n = model.nv
        if not (model.topology[:, KIND] == REVOLUTE).all() or n > MOST_JOINTS:
            raise UnsupportedModel(
                f"'{model.name}': expected at most {MOST_JOINTS} joints, all revolute; a prismatic joint makes the "
                "mass matrix unbounded, and the series of many joints is long"
            )
        angles = 2.0 * np.pi / 5.0 * np.array(list(itertools.product(range(5), repeat=n)))
        values = np.array([mass_matrix(model, q) for q in angles]).reshape(*(5,) * n, n, n)
        self._coefficients = np.fft.fftn(values, axes=range(n)).reshape(-1, n, n) / 5.0**n
        frequencies = np.fft.fftfreq(5, 0.2)
        self._waves = np.array(list(itertools.product(frequencies, repeat=n)))

    def value(self, q: np.ndarray) -> np.ndarray:
        """M (n, n)."""
        return np.asarray(np.einsum("kab,k->ab", self._coefficients, self._phases(q)).real)

    def slopes(self, q: np.ndarray) -> np.ndarray:
        """∂M/∂q_i (n, n, n), i first."""
        weights = 1j * self._phases(q)[:, None] * self._waves
        return np.asarray(np.einsum("kab,ki->iab", self._coefficients, weights).real)

    def curvatures(self, q: np.ndarray) -> np.ndarray:
        """∂²M/∂q_i∂q_j (n, n, n, n), i and j first."""
        weights = -self._phases(q)[:, None, None] * self._waves[:, :, None] * self._waves[:, None, :]
        return np.asarray(np.einsum("kab,kij->ijab", self._coefficients, weights).real)

    def _phases(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(1j * (self._waves @ q)))


def search_regularity(model: Model, *, seed: int = 0) -> Regularity:
    """m₁, m₂, ℓ₀, ℓ₁, ℓ₂ of a model of revolute joints without forces that depend on velocity.

    ℓ₀ = ℓ₁: both are the largest Σ wᵢ zᵀ ∂ᵢM v over unit w, z, v, (27) with the norm of a symmetric matrix and (28).
    """
    series, rng = MassSeries(model), np.random.default_rng(seed)
    places = rng.uniform(-np.pi, np.pi, (PLACES, model.nv))
    # Vectors to begin with, the same at every place, so that the norm is a function of q and of nothing else.
    starts = rng.normal(size=(4, 4 * model.nv, model.nv))

    def eigenvalues(q: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.eigvalsh(series.value(q)))

    l1 = _highest(lambda q: multilinear_norm(series.slopes(q), starts), places)
    return Regularity(
        m1=-_highest(lambda q: -float(eigenvalues(q)[0]), places),
        m2=_highest(lambda q: float(eigenvalues(q)[-1]), places),
        l0=l1,
        l1=l1,
        l2=_highest(lambda q: multilinear_norm(series.curvatures(q), starts), places),
    )


def multilinear_norm(T: np.ndarray, starts: np.ndarray) -> float:
    """The largest value of a form T (n, n, …) over unit vectors, one for each index; starts: (indices, tries, n).

    By the power method: each vector in turn becomes the best for the others, so the value only grows.
    """
    letters = "abcd"[: T.ndim]
    vectors = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in starts[: T.ndim]]
    best = 0.0
    for _ in range(ROUNDS):
        for index in range(T.ndim):
            others = [k for k in range(T.ndim) if k != index]
            rule = f"{letters},{','.join('t' + letters[k] for k in others)}->t{letters[index]}"
            directions = np.einsum(rule, T, *(vectors[k] for k in others))
            lengths = np.linalg.norm(directions, axis=1, keepdims=True)
            vectors[index] = directions / np.maximum(lengths, 1e-300)
        longest = float(lengths.max())
        if longest <= best * (1.0 + 1e-12):
            break
        best = longest
    return max(best, longest)


def _highest(function: Callable[[np.ndarray], float], places: np.ndarray) -> float:
    """The highest value that is found from these places (tries, n)."""
    values = np.array([function(q) for q in places])
    best = float(values.max())
    for start in places[np.argsort(values)[-HILLS:]]:
        climbed = minimize(
            lambda q: -function(q), start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13, "maxfev": 300}
        )
        best = max(best, -float(climbed.fun))
    return best
