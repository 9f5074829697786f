# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the variational integrator in coordinates can do, and how it is made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator


def covers(problem: IntegrationProblem) -> str:
    """Why a problem has no coordinates in ℝⁿ, or ""."""
    from mbsim_ros.integrators.coordinates.derivatives import why_not_in_coordinates

    return why_not_in_coordinates(problem.model)


CAPABILITIES = (
    Capabilities(
        "coordinate_variational", "K 4, solved as printed; slow", damping=True,
        only="fixed robots of joints with one dof", covers=covers,
    ),
)  # fmt: skip


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.coordinates.variational import CoordinateVariational

    return DrivenByEfforts(CoordinateVariational(problem.model, problem.dt, gravity=problem.gravity))
