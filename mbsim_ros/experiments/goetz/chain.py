# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The manipulator of G: three links with the parameters of Table 5.1, its springs, and how it starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbsim_ros.elastic import SpringSet, attach
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.integrators.planar.chain import PlanarChain, planar_chain
from mbsim_ros.model.catalogue import ready_robot
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.parser import SUFFIX, load_sidecar

LINKS = 3
MASS, INERTIA, LENGTH, CENTRE = 1.0, 1.0, 1.0, 0.5  # kg, kg m², m, m: m, J, L and l of Table 5.1
FASTENING, REST_LENGTH, STIFFNESS = 0.4, 0.2, 1.0  # m, m, N/m: r, s_0 and k
GRAVITY = (0.0, 0.0, -1.0)  # m/s²
START = np.radians([0.0, 45.0, 45.0])  # not printed: fits all printed levels best, ERRATA A22
DURATION, STEP, ORDER_DURATION = 50.0, 0.01, 10.0  # s
SPRINGS = ("none", "mono", "multi")
PARAMETERS = {
    "links": LINKS, "mass [kg]": MASS, "inertia about the centre of mass [kg m²]": INERTIA, "length [m]": LENGTH,
    "distance of the centre of mass [m]": CENTRE, "fastening [m]": FASTENING, "rest length [m]": REST_LENGTH,
    "stiffness [N/m]": STIFFNESS, "gravity [m/s²]": list(GRAVITY), "start [deg]": np.degrees(START).round(9).tolist(),
}  # fmt: skip


def manipulator() -> Model:
    """The three links, upright in the x-z plane."""
    return document_robot("manipulator")


def springs_of(model: Model, kind: str) -> SpringSet:
    """No springs, mono-articular ones or the multi-articular one, G 2.2.2: those of the manipulator's sidecars."""
    mono = ready_robot("manipulator").sidecar
    assert mono is not None
    sidecar = mono if kind == "mono" else mono.with_name(f"manipulator_{kind}{SUFFIX}")
    return attach(model, load_sidecar(sidecar, model.description).springs)


def chain_with(kind: str) -> PlanarChain:
    """The manipulator as a planar chain, with springs of a kind."""
    model = manipulator()
    return planar_chain(model, springs_of(model, kind), GRAVITY)


def with_printed_mass_matrix(chain: PlanarChain) -> PlanarChain:
    """The chain with the mass matrix that stands in G (3.32), where most blocks lack their factor J/l² (ERRATA A1)."""
    n = len(chain)
    joints = np.tril(np.full((n, n), LENGTH), -1) @ np.linalg.inv(chain.centres.real)  # B: Ẋ = B ẋ, (3.30)
    printed = np.zeros((n, n))
    for i in range(n):
        row = joints[i, : i + 1]
        row[i] = 0.0
        printed[: i + 1, : i + 1] += np.outer(row, row)
        printed[i, : i + 1] -= row
        printed[: i + 1, i] -= row
        printed[i, i] += MASS + INERTIA / CENTRE**2
    return replace(chain, mass_matrix=(chain.centres.T @ printed @ chain.centres).astype(complex))
