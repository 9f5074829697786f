# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Mass, first moment and inertia of a rigid body about any point, and how they move between frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.model.description import Inertial


@dataclass(frozen=True)
class SpatialInertia:
    """Inertia about a frame's origin in its axes: mass m, first moment m·c (3,), rotational inertia (3, 3)."""

    mass: float
    moment: np.ndarray
    inertia: np.ndarray

    @staticmethod
    def zero() -> SpatialInertia:
        """Inertia of nothing."""
        return SpatialInertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def of_link(inertial: Inertial | None) -> SpatialInertia:
        """About the link's origin, from what the URDF gives about the centre of mass."""
        if inertial is None:
            return SpatialInertia.zero()
        X = inertial.origin.matrix()
        R, c, m = X[:3, :3], X[:3, 3], inertial.mass
        about_com = R @ inertial.inertia @ R.T
        return SpatialInertia(m, m * c, about_com + m * (c @ c * np.eye(3) - np.outer(c, c)))

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        return SpatialInertia(self.mass + other.mass, self.moment + other.moment, self.inertia + other.inertia)

    def expressed_in(self, X: np.ndarray) -> SpatialInertia:
        """About the origin and in the axes of frame A, for X = X_AB (4, 4) and this inertia given in B."""
        R, p, m = X[:3, :3], X[:3, 3], self.mass
        h = R @ self.moment
        # Steiner without dividing by the mass, which may be zero:
        # I_A = R I Rᵀ + (2 h·p + m p·p) 1 − h pᵀ − p hᵀ − m p pᵀ
        shift = (2.0 * h @ p + m * p @ p) * np.eye(3) - np.outer(h, p) - np.outer(p, h) - m * np.outer(p, p)
        return SpatialInertia(m, h + m * p, R @ self.inertia @ R.T + shift)

    @property
    def centre(self) -> np.ndarray:
        """Centre of mass; the origin where there is no mass."""
        return self.moment / self.mass if self.mass != 0.0 else np.zeros(3)

    @property
    def central_inertia(self) -> np.ndarray:
        """Inertia about the centre of mass."""
        c = self.centre
        return self.inertia - self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def matrix(self) -> np.ndarray:
        """As a (6, 6) matrix on twists (v, ω)."""
        x, y, z = self.moment
        H = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.block([[self.mass * np.eye(3), -H], [H, self.inertia]])
