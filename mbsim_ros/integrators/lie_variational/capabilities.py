# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the Lie-group variational integrator can do, and how it is made."""

from __future__ import annotations

from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator

CAPABILITIES = (
    Capabilities(
        "lie_variational", "always, unless another has a reason", contact=True, body_contact=True, couplings=True,
        slipping=True, springs=True, damping=True, drives=True, loops=True, mimic=True, joint_wrenches=True,
        tolerance=True,
    ),
    Capabilities(
        "lie_variational", "smooth motion whose energy matters to many digits", order=4, couplings=True, springs=True,
        drives=True, loops=True, scene_loops=True, mimic=True, tolerance=True,
    ),
)  # fmt: skip


def make(row: Capabilities, problem: IntegrationProblem) -> Integrator:
    """The integrator for a problem: of one robot, or of a scene of several."""
    from mbsim_ros.compile_notice import NOTICE
    from mbsim_ros.integrators.lie_variational.step_kernel import steps_into

    if problem.scene.parts and row.order == 2:
        from mbsim_ros.integrators.lie_variational.scene.making import make_scene_integrator

        return make_scene_integrator(problem)
    from mbsim_ros.integrators.lie_variational.making import make_robot_integrator

    if problem.model.sidecar is not None and problem.model.sidecar.closures:
        from mbsim_ros.integrators.lie_variational.loops.step_kernel import closed_steps_into

        NOTICE.expect(closed_steps_into)
    else:
        NOTICE.expect(steps_into)  # most of what is to be compiled
    return make_robot_integrator(problem, row.order)
