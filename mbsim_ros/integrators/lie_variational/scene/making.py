# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a problem of several entities to the integrator of the scene."""

from __future__ import annotations

from dataclasses import replace

from mbsim_ros.collision.shapes import no_shapes
from mbsim_ros.compile_notice import NOTICE
from mbsim_ros.integrators.integrator import IntegrationProblem, ScenePart
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.making import make_robot_integrator
from mbsim_ros.integrators.lie_variational.scene.integrator import LieVariationalScene
from mbsim_ros.integrators.lie_variational.scene.step_kernel import scene_steps_into


def make_scene_integrator(problem: IntegrationProblem) -> LieVariationalScene:
    """Every entity that can move becomes a part."""
    NOTICE.expect(scene_steps_into)  # most of what is to be compiled
    scene = problem.scene
    parts = {part.name: make_part(problem, part) for part in scene.parts if part.model.n_bodies > 0}
    shapes = no_shapes() if scene.shapes is None else scene.shapes
    return LieVariationalScene(problem.model, parts, shapes, problem.gravity, problem.dt, scene.coupling)


def make_part(problem: IntegrationProblem, part: ScenePart) -> LieVariational:
    """The integrator of one entity of a problem."""
    return make_robot_integrator(replace(problem, model=part.model, scene=part.scene), 2, is_part=True)
