# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How v goes from many random starts, in H's equations and in `Simulation` with random full matrices.

In the equations it falls in every step. In `Simulation` a wrench is held over a period, and v may rise by a little.

python -m mbsim_ros.experiments.hemami.random_starts --starts 10000 --of equations
python -m mbsim_ros.experiments.hemami.random_starts --starts 10000 --of simulation
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbsim_ros.control.command import Command
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.control.viscoelastic.law import GAINS, attitude
from mbsim_ros.experiments.hemami.body import ANGLES, PHI, PLACE, STATES, SUPPORT, TURN, VELOCITY, HemamiBody
from mbsim_ros.experiments.hemami.parameters import CONTACT, GRAVITY, STIFFNESS, body
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.lie import quaternion
from mbsim_ros.sim.simulation import Simulation

SPREAD = np.array([0.3] * 3 + [2.0] * 3 + [0.3] * 3 + [0.4] * 3 + [6.0, 8.0, 8.0] + [0.4] * 3)  # of Z, about rest
EQUATIONS_STEP, SIMULATION_STEP = 5e-4, 1e-3  # s
SCALES = dict(zip(GAINS, (4000.0, 4000.0, 20.0, 200.0, 4000.0, 4000.0, 60.0, 600.0), strict=True))
KEPT = 1e-8  # of the first v: less than this a run is over, and what remains is rounding


@dataclass(frozen=True)
class Rises:
    """Of all starts: the largest increase of v over one step, over the first v; the largest |θ₂|; the last v."""

    starts: int
    rise: float
    tilt: float
    last: float


def starts(number: int, seed: int, one: HemamiBody) -> np.ndarray:
    """Z (number, 18) around rest, and ε = 0 behind it: (number, 19)."""
    z = np.zeros((number, STATES + 1))
    z[:, :STATES] = np.random.default_rng(seed).uniform(-SPREAD, SPREAD, (number, STATES))
    z[:, PLACE] += one.sagging()[0]
    z[:, SUPPORT] += one.sagging()[1]
    return z


def in_equations(number: int, duration: float = 1.0, seed: int = 0) -> Rises:
    """H (1), (3), (14) for all starts at once, by the classical Runge-Kutta method."""
    one, h = body(), EQUATIONS_STEP
    z = starts(number, seed, one)
    first = before = _lyapunov(one, z)
    rise, tilt = -np.inf, 0.0
    for _ in range(round(duration / h)):
        k1 = _rates(one, z)
        k2 = _rates(one, z + 0.5 * h * k1)
        k3 = _rates(one, z + 0.5 * h * k2)
        z = z + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + _rates(one, z + h * k3))
        now = _lyapunov(one, z)
        rise = max(rise, float(((now - before) / first)[before > KEPT * first].max(initial=-np.inf)))
        tilt = max(tilt, float(np.abs(z[:, ANGLES.start + 1]).max()))
        before = now
    return Rises(number, rise, tilt, float((before / first).max()))


def in_simulation(number: int, duration: float = 0.1, seed: int = 0) -> Rises:
    """The robot's file and the controller of users, each start with other full matrices, with either feedback."""
    rng, one = np.random.default_rng(seed), body()
    model = document_robot("body_on_point")
    sim = Simulation(model, SIMULATION_STEP, gravity=GRAVITY, terrain=False)
    rise, tilt, last = -np.inf, 0.0, 0.0
    for k, z in enumerate(starts(number, seed, one)):
        controller = ViscoelasticController(model, _random_parameters(rng, ("centre", "point")[k % 2]))
        A = attitude(z[ANGLES])
        sim.reset(
            np.concatenate([z[PLACE] - one.sagging()[0], quaternion.to_ros(quaternion.from_matrix(A))]),
            np.concatenate([A.T @ z[VELOCITY], z[TURN]]),
        )
        values: list[float] = []

        def update(sim: Simulation, asked: ViscoelasticController = controller, v: list[float] = values) -> Command:
            command = asked.update(sim.seconds, sim.state())
            v.append(_of(asked))
            return command

        sim.run(duration, controller=update, progress=False)
        update(sim)
        rise = max(rise, float(np.diff(values).max()) / values[0])
        tilt, last = max(tilt, abs(float(z[ANGLES][1]))), max(last, values[-1] / values[0])
    return Rises(number, rise, tilt, last)


