# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What W's integrator in maximal coordinates can do, and how it is made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

CAPABILITIES = (
    Capabilities(
        "quaternion_variational",
        "W's own results; maximal coordinates",
        contact=True,
        damping=True,
        drives=True,
        loops=True,
        scene_loops=True,
        joint_wrenches=True,
        own_contact_law="wendlandt",
    ),
)


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem."""
    from mbsim_ros.compile_notice import NOTICE
    from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
    from mbsim_ros.integrators.maximal.step_kernel import steps_by_tree

    NOTICE.expect(steps_by_tree)  # most of what is to be compiled
    scene = problem.scene
    points = scene.points if scene.ground is not None else None
    return QuaternionVariational(
        problem.model, problem.dt, gravity=problem.gravity, points=points, ground=scene.ground, contact=scene.contact
    )
