# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Orders of the two schemes of K section 3, started by the discrete Legendre transform and as printed."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from mbsim_ros.integrators.rigid_body.cayley import CayleyRigidBody
from mbsim_ros.integrators.rigid_body.trapezoidal_lie_newmark import TrapezoidalLieNewmark
from mbsim_ros.lie import quaternion, so3
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.model import Model

MOMENTS = np.array([1.0, 2.0, 3.0])
VELOCITY = np.array([0.0, 3.0, 4.0])
DURATION = 2.0  # s
ORDER_STEPS = (0.02, 0.01, 0.005, 0.0025)
SCHEMES = {"Cayley": CayleyRigidBody, "trapezoidal Lie-Newmark": TrapezoidalLieNewmark}


def turning_body() -> Model:
    """A body of 1 kg with moments 1, 2, 3 kg m² on a ball joint in its centre of mass."""
    builder = ModelBuilder("turning_body").link("world").link("body", mass=1.0, inertia=tuple(MOMENTS))
    return builder.joint("ball", "spherical", "world", "body").build("fixed")


def rotation(q: np.ndarray) -> np.ndarray:
    """R (3, 3) of q (4,)."""
    return np.asarray(quaternion.to_matrix(quaternion.from_ros(q)))


def exact_rotation() -> np.ndarray:
    """R (3, 3) after DURATION: Euler's equations by a Runge-Kutta method of order 8."""

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        R, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ so3.hat(w)).ravel(), np.cross(MOMENTS * w, w) / MOMENTS])

    start = np.concatenate([np.eye(3).ravel(), VELOCITY])
    found = solve_ivp(rates, (0.0, DURATION), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return np.asarray(found.y[:9, -1].reshape(3, 3))


def measured_orders() -> dict[str, object]:
    """Errors of R at DURATION, slopes, and drift of the spatial momentum."""
    exact = exact_rotation()
    metrics: dict[str, object] = {}
    for name, scheme in SCHEMES.items():
        for literal in (False, True):
            start = "started as printed" if literal else "started by the Legendre transform"
            errors, drift = [], 0.0
            for h in ORDER_STEPS:
                body = scheme(turning_body(), h, gravity=(0.0, 0.0, 0.0))
                body.reset(body.q, _first_velocity(name, h) if literal else VELOCITY)
                turns = [rotation(body.q)]
                for _ in range(round(DURATION / h)):
                    body.step()
                    turns.append(rotation(body.q))
                first = spatial_momenta(name, turns[0], turns[1], h)[0]
                for k in range(round(DURATION / h / 10), len(turns), round(DURATION / h / 10)):
                    last = spatial_momenta(name, turns[k - 1], turns[k], h)[1]
                    drift = max(drift, float(np.abs(last - first).max()))
                errors.append(float(np.linalg.norm(rotation(body.q) - exact)))
            metrics[f"{name}, {start}: error of R after 2 s"] = errors
            metrics[f"{name}, {start}: order"] = float(np.polyfit(np.log(ORDER_STEPS), np.log(errors), 1)[0])
            if not literal:
                metrics[f"{name}: drift of the spatial momentum [N m s]"] = drift
    return metrics


def spatial_momenta(name: str, before: np.ndarray, after: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The momenta (3,) at the beginning and at the end of a step, below K (14), from two rotations (3, 3) alone."""
    way = before.T @ after
    w = (so3.cay_inv(way) if name == "Cayley" else so3.log(way)) / h
    m = MOMENTS * w
    along = 0.25 * h * h * (w @ m) * w if name == "Cayley" else 0.0 * w
    turned = 0.5 * h * np.cross(w, m)
    return before @ (m + turned + along), after @ (m - turned + along)


def _first_velocity(name: str, h: float) -> np.ndarray:
    """The velocity of the node that has ω_0 = ω(0) as the mean before it, which is what the printed start comes to."""
    w, m = VELOCITY, MOMENTS * VELOCITY
    momentum = m - 0.5 * h * np.cross(w, m)
    if name == "Cayley":
        momentum = momentum + 0.25 * h * h * (w @ m) * w
    return np.asarray(momentum / MOMENTS)
