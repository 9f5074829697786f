# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the schemes for point masses on bars can do, and how they are made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

ONLY = "point masses on bars"


def covers(problem: IntegrationProblem) -> str:
    """Why a problem is not one of point masses on bars, or ""."""
    from mbsim_ros.integrators.particles.bar_tree import bars_of

    _, problems = bars_of(problem.model)
    return problems[0] + (f", and {len(problems) - 1} more" if len(problems) > 1 else "") if problems else ""


CAPABILITIES = (
    Capabilities("shake", "W 2.3, symplectic", only=ONLY, covers=covers),
    Capabilities("rattle", "W 2.3, symplectic, with momenta", only=ONLY, covers=covers),
    Capabilities("energy_momentum", "W 2.4.2, energy to rounding", only=ONLY, covers=covers),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.particles.integrator import EnergyMomentum, Rattle, Shake

    scheme = {"shake": Shake, "rattle": Rattle, "energy_momentum": EnergyMomentum}[row.name]
    return DrivenByEfforts(scheme(problem.model, problem.dt, problem.gravity))
