# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One rigid body with its visco-elastic feedback: augmented state spaces of H section 2, energies of section 3."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw, angle_rates, attitude, cross

# Entries of a state: place, velocity and D, angles, angular velocity and Φ, three each.
PLACE, VELOCITY, SUPPORT, ANGLES, TURN, PHI = (slice(3 * k, 3 * k + 3) for k in range(6))
STATES = 18


@dataclass(frozen=True)
class HemamiBody:
    """A body of H: mass, moments of inertia (3,), gravity (3,), where the force acts R (3,), its feedback.

    follows: whether place is fed back of the "centre" of mass, as in H (3) and (21), or of the "point" R, (11), (12).
    """

    mass: float
    moments: np.ndarray = field(repr=False)
    gravity: np.ndarray = field(repr=False)
    R: np.ndarray = field(repr=False)
    law: ViscoelasticLaw = field(repr=False)
    follows: str = "centre"

    def rates(self, z: np.ndarray, outside: np.ndarray | None = None, at: np.ndarray | None = None) -> np.ndarray:
        """Ż (18,) of H (1), (3) with Z = (X, V, D, Θ, W, Φ); outside: a force (3,) in the world at a point (3,)."""
        A = attitude(z[ANGLES])
        W = z[TURN]
        force = self.force(z)
        torque = cross(self.R, A.T @ force)
        push = self.mass * self.gravity + force
        if outside is not None and at is not None:
            push = push + outside
            torque = torque + cross(at, A.T @ outside)
        followed = z[PLACE] + A @ self.R if self.follows == "point" else z[PLACE]
        f = -cross(W, self.moments * W)  # H (2)
        result = np.empty(STATES)
        result[PLACE] = z[VELOCITY]
        result[VELOCITY] = push / self.mass
        result[SUPPORT] = self.law.place_rate(followed, z[SUPPORT])
        result[ANGLES] = angle_rates(z[ANGLES]) @ W
        result[TURN] = (f + self.law.couple(z[ANGLES], W, z[PHI]) + torque) / self.moments
        result[PHI] = self.law.angle_rate(z[ANGLES], z[PHI])
        return result

    def force(self, z: np.ndarray) -> np.ndarray:
        """Λ (3,)."""
        if self.follows == "centre":
            return self.law.force(z[PLACE], z[VELOCITY], z[SUPPORT])
        A = attitude(z[ANGLES])
        velocity = z[VELOCITY] - A @ cross(self.R, z[TURN])
        return self.law.force(z[PLACE] + A @ self.R, velocity, z[SUPPORT])  # H (12)

    def transferred_power(self, z: np.ndarray) -> float:
        """ε̇ = Wᵀ Ř Aᵀ Λ, H (14): from translation to rotation."""
        return float(z[TURN] @ cross(self.R, attitude(z[ANGLES]).T @ self.force(z)))

    # ---- the point R in place of the centre of mass, H (10), (11), (21) ----

    def to_point(self, z: np.ndarray) -> np.ndarray:
        """The state with XC, VC of the point R in place of X, V: H (10)."""
        A = attitude(z[ANGLES])
        moved = z.copy()
        moved[PLACE] += A @ self.R
        moved[VELOCITY] -= A @ cross(self.R, z[TURN])
        return moved

    def from_point(self, y: np.ndarray) -> np.ndarray:
        """The inverse of `to_point`."""
        A = attitude(y[ANGLES])
        moved = y.copy()
        moved[PLACE] -= A @ self.R
        moved[VELOCITY] += A @ cross(self.R, y[TURN])
        return moved

    def point_rates(self, y: np.ndarray) -> np.ndarray:
        """ẏ (18,) of H (11), (21) with y = (XC, VC, D, Θ, W, Φ) and the sign of N as in H (1)."""
        A, W = attitude(y[ANGLES]), y[TURN]
        z = self.from_point(y)
        force = self.force(z)
        of_turn = -cross(W, self.moments * W) + self.law.couple(y[ANGLES], W, y[PHI])
        of_turn = (of_turn + cross(self.R, A.T @ force)) / self.moments
        result = np.empty(STATES)
        result[PLACE] = y[VELOCITY]
        result[VELOCITY] = force / self.mass + self.gravity + A @ cross(W, cross(W, self.R))
        result[VELOCITY] -= A @ cross(self.R, of_turn)
        result[SUPPORT] = self.law.place_rate(y[PLACE] if self.follows == "point" else z[PLACE], y[SUPPORT])
        result[ANGLES] = angle_rates(y[ANGLES]) @ W
        result[TURN] = of_turn
        result[PHI] = self.law.angle_rate(y[ANGLES], y[PHI])
        return result

    # ---- forces in place of place and angles, H (4)–(9) ----

    def to_forces(self, z: np.ndarray) -> np.ndarray:
        """The state with β = KT_a (X − D) in place of X, τ = KR_a (Θ − α Φ) in place of Θ: H (4), (7)."""
        law, moved = self.law, z.copy()
        moved[PLACE] = law.KTa @ (z[PLACE] - z[SUPPORT])
        moved[ANGLES] = law.KRa @ (z[ANGLES] - law.alpha @ z[PHI])
        return moved

    def from_forces(self, y: np.ndarray) -> np.ndarray:
        """The outputs X = KT_a⁻¹β + D, Θ = KR_a⁻¹τ + α Φ, H (6), (9), in place of β, τ."""
        law, moved = self.law, y.copy()
        moved[PLACE] = np.linalg.solve(law.KTa, y[PLACE]) + y[SUPPORT]
        moved[ANGLES] = np.linalg.solve(law.KRa, y[ANGLES]) + law.alpha @ y[PHI]
        return moved

    def force_rates(self, y: np.ndarray) -> np.ndarray:
        """ẏ (18,) of H (5), (8), R = 0, with y = (β, V, D, τ, W, Φ)."""
        if self.R.any() or self.follows != "centre":
            raise ValueError(f"R: expected zeros, for which H (5), (8) are written, got {self.R}")
        law, W, angles = self.law, y[TURN], np.linalg.solve(self.law.KRa, y[ANGLES]) + self.law.alpha @ y[PHI]
        B = angle_rates(angles)
        result = np.empty(STATES)
        result[SUPPORT] = np.linalg.solve(law.LTb, y[PLACE] - law.KTb @ y[SUPPORT])
        result[PLACE] = law.KTa @ (y[VELOCITY] - result[SUPPORT])
        result[VELOCITY] = self.gravity - (y[PLACE] + law.LTa @ y[VELOCITY]) / self.mass
        result[PHI] = np.linalg.solve(law.LRb, y[ANGLES] - law.KRb @ y[PHI])
        result[ANGLES] = law.KRa @ (B @ W - law.alpha @ result[PHI])
        couple = -B.T @ y[ANGLES] - law.LRa @ W  # H (6)
        result[TURN] = (-cross(W, self.moments * W) + couple) / self.moments
        return result

    # ---- energies ----

    def sagging(self) -> tuple[np.ndarray, np.ndarray]:
        """X (3,) and D (3,) at rest."""
        return self.law.sagging(self.mass * self.gravity)

    def energies(self, z: np.ndarray) -> tuple[float, float]:
        """v_T and v_R, H (13) with α, (23), (24): kinetic and elastic energy over that of the body at rest [J]."""
        law = self.law
        X0, D0 = self.sagging()
        across = z[PLACE] - z[SUPPORT] - (X0 - D0)
        below = z[SUPPORT] - D0
        turned, Phi, W, V = z[ANGLES] - law.alpha @ z[PHI], z[PHI], z[TURN], z[VELOCITY]
        of_place = 0.5 * (self.mass * V @ V + across @ law.KTa @ across + below @ law.KTb @ below)
        of_turn = 0.5 * (self.moments @ W**2 + turned @ law.KRa @ turned + Phi @ law.alpha @ law.KRb @ Phi)
        return float(of_place), float(of_turn)

    def dissipation(self, z: np.ndarray) -> float:
        """−v̇ = VᵀLT_aV + ḊᵀLT_bḊ + WᵀLR_aW + Φ̇ᵀ α LR_b Φ̇, with feedback of the centre of mass [W]."""
        law, V, W = self.law, z[VELOCITY], z[TURN]
        D_rate, Phi_rate = law.place_rate(z[PLACE], z[SUPPORT]), law.angle_rate(z[ANGLES], z[PHI])
        of_place = V @ law.LTa @ V + D_rate @ law.LTb @ D_rate
        return float(of_place + W @ law.LRa @ W + Phi_rate @ law.alpha @ law.LRb @ Phi_rate)
