# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One body in its visco-elastic feedback: the memory D and Φ, its force and couple, and its part of v, H (15).

What the body's springs have stored, less ε. With feedback of the centre of mass the force acts at R but does work as if
at the centre of mass; ε is what so goes over from translation to rotation, H (14): ε̇ = Wᵀ Ř Aᵀ Λ. With feedback of the
point R there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw, angle_rates, angles_of, attitude, cross
from mbsim_ros.control.viscoelastic.parameters import NEAREST


class BodyMotion(NamedTuple):
    """Where a link is and how it moves: A, from the link to the world, and of its centre of mass X, V; W in the link.

    origin (3,) and centre (3,): of the link in the world, and of the mass in the link.
    """

    A: np.ndarray
    X: np.ndarray
    V: np.ndarray
    W: np.ndarray
    origin: np.ndarray
    centre: np.ndarray


class Held(NamedTuple):
    """How a body is held: its angles (3,), R (3,), the weight (3,) that it carries, and as the parameters say."""

    law: ViscoelasticLaw
    angles: np.ndarray
    point: np.ndarray
    weight: np.ndarray
    carries_weight: bool
    follows_point: bool
    by_rates: bool
    only_pushes: bool


class _Last(NamedTuple):
    """Of the last update: time [s], place, its rate, angles, W, the moment of the force about the centre of mass."""

    t: float
    x: np.ndarray
    V: np.ndarray
    angles: np.ndarray
    W: np.ndarray
    moment: np.ndarray


class HeldBody:
    """H (3) or (12) for one body. Places count from where the springs are at rest, as H's X does."""

    def __init__(self, link: str, held: Held, place: np.ndarray | None):
        """place: where the centre of mass is held (3,), None for where it is at first."""
        self.link = link
        self.configure(held)
        self.reset(place)

    def configure(self, held: Held) -> None:
        """Go on in another way; D, Φ and ε stay."""
        self.held = held
        self.sagging = held.law.sagging(held.weight)  # X and D that the weight leaves

    def reset(self, place: np.ndarray | None) -> None:
        """Begin anew: D and Φ will be in balance between their springs where the body is at first."""
        self.place = place
        self._last: _Last | None = None
        self.D, self.Phi, self._turns = np.zeros(3), np.zeros(3), np.zeros(3)
        self.transferred = 0.0  # ε
        self.stands, self._is_clear = True, False

    def update(self, t: float, motion: BodyMotion) -> np.ndarray:
        """Force and torque (6,) at the origin of the link, in its axes, for its motion at t [s]."""
        law, held, W, last = self.held.law, self.held, motion.W, self._last
        if held.by_rates and last is not None and t > last.t:
            A, x, V, angles = self._from_rates(t - last.t, last, motion)
        else:
            A, x, V, angles = self._from_pose(motion)
        self._follow(t, x, angles, W)
        force = law.force(x, V, self.D)
        if held.only_pushes:
            self._step_or_fly(force[2] > 0.0, x[2] > self.D[2])
            force = force if self.stands else np.zeros(3)
        in_body = A.T @ force
        moment = cross(held.point, in_body)
        self._last = _Last(t, x, V, angles, W.copy(), moment)
        torque = law.couple(angles, W, self.Phi) + moment + cross(motion.centre, in_body)
        return np.concatenate([in_body, torque])

    def _from_pose(self, motion: BodyMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A, the place that is fed back, its rate, and the angles."""
        held, A = self.held, motion.A
        if self.place is None:
            self.place = motion.X.copy()
        x, V = motion.X - self.place, motion.V
        if held.carries_weight:
            x = x + self.sagging[0]
        if held.follows_point:  # XC, from where it is when the body is as it is held: H (10)
            x = x + A @ held.point - attitude(held.angles) @ held.point
            V = V + A @ cross(motion.W, held.point)
        return A, x, V, self._continued(angles_of(attitude(held.angles).T @ A))

    def _from_rates(
        self, h: float, last: _Last, motion: BodyMotion
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The same without the pose: β̇ + KT_a Ḋ = KT_a V and τ̇ + KR_a α Φ̇ = KR_a B W, H (5), (8), say how X and Θ go.

        By the trapezoidal rule over h [s]; velocities are those in the axes of the body, as it feels them.
        """
        held = self.held
        rate = angle_rates(last.angles) @ last.W
        angles = last.angles + 0.5 * h * (rate + angle_rates(last.angles + h * rate) @ motion.W)
        A = attitude(held.angles) @ attitude(angles)
        V = motion.A.T @ motion.V
        if held.follows_point:
            V = V + cross(motion.W, held.point)
        V = A @ V
        return A, last.x + 0.5 * h * (last.V + V), V, self._regular(angles)

    @property
    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """β = KT_a (X − D) and τ = KR_a (Θ − α Φ), (3,) each: the states of H (4), (7) in place of X and Θ."""
        if self._last is None:
            return np.zeros(3), np.zeros(3)
        law, last = self.held.law, self._last
        return law.KTa @ (last.x - self.D), law.KRa @ (last.angles - law.alpha @ self.Phi)

    @property
    def stored(self) -> float:
        """What its springs have stored beyond what they hold at rest, less ε [J]; 0 before the first update."""
        if self._last is None:
            return 0.0
        law, x, D = self.held.law, self._last.x, self.D
        across = x if self.stands else D  # in the air the upper spring is slack
        place = law.place_energy(across, D) - law.place_energy(*self.sagging)
        return place + law.turn_energy(self._last.angles, self.Phi) - self.transferred

    def energy_at_rest(self) -> float:
        """Potential energy of its weight where it is at rest [J]."""
        held = self.held
        place = np.zeros(3) if self.place is None else self.place
        at_rest = place if held.carries_weight else place + self.sagging[0]
        return float(-held.weight @ at_rest)

    def _step_or_fly(self, is_pushed: bool, is_above: bool) -> None:
        """Lift off when the force would pull; touch down when the support is reached from above: H 4.2."""
        if self.stands:
            self.stands, self._is_clear = is_pushed, False
        else:
            self.stands = self._is_clear and not is_above
            self._is_clear = self._is_clear or is_above

    def _continued(self, angles: np.ndarray) -> np.ndarray:
        """The angles without jumps by a whole turn."""
        if self._last is not None:
            self._turns += 2.0 * np.pi * np.round((self._last.angles - angles - self._turns) / (2.0 * np.pi))
        return self._regular(angles) + self._turns

    def _regular(self, angles: np.ndarray) -> np.ndarray:
        """The same angles; ValueError where they are singular."""
        if abs(np.cos(angles[1])) < NEAREST:
            raise ValueError(
                f"angles: {self.link} is turned by {np.degrees(angles[1]):.1f}° about its second axis from the "
                "attitude that is held; near ±90° this feedback is singular: hold another attitude"
            )
        return angles

    def _follow(self, t: float, x: np.ndarray, angles: np.ndarray, W: np.ndarray) -> None:
        """Bring D, Φ and ε from the last update to this one."""
        last = self._last
        if last is None:
            self.D, self.Phi = self.held.law.balanced(x, angles)
            return
        if t <= last.t:
            return
        h = t - last.t
        before, now = np.concatenate([last.x, last.angles]), np.concatenate([x, angles])
        memory = self.held.law.memory_after(h, np.concatenate([self.D, self.Phi]), before, now)
        self.D = memory[:3] if self.stands else self.held.law.support_alone(h, self.D)
        self.Phi = memory[3:]
        if not self.held.follows_point:
            self.transferred += 0.5 * h * float(last.moment @ (last.W + W))  # H (14), the force is held in the body
