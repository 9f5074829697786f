# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's visco-elastic feedback as a controller of any floating base: a wrench on it, as if springs held it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import expm

from mbsim_ros.control.command import WRENCH, Command
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw, angles_of, attitude, cross
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import CENTRE, Model

NEAREST = 0.02  # of cos θ₂: nearer than this to θ₂ = ±π/2 the angles mean nothing
THREE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ViscoelasticParameters(ValidatedParameters):
    """The diagonals of H's matrices, and where the base is held. The defaults are those of H's simulations."""

    position: tuple[float, ...] = parameter(
        (), "Where the centre of mass of the base is held, in the world; empty: where it is at first.", "m"
    )
    angles: tuple[float, ...] = parameter(THREE, "Attitude that is held, turns about x, y, z of the base.", "rad")
    point: tuple[float, ...] = parameter(
        THREE, "R: where the force acts, from the centre of mass, in the axes of the base.", "m"
    )
    KTa: tuple[float, ...] = parameter((4100.0, 4100.0, 3280.0), "Stiffness of place, upper spring.", "N/m", lower=1e-9)
    KTb: tuple[float, ...] = parameter((4100.0, 4100.0, 3280.0), "Stiffness of place, lower spring.", "N/m", lower=1e-9)
    LTa: tuple[float, ...] = parameter((200.0, 200.0, 140.0), "Damping of place.", "Ns/m", lower=1e-9)
    LTb: tuple[float, ...] = parameter((200.0, 200.0, 140.0), "Damping of the lower spring.", "Ns/m", lower=1e-9)
    KRa: tuple[float, ...] = parameter(
        (4100.0, 4100.0, 3280.0), "Stiffness of angles, upper spring.", "Nm/rad", lower=1e-9
    )
    KRb: tuple[float, ...] = parameter(
        (4100.0, 4100.0, 3280.0), "Stiffness of angles, lower spring.", "Nm/rad", lower=1e-9
    )
    LRa: tuple[float, ...] = parameter((60.0, 60.0, 42.0), "Damping of the rotation.", "Nms/rad", lower=1e-9)
    LRb: tuple[float, ...] = parameter((600.0, 600.0, 420.0), "Damping of the lower spring.", "Nms/rad", lower=1e-9)
    alpha: float = parameter(1.0, "By how much Φ pulls at the angles.", "", lower=0.0, upper=1.0)
    carry_weight: bool = parameter(
        True, "Whether the springs are biased so that the weight does not pull the base down."
    )
    gravity: float = parameter(9.81, "Acceleration, downwards.", "m/s²", lower=0.0, upper=100.0)


