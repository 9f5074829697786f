# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the baselines can do, and how they are made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

CAPABILITIES = (
    Capabilities("rk4", "to compare with"),
    Capabilities("lie_euler", "to compare with; of first order"),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.baselines.integrator import LieEuler, Rk4

    if row.name == "rk4":
        return DrivenByEfforts(Rk4(problem.model, problem.dt, gravity=problem.gravity))
    return DrivenByEfforts(LieEuler(problem.model, problem.dt, retraction=problem.retraction, gravity=problem.gravity))
