# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's visco-elastic feedback of one rigid body, H (3): two springs in series and dampers, for place and attitude.

The body's centre of mass X is held through a point D, its angles Θ through angles Φ, which are states of the feedback:

    Λ = −KT_a (X − D) − LT_a V                 force, in the world
    LT_b Ḋ = KT_a (X − D) − KT_b D
    N = −B(Θ)ᵀ KR_a (Θ − α Φ) − LR_a W         couple, in the body
    LR_b Φ̇ = KR_a (Θ − α Φ) − KR_b Φ

Θ are the angles of A = A₁(θ₁) A₂(θ₂) A₃(θ₃), H (25), about x, then y, then z of the body; W is the angular velocity in
the body, and Θ̇ = B(Θ) W. H 2.2 has α = 1, H (21), (22) have α = 0.2 I.

With feedback of a point of contact X is that point, H (12). The springs store, H (13) with α, ERRATA B4,

    ½ (X − D)ᵀ KT_a (X − D) + ½ Dᵀ KT_b D    and    ½ (Θ − αΦ)ᵀ KR_a (Θ − αΦ) + ½ Φᵀ α KR_b Φ
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import expm

GAINS = ("KTa", "KTb", "LTa", "LTb", "KRa", "KRb", "LRa", "LRb")
MOST_STEPS = 100  # lengths of steps whose matrices are kept


def attitude(angles: np.ndarray) -> np.ndarray:
    """A(Θ) (3, 3), H (25): from the body to the world."""
    (c1, c2, c3), (s1, s2, s3) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [c2 * c3, -c2 * s3, s2],
            [c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2],
            [s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2],
        ]
    )


def angles_of(A: np.ndarray) -> np.ndarray:
    """Θ (3,) of a rotation (3, 3), θ₂ within ±π/2; where it is ±π/2 only θ₁ ± θ₃ has a meaning, and θ₁ is 0."""
    c2 = np.hypot(A[0, 0], A[0, 1])
    second = np.arctan2(A[0, 2], c2)
    if c2 < 1e-12:
        return np.array([0.0, second, np.arctan2(A[1, 0], A[1, 1])])
    return np.array([np.arctan2(-A[1, 2], A[2, 2]), second, np.arctan2(-A[0, 1], A[0, 0])])


