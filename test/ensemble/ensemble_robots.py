# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots for the tests of ensembles."""

from __future__ import annotations

from functools import cache

import numpy as np

from mbsim_ros import Simulation
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.model import Model

ROWS, PERIOD = 12, 5


@cache
def hopper() -> Model:
    """A floating box on two legs with ball feet, which stands, is driven, and slips."""
    builder = ModelBuilder("hopper").link("body", mass=3.0, box=(0.3, 0.2, 0.1))
    for leg, y in (("left", 0.12), ("right", -0.12)):
        builder.link(f"shank_{leg}", mass=0.4, com=(0, 0, -0.1), box=(0.03, 0.03, 0.2))
        builder.joint(
            leg, "revolute", "body", f"shank_{leg}", xyz=(0, y, 0), axis=(0, 1, 0), lower=-1.5, upper=1.5, effort=60,
            velocity=20,
        )  # fmt: skip
        builder.link(f"foot_{leg}", mass=0.05, sphere=0.02, collision=True)
        builder.joint(f"ankle_{leg}", "fixed", f"shank_{leg}", f"foot_{leg}", xyz=(0, 0, -0.2))
    return builder.build()


def make(i: int = 0, friction: float = 0.8, dt: float = 1e-3, **options: object) -> Simulation:
    """A hopper that is dropped with a twist, another one for each i, with gains."""
    sim = Simulation(hopper(), dt, terrain="flat", contact={"friction": friction}, **options)
    q = hopper().neutral.copy()
    q[2] = 0.225 + 0.01 * i
    sim.reset(q, [0.1 * i, 0.0, 0.0, 0.0, 0.2, 0.3, 0.0, 0.0])
    sim.drive_motors(position=np.zeros(2), velocity=np.zeros(2), kp=np.full(2, 40.0), kd=np.full(2, 2.0))
    return sim


def commands(n: int, seed: int = 3) -> np.ndarray:
    """Positions (n, ROWS, 2)."""
    return np.random.default_rng(seed).uniform(-0.4, 0.4, (n, ROWS, 2))


def played_alone(sim: Simulation, table: np.ndarray, efforts: np.ndarray | None = None) -> list[np.ndarray]:
    """q, v, positions and rates of the motors (ROWS, …) of one simulation that is driven by hand, step by step."""
    rows = []
    for k in range(len(table)):
        given = {} if efforts is None else {"effort": efforts[k]}
        sim.drive_motors(position=table[k], velocity=np.zeros(2), **given)
        for _ in range(PERIOD):
            sim.step()
        rows.append((sim.q, sim.v, sim.motor_position, sim.motor_velocity))
    return [np.array(each) for each in zip(*rows, strict=True)]


def same(trajectories, i: int, alone: list[np.ndarray]) -> bool:
    """Whether a member moved bit for bit as one alone."""
    own = trajectories.q[i], trajectories.v[i], trajectories.motor_position[i], trajectories.motor_velocity[i]
    return all(a.tobytes() == b.tobytes() for a, b in zip(own, alone, strict=True))
