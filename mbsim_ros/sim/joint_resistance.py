# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the URDF says of the joints themselves: damping, friction, and position limits as stops.

A stop is a spring of the stiffness M_ii ω², ω = 200 rad/s, with the damping ratio 1, M_ii the inertia that the joint
moves when all others stand in the neutral position. The rate is a choice: at 1 ms the contact with a stop lasts some 16
steps, and a joint that meets it at 10 rad/s goes 1.5 degrees too far. A joint of several dofs has no limits in a URDF;
the limits of a mimic joint are those of the one it follows.
"""

from __future__ import annotations

import math

from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.integrators.capability import limited_joints, resisting_joints
from mbsim_ros.integrators.integrator import Integrator
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import warn_user
from mbsim_ros.sim.names import driven_joints, own_dofs, tree_dofs

STOP_RATE = 200.0  # rad/s
LARGEST_PRODUCT = math.pi / 4.0  # of ω dt, as for contact: four steps


class SimulationWarning(UserWarning):
    """Something about a simulation that may surprise."""


def apply_joint_resistance(model: Model, integrator: Integrator, dt: float, stops: bool) -> None:
    """Write damping, friction and, if wanted, stops to the arrays of the integrator."""
    _warn_of_ignored(model)
    names = driven_joints(model).names
    tree, own = tree_dofs(model, names), own_dofs(model, names)
    integrator.joints.damping[tree] = model.damping[own]  # that of joints that follow is in it
    integrator.joints.friction[tree] = model.friction[own]
    limited = limited_joints(model)
    if stops and limited:
        _set_stops(model, integrator, limited)
        if STOP_RATE * dt > LARGEST_PRODUCT:
            warn_user(
                f"stops: dt = {dt:g} s is long for the stops of {', '.join(limited[:5])}"
                f"{', …' if len(limited) > 5 else ''}, which react in {1e3 * math.pi / STOP_RATE:.2g} ms: "
                f"use dt ≤ {LARGEST_PRODUCT / STOP_RATE:.2g} s, or stops=False",
                SimulationWarning,
            )


def _warn_of_ignored(model: Model) -> None:
    """Damping and friction of joints of several dofs have no part in a step: say so."""
    several = {joint.name for joint in model.joints if joint.nv > 1}
    for what, names in resisting_joints(model).items():
        ignored = [name for name in names if name in several]
        if ignored:
            warn_user(
                f"{what} of {', '.join(ignored)} is left out: only joints of one dof have it",
                SimulationWarning,
            )


def _set_stops(model: Model, integrator: Integrator, names: list[str]) -> None:
    tree, own = tree_dofs(model, names), own_dofs(model, names)
    inertia = mass_matrix(model, model.neutral).diagonal()[own]
    integrator.joints.lower[tree], integrator.joints.upper[tree] = model.lower[own], model.upper[own]
    integrator.joints.stop_stiffness[tree] = inertia * STOP_RATE**2
    integrator.joints.stop_damping[tree] = 2.0 * inertia * STOP_RATE
