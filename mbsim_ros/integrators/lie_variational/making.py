# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a problem to the integrator of one robot."""

from __future__ import annotations

from mbsim_ros.integrators.integrator import IntegrationProblem
from mbsim_ros.integrators.lie_variational.integrator import LieVariational


def make_robot_integrator(problem: IntegrationProblem, order: int, is_part: bool = False) -> LieVariational:
    """The integrator of a robot by itself, or as a part of a scene."""
    scene = problem.scene
    return LieVariational(
        problem.model, problem.dt, quadrature=problem.quadrature, retraction=problem.retraction, order=order,
        tolerance=problem.tolerance, gravity=problem.gravity, coupling=scene.coupling,
        points=scene.points if scene.ground is not None else None,
        ground=scene.ground, contact=scene.contact, springs=scene.springs, pairs=scene.pairs,
        pair_contact=scene.pair_contact, body_points=scene.points, is_part=is_part,
    )  # fmt: skip
