# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the schemes for planar chains can do, and how they are made."""

from __future__ import annotations

from typing import Any

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

GAUSS_POINTS = 3  # as G has it: springs leave an error of dt⁶ in the energy


def covers(problem: IntegrationProblem) -> str:
    """Why a problem is not one of a planar chain, or ""."""
    from mbsim_ros.integrators.planar.chain import chain_obstacles

    return "; ".join(chain_obstacles(problem.model, problem.scene.springs))


ROW: dict[str, Any] = {"springs": True, "damping": True, "only": "planar chains", "covers": covers}

CAPABILITIES = (
    Capabilities("energy_stable", "G 3: energy to rounding", **ROW),
    Capabilities("circle_variational", "G 4: symplectic, in directions", **ROW),
    Capabilities("planar_midpoint", "to compare with G", **ROW),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.elastic import attach
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.planar.chain import planar_chain
    from mbsim_ros.integrators.planar.circle_variational import CircleVariational
    from mbsim_ros.integrators.planar.energy_stable import EnergyStable
    from mbsim_ros.integrators.planar.midpoint import PlanarMidpoint

    model, springs = problem.model, problem.scene.springs
    chain = planar_chain(model, attach(model, ()) if springs is None else springs, problem.gravity, resisted=True)
    if row.name == "energy_stable":
        return DrivenByEfforts(EnergyStable(chain, problem.dt, gauss_points=1 if springs is None else GAUSS_POINTS))
    if row.name == "circle_variational":
        return DrivenByEfforts(CircleVariational(chain, problem.dt))
    return DrivenByEfforts(PlanarMidpoint(chain, problem.dt))
