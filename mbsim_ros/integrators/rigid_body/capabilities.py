# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the schemes for one rigid body can do, and how they are made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

ONLY = "single rigid bodies"


def covers(problem: IntegrationProblem) -> str:
    """Why a problem is not one of a single rigid body, or ""."""
    from mbsim_ros.integrators.rigid_body.coverage import why_not_one_body

    return why_not_one_body(problem.model)


CAPABILITIES = (
    Capabilities("cayley_rigid_body", "K 3, symplectic", only=ONLY, covers=covers),
    Capabilities("trapezoidal_lie_newmark", "to compare with K", only=ONLY, covers=covers),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.integrators.baselines.efforts import DrivenByEfforts
    from mbsim_ros.integrators.rigid_body.cayley import CayleyRigidBody
    from mbsim_ros.integrators.rigid_body.trapezoidal_lie_newmark import TrapezoidalLieNewmark

    scheme = CayleyRigidBody if row.name == "cayley_rigid_body" else TrapezoidalLieNewmark
    return DrivenByEfforts(scheme(problem.model, problem.dt, gravity=problem.gravity))
