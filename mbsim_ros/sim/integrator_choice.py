# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From the name of an integrator to one that covers the robot and the scene, or to the reason why there is none."""

from __future__ import annotations

import numpy as np

from mbsim_ros.coupling.configuration import identity
from mbsim_ros.coupling.coupled_dynamics import coupled_mass_matrix, solve_reduced
from mbsim_ros.dynamics.forward import MasslessJoint, forward_dynamics
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator, Scene
from mbsim_ros.integrators.registry import find, make_integrator
from mbsim_ros.model.model import Model

MANY = 64  # dofs; up to here a factorisation costs nothing that anybody notices
AS_THE_SCHEME_DOES = -1.0  # for `tolerance` where a number has to be


def tolerance_from(value: float) -> float | None:
    """The tolerance that a number stands for; None for what the scheme takes by itself."""
    return value if value >= 0.0 else None


def choose_integrator(
    name: str, model: Model, dt: float, gravity: np.ndarray, scene: Scene, quadrature: str, retraction: str, order: int,
    stops: bool | None, tolerance: float | None = None,
) -> tuple[Integrator, bool]:  # fmt: skip
    """The integrator, and whether it has stops.

    stops: None means where the scheme can have them, True that they must be. Raises UnsupportedModel with everything
    that stands in the way.
    """
    if stops is not None and not isinstance(stops, bool | np.bool_):
        raise ValueError(f"stops: expected True, False or None, got {stops!r:.80}")
    has_stops = find(name, order).damping if stops is None else bool(stops)
    refuse_massless(model, scene)
    problem = IntegrationProblem(model, dt, gravity, scene, quadrature, retraction, order, has_stops, tolerance)
    return make_integrator(name, problem), has_stops


def refuse_massless(model: Model, scene: Scene) -> None:
    """Raise UnsupportedModel, naming the column, where a movable part of the robot has no inertia."""
    if model.nv == 0:
        raise UnsupportedModel(
            f"'{model.name}' has nothing that moves: give it a joint, or load it with base='floating'"
        )
    if scene.coupling is None and model.nv > MANY and _every_dof_carries_inertia(model):
        return
    configuration = identity(model) if scene.coupling is None else scene.coupling
    M = coupled_mass_matrix(model, configuration, model.neutral)
    try:
        solve_reduced(configuration, M, np.zeros(configuration.nu))
    except ValueError as error:
        raise UnsupportedModel(f"'{model.name}' cannot be simulated: {error}, or make the joint fixed") from None


def _every_dof_carries_inertia(model: Model) -> bool:
    """Whether articulated bodies find inertia at each dof: in linear time, where a factorisation takes its cube."""
    if model.mimic is not None:
        return False
    still = np.zeros(model.nv)
    try:
        forward_dynamics(model, model.neutral, still, still)
    except (MasslessJoint, ValueError):  # who is to blame says the factorisation
        return False
    return True