def angle_rates(angles: np.ndarray) -> np.ndarray:
    """B(Θ) (3, 3), H (26): Θ̇ = B W; singular at θ₂ = ±π/2."""
    c2, c3 = np.cos(angles[1:])
    s2, s3 = np.sin(angles[1:])
    return np.array([[c3 / c2, -s3 / c2, 0.0], [s3, c3, 0.0], [-s2 * c3 / c2, s2 * s3 / c2, 1.0]])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Ǎ b (3,), H (27): np.cross takes ten times as long."""
    (ax, ay, az), (bx, by, bz) = a, b
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


@dataclass(frozen=True)
class ViscoelasticLaw:
    """The eight gains of H (3), positive definite (3, 3), or (3,) for diagonal ones; alpha: (3, 3) or (3,)."""

    KTa: np.ndarray = field(repr=False)
    KTb: np.ndarray = field(repr=False)
    LTa: np.ndarray = field(repr=False)
    LTb: np.ndarray = field(repr=False)
    KRa: np.ndarray = field(repr=False)
    KRb: np.ndarray = field(repr=False)
    LRa: np.ndarray = field(repr=False)
    LRb: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(default_factory=lambda: np.ones(3), repr=False)
    followers: tuple[tuple[np.ndarray, np.ndarray], ...] = field(init=False, repr=False)
    _steps: dict[float, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in GAINS:
            object.__setattr__(self, name, _positive(name, getattr(self, name)))
        object.__setattr__(self, "alpha", _matrix("alpha", self.alpha))
        by_place, by_turn = np.linalg.inv(self.LTb), np.linalg.inv(self.LRb)
        place = by_place @ self.KTa, by_place @ (self.KTa + self.KTb)
        turn = by_turn @ self.KRa, by_turn @ (self.KRa @ self.alpha + self.KRb)
        object.__setattr__(self, "followers", (place, turn))

    @property
    def place_follower(self) -> tuple[np.ndarray, np.ndarray]:
        """P, Q (3, 3) of Ḋ = P X − Q D."""
        return self.followers[0]

    @property
    def turn_follower(self) -> tuple[np.ndarray, np.ndarray]:
        """P, Q (3, 3) of Φ̇ = P Θ − Q Φ."""
        return self.followers[1]

    def force(self, X: np.ndarray, V: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Λ (3,), in the world."""
        return np.asarray(-self.KTa @ (X - D) - self.LTa @ V)

    def couple(self, angles: np.ndarray, W: np.ndarray, Phi: np.ndarray) -> np.ndarray:
        """N (3,), in the body."""
        return np.asarray(-angle_rates(angles).T @ (self.KRa @ (angles - self.alpha @ Phi)) - self.LRa @ W)

    def place_rate(self, X: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Ḋ (3,)."""
        P, Q = self.place_follower
        return np.asarray(P @ X - Q @ D)

    def angle_rate(self, angles: np.ndarray, Phi: np.ndarray) -> np.ndarray:
        """Φ̇ (3,)."""
        P, Q = self.turn_follower
        return np.asarray(P @ angles - Q @ Phi)

    def place_energy(self, X: np.ndarray, D: np.ndarray) -> float:
        """What both springs of place store [J]."""
        across = X - D
        return float(0.5 * (across @ self.KTa @ across + D @ self.KTb @ D))

    def turn_energy(self, angles: np.ndarray, Phi: np.ndarray) -> float:
        """What both springs of angles store [J]."""
        across = angles - self.alpha @ Phi
        return float(0.5 * (across @ self.KRa @ across + Phi @ self.alpha @ self.KRb @ Phi))

    def balanced(self, X: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D (3,) and Φ (3,) that stay where they are."""
        (P1, Q1), (P2, Q2) = self.followers
        return np.linalg.solve(Q1, P1 @ X), np.linalg.solve(Q2, P2 @ angles)

    def memory_after(self, h: float, memory: np.ndarray, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """(D, Φ) (6,) after h [s] in which (X, Θ) (6,) went straight from one value to the other: exact."""
        of_state, of_input = self._step(round(h, 9))
        return np.asarray(of_state @ memory + of_input @ np.concatenate([before, now - before]))

    def support_alone(self, h: float, D: np.ndarray) -> np.ndarray:
        """D (3,) after h [s] in which nothing but its own spring pulls at it: LT_b Ḋ = −KT_b D."""
        return np.asarray(expm(-h * np.linalg.solve(self.LTb, self.KTb)) @ D)

    def _step(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Over h [s], (D, Φ) becomes (6, 6) times itself plus (6, 12) times the input and its straight change."""
        if h not in self._steps:
            if len(self._steps) > MOST_STEPS:
                self._steps.clear()
            (P1, Q1), (P2, Q2) = self.followers
            nothing = np.zeros((3, 3))
            P, Q = np.block([[P1, nothing], [nothing, P2]]), np.block([[Q1, nothing], [nothing, Q2]])
            whole = np.zeros((18, 18))
            whole[:6, :6], whole[:6, 6:12], whole[6:12, 12:] = -Q * h, P * h, np.eye(6)
            exponential = expm(whole)
            self._steps[h] = exponential[:6, :6], exponential[:6, 6:]
        return self._steps[h]

    def sagging(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X (3,) and D (3,) at rest under a weight (3,): where H's remark 4 puts the state because of gravity."""
        D = np.linalg.solve(self.KTb, weight)
        return np.linalg.solve(self.KTa, weight) + D, D


def _positive(name: str, value: object) -> np.ndarray:
    matrix = _matrix(name, value)
    if not is_positive(matrix):
        raise ValueError(f"{name}: expected a symmetric positive definite matrix, got {np.asarray(value).tolist()}")
    return matrix


def is_positive(matrix: np.ndarray, *, semidefinite: bool = False) -> bool:
    """Whether a matrix is symmetric and positive definite, or semidefinite."""
    if np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
        return False
    least = float(np.linalg.eigvalsh(matrix)[0])
    return least >= -1e-12 * float(np.abs(matrix).max()) if semidefinite else least > 0.0


def rows_of(name: str, values: tuple[float, ...]) -> np.ndarray:
    """A (3, 3) matrix from 3 numbers, its diagonal, or 9, its rows."""
    if len(values) not in (3, 9):
        raise ValueError(f"{name}: expected 3 numbers, the diagonal, or 9, the rows of a matrix, got {len(values)}")
    given = np.array(values, dtype=float)
    return np.diag(given) if len(values) == 3 else given.reshape(3, 3)


def _matrix(name: str, value: object) -> np.ndarray:
    given = np.asarray(value, dtype=float)
    if given.shape not in ((3,), (3, 3)) or not np.isfinite(given).all():
        raise ValueError(f"{name}: expected 3 finite numbers or a 3 x 3 matrix, got {value!r}")
    return np.diag(given) if given.ndim == 1 else given.copy()
