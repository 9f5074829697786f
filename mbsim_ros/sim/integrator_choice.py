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

from typing import Any

import numpy as np

from mbsim_ros.compile_notice import NOTICE
from mbsim_ros.coupling.configuration import identity
from mbsim_ros.coupling.coupled_dynamics import coupled_mass_matrix, solve_reduced
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.step_kernel import steps_into
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.integrators.maximal.step_kernel import steps_by_tree
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.baseline_engine import BASELINES, BaselineEngine
from mbsim_ros.sim.resistance import limited_joints, resisting_joints
from mbsim_ros.sim.surroundings.scene import Scene

FLAGSHIP = "lie_variational"
MAXIMAL = "quaternion_variational"  # W's, in maximal coordinates: no couplings, springs or contact of bodies
WITH_FORCES = (FLAGSHIP, MAXIMAL)
# Integrators of the literature that this one is compared with elsewhere, and what each is for.
ELSEWHERE = {
    "energy_stable": "planar chains",
}


def _refuse_other_types(integrator: Any, order: Any, stops: Any) -> None:
    for name, value, expected, right in (
        ("integrator", integrator, "a name", isinstance(integrator, str)),
        ("order", order, "2 or 4", isinstance(order, int)),
        ("stops", stops, "True, False or None", stops is None or isinstance(stops, (bool, np.bool_))),
    ):
        if not right:
            raise ValueError(f"{name}: expected {expected}, got {value!r:.80}")


def make_engine(
    model: Model, dt: float, integrator: str, quadrature: str, retraction: str, order: int, gravity: np.ndarray,
    scene: Scene, stops: bool | None,
) -> tuple[Any, bool]:  # fmt: skip
    """The integrator, and whether it has stops.

    stops: None means where the scheme can have them, True that they must be. Raises UnsupportedModel with everything
    that stands in the way.
    """
    _refuse_other_types(integrator, order, stops)
    if integrator in ELSEWHERE:
        raise UnsupportedModel(
            f"integrator '{integrator}' ({ELSEWHERE[integrator]}) is not one that Simulation runs: "
            f"use '{FLAGSHIP}', 'rk4' or 'lie_euler'"
        )
    if integrator not in WITH_FORCES and integrator not in BASELINES:
        known = (*WITH_FORCES, *BASELINES)
        hint = did_you_mean(str(integrator), known, f"there are {', '.join(known)}", 0)
        raise ValueError(f"integrator: no integrator named {integrator!r}: {hint}")
    NOTICE.expect({FLAGSHIP: steps_into, MAXIMAL: steps_by_tree}.get(integrator))  # most of what is to be compiled
    refuse_massless(model, scene)
    if integrator == MAXIMAL:
        return _maximal(model, dt, order, gravity, scene), stops is None or bool(stops)
    _refuse_closures(model, integrator)
    is_plain = integrator == FLAGSHIP and order == 2
    wants_stops = is_plain if stops is None else bool(stops)
    if not is_plain:
        _refuse_forces(model, integrator, order, scene, wants_stops)
    if integrator in BASELINES:
        if order != 2:
            raise ValueError(f"order: only '{FLAGSHIP}' has a choice, got {order!r} with '{integrator}'")
        return BaselineEngine(model, dt, integrator, retraction, gravity), False
    engine = LieVariational(
        model, dt, quadrature=quadrature, retraction=retraction, order=order, gravity=gravity, coupling=scene.coupling,
        points=scene.points if scene.ground is not None else None, ground=scene.ground, contact=scene.contact,
        springs=scene.springs, pairs=scene.pairs, pair_contact=scene.pair_contact, body_points=scene.points,
    )  # fmt: skip
    return engine, wants_stops


def _maximal(model: Model, dt: float, order: int, gravity: np.ndarray, scene: Scene) -> QuaternionVariational:
    """W's integrator, or UnsupportedModel with everything that stands in the way."""
    if order != 2:
        raise ValueError(f"order: only '{FLAGSHIP}' has a choice, got {order!r} with '{MAXIMAL}'")
    ways = []
    if scene.coupling is not None:
        ways.append(f"coupling '{scene.coupling.name}'")
    if scene.springs is not None:
        ways.append(f"springs {_listed(list(scene.springs.names))} (springs=() leaves them out)")
    if scene.pairs is not None:
        ways.append("body_contact")
    if ways:
        raise UnsupportedModel(f"integrator '{MAXIMAL}' does not go with " + "; ".join(ways) + f": use '{FLAGSHIP}'")
    points = scene.points if scene.ground is not None else None
    return QuaternionVariational(
        model, dt, gravity=gravity, points=points, ground=scene.ground, contact=scene.contact
    )  # fmt: skip


def _refuse_closures(model: Model, integrator: str) -> None:
    closures = [] if model.sidecar is None else list(model.sidecar.closures)
    if closures:
        raise UnsupportedModel(
            f"integrator '{integrator}' has no closed loops, and the sidecar closes {_listed(closures)}: "
            f"use '{MAXIMAL}'"
        )


def refuse_massless(model: Model, scene: Scene) -> None:
    """Raise UnsupportedModel, naming the column, where a movable part of the robot has no inertia."""
    if model.nv == 0:
        raise UnsupportedModel(
            f"'{model.name}' has nothing that moves: give it a joint, or load it with base='floating'"
        )
    configuration = identity(model) if scene.coupling is None else scene.coupling
    M = coupled_mass_matrix(model, configuration, model.neutral)
    try:
        solve_reduced(configuration, M, np.zeros(configuration.nu))
    except ValueError as error:
        raise UnsupportedModel(f"'{model.name}' cannot be simulated: {error}, or make the joint fixed") from None


def _refuse_forces(model: Model, integrator: str, order: int, scene: Scene, stops: bool) -> None:
    """A substep back in time would undo what only takes energy; the baselines have no forces but tau."""
    baseline = integrator in BASELINES
    ways = []
    if scene.ground is not None and scene.points is not None:
        ways.append(f"contact of {len(scene.points)} points (terrain=False leaves it out)")
    if scene.pairs is not None:
        ways.append("body_contact")
    for what, names in resisting_joints(model).items():
        if names:
            ways.append(f"{what} of {_listed(names)}")
    if stops and limited_joints(model):
        ways.append(f"stops of {_listed(limited_joints(model))}")
    springs = scene.springs
    if springs is not None:
        damped = [s for s, row in zip(springs.names, springs.constants, strict=True) if baseline or row[2] > 0.0]
        if damped:
            ways.append(f"springs {_listed(damped)}" + ("" if baseline else ", which have damping"))
    if baseline and scene.coupling is not None:
        ways.append(f"coupling '{scene.coupling.name}'")
    if ways:
        scheme = f"integrator '{integrator}'" if baseline else f"order={order}"
        raise UnsupportedModel(f"{scheme} does not go with " + "; ".join(ways) + f": use '{FLAGSHIP}' of order 2")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