def _of(controller: ViscoelasticController) -> float:
    assert controller.lyapunov is not None
    return controller.lyapunov


def _random_parameters(rng: np.random.Generator, feedback: str) -> ViscoelasticParameters:
    gains: dict[str, Any] = {}
    for name, scale in SCALES.items():
        root = rng.normal(size=(3, 3))
        gains[name] = tuple((scale * (np.eye(3) + 0.1 * root @ root.T)).ravel())
    return ViscoelasticParameters(
        position=(0.0, 0.0, 0.0), point=tuple(CONTACT), gravity=10.0, feedback=feedback,
        alpha=rng.uniform(0.0, 1.0), **gains,
    )  # fmt: skip


def _rates(one: HemamiBody, z: np.ndarray) -> np.ndarray:
    """Rates (n, 19) of states (n, 19); gains are diagonal, see parameters.py."""
    law = one.law
    KTa, LTa, LTb, KTb = (np.diag(gain) for gain in (law.KTa, law.LTa, law.LTb, law.KTb))
    KRa, LRa, LRb, KRb, alpha = (np.diag(gain) for gain in (law.KRa, law.LRa, law.LRb, law.KRb, law.alpha))
    X, V, D, angles, W, Phi = (z[:, part] for part in (PLACE, VELOCITY, SUPPORT, ANGLES, TURN, PHI))
    (c1, c2, c3), (s1, s2, s3) = np.cos(angles).T, np.sin(angles).T
    force = -KTa * (X - D) - LTa * V
    A = np.array(
        [
            [c2 * c3, -c2 * s3, s2],
            [c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2],
            [s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2],
        ]
    )  # H (25)
    zero = np.zeros_like(c1)
    B = np.array([[c3 / c2, -s3 / c2, zero], [s3, c3, zero], [-s2 * c3 / c2, s2 * s3 / c2, zero + 1.0]])  # H (26)
    moment = np.cross(one.R, np.einsum("jin,nj->ni", A, force))
    tau = KRa * (angles - alpha * Phi)
    result = np.empty_like(z)
    result[:, PLACE], result[:, VELOCITY] = V, force / one.mass + one.gravity
    result[:, SUPPORT] = (KTa * (X - D) - KTb * D) / LTb
    result[:, ANGLES] = np.einsum("ijn,nj->ni", B, W)
    couple = -np.einsum("jin,nj->ni", B, tau) - LRa * W
    result[:, TURN] = (-np.cross(W, one.moments * W) + couple + moment) / one.moments
    result[:, PHI] = (tau - KRb * Phi) / LRb
    result[:, STATES] = (W * moment).sum(axis=1)  # H (14)
    return result


def _lyapunov(one: HemamiBody, z: np.ndarray) -> np.ndarray:
    """v (n,) of states (n, 19): H (15), (23), (24) with the errata."""
    X0, D0 = one.sagging()
    law, X, D, Phi = one.law, z[:, PLACE] - X0, z[:, SUPPORT] - D0, z[:, PHI]
    across, turned = X - D, z[:, ANGLES] - Phi * np.diag(law.alpha)
    of_place = one.mass * z[:, VELOCITY] ** 2 + STIFFNESS * (across**2 + D**2)
    of_turn = one.moments * z[:, TURN] ** 2 + STIFFNESS * (turned**2 + np.diag(law.alpha) * Phi**2)
    return np.asarray(0.5 * (of_place + of_turn).sum(axis=1) - z[:, STATES])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=10000)
    parser.add_argument("--of", choices=("equations", "simulation"), default="equations")
    given = parser.parse_args()
    found = (in_equations if given.of == "equations" else in_simulation)(given.starts)
    print(
        f"{found.starts} starts: largest increase of v in a step {found.rise:.3g} of the first v, largest |θ₂| "
        f"{found.tilt:.3f} rad, largest v at the end {found.last:.3g} of the first"
    )


if __name__ == "__main__":
    main()
