# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What to say when a step could not be taken: what went wrong, since when, with which joint, and which dt would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.layout import FN
from mbsim_ros.coupling.coupled_dynamics import coupled_mass_matrix
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.solve_kernel import HARD_SINCE, PARTS
from mbsim_ros.integrators.lie_variational.vectors import VELOCITY
from mbsim_ros.integrators.state_bounds import BOUNDS
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IV, KIND

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.integrator import LieVariational

RESOLVED = 0.02  # rad that a joint may turn in a step of the dt that is proposed
FEWEST, MOST = (
    4.0,
    1000.0,
)  # times that dt is smaller at least, and at most: near a singular pose a joint flies for a moment
SINGULAR = 1.0e-8  # smallest eigenvalue of the mass matrix scaled to ones on its diagonal: hardly any inertia


def diverged(integrator: LieVariational, what: str) -> SimulationDiverged:
    """The error for the state before the step; what: why it was not taken."""
    memory = integrator.state.memory
    began = float(memory[HARD_SINCE]) * integrator.dt if memory[PARTS] > 0.0 else integrator.time
    forces = np.concatenate([integrator.contacts.results[:, FN], integrator.pair_contacts.results[:, FN]])
    joint, angle = largest_turn(integrator)
    dt = resolving_step(integrator)
    remedy = f"dt = {dt:g} s"
    singular = nearly_singular(integrator)
    if singular:
        joint = singular
        remedy += f", or a rotor inertia for '{joint}': it has hardly any inertia here"
    if integrator.loops is not None and integrator.loops.is_folded(integrator.q, integrator.configuration):
        remedy += f", or a way around this pose: the loops {', '.join(integrator.loops.names)} are folded here"
    error = SimulationDiverged(
        f"t = {integrator.time:.6g} s: the step was not taken: {what}. Steps are hard to solve since t = {began:.6g} s;"
        f" in dt = {integrator.dt:g} s '{joint}' turns {angle:.3g} rad, {int((forces > 0.0).sum())} of {len(forces)} "
        f"points are in contact; try {remedy}"
    )
    error.began, error.joint, error.proposed_dt = began, joint, dt
    return error


def ends_beyond_bounds(integrator: LieVariational) -> SimulationDiverged:
    """The error for a step that has a solution, which no robot does; its velocities are still there."""
    model, v = integrator.model, integrator._system.work.vectors[VELOCITY, : len(integrator.state.p)]
    fastest = int(np.abs(v).argmax())
    body = int(np.flatnonzero(model.topology[:, IV] <= fastest)[-1])
    return SimulationDiverged(
        f"t = {integrator.time:.6g} s: the step was not taken: under these forces it ends beyond the bounds of states "
        f"({BOUNDS}), with {v[fastest]:.3g} at the joint of '{model.body_names[body]}', dt = {integrator.dt:g} s; try "
        "smaller forces"
    )


def nearly_singular(integrator: LieVariational) -> str:
    """The column that moves almost without inertia while all others are free to, or "" where none does."""
    configuration = integrator.configuration
    M = coupled_mass_matrix(integrator.model, configuration, integrator.q)
    size = np.sqrt(np.diag(M))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] > SINGULAR:
        return ""
    return configuration.column_names[int(np.abs(vectors[:, 0]).argmax())]


def largest_turn(integrator: LieVariational) -> tuple[str, float]:
    """The joint that turned most in the last step, `base` for the floating base, and by which angle [rad]."""
    model, v = integrator.model, integrator.configuration.expand(integrator.state.u)
    turns = [("base", float(np.linalg.norm(v[3:6])))] if model.is_floating else []
    for joint in model.joints:
        first, kind = int(model.topology[joint.body, IV]), int(model.topology[joint.body, KIND])
        if kind != PRISMATIC:
            turns.append((joint.name, float(np.abs(v[first : first + joint.nv]).max(initial=0.0))))
    name, rate = max(turns, key=lambda turn: turn[1], default=("", 0.0))
    return name, rate * integrator.dt


def resolving_step(integrator: LieVariational) -> float:
    """A dt, 1, 2 or 5 times a power of ten, in which no joint turns far at the speed of now."""
    _, angle = largest_turn(integrator)
    wanted = integrator.dt * min(1.0 / FEWEST, max(1.0 / MOST, RESOLVED / max(angle, RESOLVED)))
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(f"{max(part for part in (1.0, 2.0, 5.0) if part * power <= wanted * (1.0 + 1e-9)) * power:.1e}")
