# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What N's equations of motion can be simulated with, and how that is made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator
from mbsim_ros.integrators.quasicoordinates.limbs import ONLY, why_no_limbs

CAPABILITIES = (
    Capabilities(
        "quasicoordinates",
        "N's limbs, by RK4; slow",
        damping=True,
        only=ONLY,
        covers=lambda problem: why_no_limbs(problem.model),
    ),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.quasicoordinates.integrator import QuasicoordinateRk4

    return DrivenByEfforts(QuasicoordinateRk4(problem.model, problem.dt, gravity=problem.gravity))
