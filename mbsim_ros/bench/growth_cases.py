# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What grows in the suite `growth`: a simulation for each size, and what is seen of it that shows it did its work.

- dofs: hanging chains that swing gently, as in the suite `steps`;
- contacts: a plate of 1 kg with as many points below it, which lies on the ground, every point touching;
- entities: free boxes, each by itself: flying apart above the ground, or lying on it. Each is an island of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mbsim_ros.bench.chain_steps import swinging
from mbsim_ros.contact.points import points_from
from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.sim.simulation import Simulation

DT = 1e-3
EDGE, APART = 0.2, 0.5  # m, of a box, and between the middles of two
HEIGHT = 1e5  # m: a fall of two minutes, longer than anything is measured
SETTLING = 300  # steps until what lies has come to rest
PLATE = (2.0, 2.0, 0.02)  # m
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))  # rad
SPEED = 0.1  # 1/s: m/s of a box that flies, for each m from the middle


@dataclass(frozen=True)
class Growth:
    """A family of simulations by size: what makes one, and how many steps lead to the state in which it is timed."""

    name: str
    counted: str
    sizes: tuple[int, ...]
    make: Callable[[int], Simulation]
    before: int
    touching: Callable[[int], int]  # how many points of a simulation of a size touch while it is timed


def swinging_chain(n: int) -> Simulation:
    """A chain of n joints."""
    sim = Simulation(chain(n), DT)
    sim.reset(*swinging(n))
    return sim


def plate(points: int) -> Simulation:
    """A plate on so many points of its lower side, an even number; without any it falls."""
    model = ModelBuilder("plate").link("plate", mass=1.0, box=PLATE, collision=True).build("floating")
    half = np.arange(points // 2) + 0.5
    radius, angle = 0.5 * PLATE[0] * np.sqrt(2.0 * half / max(points, 1)), GOLDEN * half  # evenly over a disc
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    places = [*zip(x, y, strict=True), *zip(-x, -y, strict=True)]  # in pairs, so that the plate lies level
    rows = [("plate", f"point {k}", *place, -0.5 * PLATE[2], 0.0) for k, place in enumerate(places)]
    sim = Simulation(model, DT, terrain="flat" if points else None, contact_points=points_from(model, rows))
    sim.reset(np.array([0.0, 0.0, 0.5 * PLATE[2], 0.0, 0.0, 0.0, 1.0]))
    return sim


def boxes(n: int, lie: bool) -> Simulation:
    """So many boxes in a square."""
    box = ModelBuilder("box").link("box", mass=1.0, box=(EDGE, EDGE, EDGE), collision=True).build("floating")
    sim = Simulation({f"box{k:04d}": box for k in range(n)}, DT, contact={"friction": 0.8})
    side, z = int(np.ceil(np.sqrt(n))), 0.5 * EDGE if lie else HEIGHT
    places = [[APART * (k % side), APART * (k // side), z, 0.0, 0.0, 0.0, 1.0] for k in range(n)]
    speeds = np.zeros((n, 6))
    if not lie:
        speeds[:, :2] = SPEED * (np.array(places)[:, :2] - APART * side / 2.0)  # apart from each other
    sim.reset({f"box{k:04d}/base": place for k, place in enumerate(places)}, speeds.ravel())
    return sim


def touching_points(sim: Simulation) -> int:
    """How many points touch the ground now."""
    contacts = sim.integrator.contacts
    return 0 if contacts is None else int((contacts.modes > 1).sum())


GROWTHS = (
    Growth("swinging chains", "dofs", (3, 10, 30, 100, 300, 1000, 3000), swinging_chain, 2, lambda n: 0),
    Growth("a plate on points", "contacts", (0, 4, 10, 30, 100, 300, 1000), plate, SETTLING, lambda n: n),
    Growth("boxes flying apart", "entities", (1, 3, 10, 30, 100, 300, 1000), partial(boxes, lie=False), 2, lambda n: 0),
    Growth(
        "boxes lying", "entities", (1, 3, 10, 30, 100, 300, 1000), partial(boxes, lie=True), SETTLING, lambda n: 4 * n
    ),
)