class ViscoelasticController:
    """H (3) on the base of a robot: Λ at the point R and N, as one wrench at the origin of the base.

    The states D and Φ of the feedback are its memory. They follow their linear equations exactly for a place and angles
    that go straight from one update to the next. Between updates the wrench is held in the axes of the base.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = ViscoelasticParameters
    commands: ClassVar[tuple[str, ...]] = (WRENCH,)
    needed_joints: tuple[str, ...] = ()

    def __init__(self, model: Model, parameters: ViscoelasticParameters | None = None):
        if not model.is_floating:
            raise ValueError(f"model: expected a floating base, got '{model.name}', whose base is fixed")
        self.link = model.body_names[0]
        self._mass = model.mass
        self._centre = np.array(model.constants[0, CENTRE : CENTRE + 3])
        self._place: np.ndarray | None = None
        self.configure(ViscoelasticParameters() if parameters is None else parameters)
        self.reset()

    def configure(self, parameters: ViscoelasticParameters) -> None:
        """Go on with other parameters; D and Φ stay."""
        given = {name: _three(name, getattr(parameters, name)) for name in _GAINS}
        angles, point = _three("angles", parameters.angles), _three("point", parameters.point)
        place = _three("position", parameters.position) if parameters.position else None
        if abs(np.cos(angles[1])) < NEAREST:
            raise ValueError(f"angles: expected the second away from ±π/2, where the angles mean nothing, got {angles}")
        self.law = ViscoelasticLaw(**given, alpha=np.full(3, parameters.alpha))
        if place is not None:
            self._place = place
        self._wanted, self._point = angles, point
        weight = np.array([0.0, 0.0, -parameters.gravity * self._mass]) if parameters.carry_weight else np.zeros(3)
        self._sagging, self._sagging_support = self.law.sagging(weight)
        self._steps: dict[float, tuple[np.ndarray, np.ndarray]] = {}
        self.parameters = parameters

    def reset(self) -> None:
        """Begin anew: the support is where the weight holds it, Φ where the angles hold it."""
        given = self.parameters.position
        self._place = _three("position", given) if given else None
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self.D, self.Phi = self._sagging_support.copy(), np.zeros(3)
        self._turns = np.zeros(3)

    def update(self, t: float, state: RobotState) -> Command:
        """The wrench on the base for the state at t [s]."""
        A = np.asarray(quaternion.to_matrix(quaternion.from_ros(state.q[3:7])))
        X, V = self._centre_of_mass(A, state)
        if self._place is None:
            self._place = X
        x = X - self._place + self._sagging
        angles = self._continued(angles_of(attitude(self._wanted).T @ A))
        self._follow(t, x, angles)
        force = A.T @ self.law.force(x, V, self.D)
        torque = self.law.couple(angles, state.v[3:6], self.Phi) + cross(self._point + self._centre, force)
        return Command(wrench={self.link: np.concatenate([force, torque])})

    def _centre_of_mass(self, A: np.ndarray, state: RobotState) -> tuple[np.ndarray, np.ndarray]:
        """X and V (3,) of the base, in the world."""
        v, W = state.v[:3], state.v[3:6]
        return state.q[:3] + A @ self._centre, A @ (v + cross(W, self._centre))

    def _continued(self, angles: np.ndarray) -> np.ndarray:
        """The angles without jumps by a whole turn; ValueError where they are singular."""
        if abs(np.cos(angles[1])) < NEAREST:
            raise ValueError(
                f"angles: the base is turned by {np.degrees(angles[1]):.1f}° about its second axis from the attitude "
                "that is held; near ±90° this feedback is singular: hold another attitude"
            )
        if self._last is not None:
            before = self._last[2]
            self._turns += 2.0 * np.pi * np.round((before - angles - self._turns) / (2.0 * np.pi))
        return angles + self._turns

    def _follow(self, t: float, x: np.ndarray, angles: np.ndarray) -> None:
        """Bring D and Φ from the last update to this one."""
        if self._last is not None and t > self._last[0]:
            h = t - self._last[0]
            before = np.concatenate([self._last[1], self._last[2]])
            now = np.concatenate([x, angles])
            of_state, of_input = self._step(round(h, 9))
            both = of_state @ np.concatenate([self.D, self.Phi]) + of_input @ np.concatenate([before, now - before])
            self.D, self.Phi = both[:3], both[3:]
        self._last = t, x, angles

    def _step(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Over h [s], (D, Φ) becomes (6, 6) times itself plus (6, 12) times the input and its straight change."""
        if h not in self._steps:
            if len(self._steps) > 100:
                self._steps.clear()
            (P1, Q1), (P2, Q2) = self.law.followers
            nothing = np.zeros((3, 3))
            P, Q = np.block([[P1, nothing], [nothing, P2]]), np.block([[Q1, nothing], [nothing, Q2]])
            whole = np.zeros((18, 18))
            whole[:6, :6], whole[:6, 6:12], whole[6:12, 12:] = -Q * h, P * h, np.eye(6)
            exponential = expm(whole)
            self._steps[h] = exponential[:6, :6], exponential[:6, 6:]
        return self._steps[h]


_GAINS = ("KTa", "KTb", "LTa", "LTb", "KRa", "KRb", "LRa", "LRb")


def _three(name: str, values: tuple[float, ...]) -> np.ndarray:
    if len(values) != 3:
        raise ValueError(f"{name}: expected 3 numbers, got {len(values)}")
    return np.array(values, dtype=float)
