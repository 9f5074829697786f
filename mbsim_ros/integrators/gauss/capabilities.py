# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What Gauss collocation can do, and how it is made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.gauss.coverage import covers
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

ONLY = "trees of joints that turn or slide, fixed or floating"

CAPABILITIES = (
    Capabilities("gauss", "free motion to many digits, long", order=6, only=ONLY, covers=covers),
    Capabilities("gauss", "the same at larger steps", order=8, only=ONLY, covers=covers),
    Capabilities("gauss", "the same to fewer digits", order=4, only=ONLY, covers=covers),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.gauss.integrator import Gauss

    return DrivenByEfforts(Gauss(problem.model, problem.dt, order=row.order, gravity=problem.gravity))
