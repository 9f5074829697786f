# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A robot of the Lie-group variational integrator that plays commands, or a compiled controller, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from mbsim_ros.dynamics.arguments import NO_WRENCHES
from mbsim_ros.dynamics.kernels.forward_kernel import forward_dynamics_into
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.lie_variational import build as make
from mbsim_ros.integrators.lie_variational.arrays import Work
from mbsim_ros.integrators.lie_variational.integrator import LieVariational, own_coordinates
from mbsim_ros.integrators.lie_variational.matrix_kernel import RECURSIVE
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.integrators.lie_variational.rollout.rollout_kernel import (
    COMMAND_ROWS,
    Addresses,
    NodeScratch,
    Plan,
    Rows,
    Seen,
    command_into,
    rollout_into,
    write_down_into,
)
from mbsim_ros.integrators.lie_variational.solve_kernel import UNBALANCED
from mbsim_ros.integrators.lie_variational.step_kernel import steps_into
from mbsim_ros.native_call import address_for, address_of

# (t, q, v, motor_position, motor_velocity, parameters, command)
CONTROLLER_TYPES = (numba.float64, *5 * (numba.float64[::1],), numba.float64[:, ::1])


class RolloutMemory(NamedTuple):
    """What one thread needs for robots of one size, one after the other."""

    work: Work
    workspace: Workspace
    scratch: NodeScratch
    seen: Seen


def can_roll_out(integrator: object) -> bool:
    """Whether its rollouts are one compiled call: loops have a step of their own, as have robots of a scene."""
    is_compiled = hasattr(steps_into, "overloads")  # numba may be turned off
    return is_compiled and type(integrator) is LieVariational and integrator.loops is None and not integrator.is_part


def memory_key(integrator: LieVariational) -> tuple[object, ...]:
    """Robots with the same key can use the same memory."""
    configuration, system = integrator.configuration, integrator.system
    sizes = tuple(each.shape for each in (system.work.vectors, system.work.saved_contacts, system.work.rows))
    nm = configuration.nu - configuration.base_columns
    order = (
        own_coordinates(integrator.model).tobytes(),
        configuration.own_dofs.tobytes(),
        system.tree.dof_parent.tobytes(),
    )
    return (*sizes, *order, len(system.state.q), configuration.nu, nm, system.coupling.is_identity)


def make_memory(integrator: LieVariational) -> RolloutMemory:
    """Memory for a robot and for all with the same key."""
    model, configuration = integrator.model, integrator.configuration
    nv, nu, workspace = len(integrator.state.p), configuration.nu, Workspace(model)
    dense = 0 if integrator.system.coupling.is_identity else nu
    scratch = NodeScratch(
        workspace.sincos, workspace.rows, workspace.dofs, np.zeros((nv, nv)), np.zeros((dense, dense)), np.zeros(nu),
        np.zeros(nv), np.zeros(nv), np.zeros(nu), np.zeros(3), NO_WRENCHES,
    )  # fmt: skip
    nm = nu - configuration.base_columns
    seen = Seen(
        np.zeros(model.nq), np.zeros(model.nv), np.zeros(nm), np.zeros(nm), np.zeros((COMMAND_ROWS, nm)),
        own_coordinates(model), np.array(configuration.own_dofs),
    )  # fmt: skip
    work = make.make_work(model, nu, len(integrator.system.work.saved_contacts))
    return RolloutMemory(work, workspace, scratch, seen)


_FOUND: dict[object, Addresses] = {}  # by the types of the arrays: numba takes milliseconds to tell them


def find_addresses(integrator: LieVariational, memory: RolloutMemory) -> Addresses:
    """Where the kernels are that a rollout of this robot calls; they are compiled where they are not yet."""
    s = integrator.system
    is_recursive = s.scheme.factorisation == RECURSIVE and not s.coupling.rotor.any()
    key = is_recursive, _types(s)
    if key not in _FOUND:
        _FOUND[key] = _addresses(integrator, memory, is_recursive)
    return _FOUND[key]


def _types(value: object) -> object:
    """What decides how numba compiles for a named tuple of arrays."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.num
    return (type(value), *map(_types, value)) if isinstance(value, tuple) else type(value)


def _addresses(integrator: LieVariational, memory: RolloutMemory, is_recursive: bool) -> Addresses:
    s, n, (state, tree) = integrator.system, memory.scratch, (integrator.state, integrator.system.tree)
    steps = address_of(steps_into, s, integrator.substeps, 0, 0, integrator.NO_TARGETS, 1, True)
    if is_recursive:
        forward = address_of(
            forward_dynamics_into, tree.topology, tree.constants, state.q, n.still, n.momentum, n.weightless,
            n.no_wrenches, n.sincos, n.rows, n.dofs, n.v,
        )  # fmt: skip
        return Addresses(steps, 0, forward, 0)
    velocity = address_of(
        node_velocity_into, tree, s.coupling, state.q, state.p, state.motor_momentum, n.sincos, n.rows, n.dofs, n.M,
        n.reduced, n.u, n.v,
    )  # fmt: skip
    return Addresses(steps, velocity, 0, 0)


def controller_address(controller: Any) -> int:
    """Where a controller that numba compiles is, for arguments of CONTROLLER_TYPES."""
    return address_for(controller, CONTROLLER_TYPES)


class RobotRollout:
    """One rollout of a robot; `integrator.play(steps, rollout)` and then `finish` take it."""

    def __init__(self, integrator: LieVariational, plan: Plan, addresses: Addresses, memory: RolloutMemory, rows: Rows):
        integrator.use_memory(memory.work, memory.workspace)
        self._integrator, self._plan, self._rows = integrator, plan, rows
        self._addresses, self._memory = addresses, memory
        self._written = 0  # steps until which all rows are written

    def take_steps(self, first: int, last: int, in_parts: bool) -> tuple[int, int, int, int]:
        """Steps as steps_into returns them; what is due before a step that is taken in parts is done here."""
        system, plan, addresses, memory = self._integrator.system, self._plan, self._addresses, self._memory
        self.finish(first)
        if in_parts:
            if first % plan.period == 0:
                command_into(system, first, plan, addresses, memory.scratch, memory.seen)
            return 0, 0, 0, UNBALANCED
        result = rollout_into(
            system, self._integrator.substeps, first, last, plan, addresses, memory.scratch, memory.seen, self._rows
        )
        self._written = first + result[0]
        return result  # type: ignore[no-any-return]

    def finish(self, steps: int) -> None:
        """Write the row that is due after so many steps, where the last was not taken by the kernel."""
        if steps > self._written and steps % self._plan.every == 0:
            write_down_into(
                self._integrator.system, steps // self._plan.every - 1, self._addresses, self._memory.scratch,
                self._memory.seen, self._rows,
            )  # fmt: skip
        self._written = steps
