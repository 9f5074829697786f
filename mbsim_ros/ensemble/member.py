# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One member of an ensemble: a Simulation, and how it plays its part of a rollout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbsim_ros.ensemble.commands import CommandTables, make_plan
from mbsim_ros.ensemble.lanes import Lane
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.rollout.robot_rollout import (
    RobotRollout,
    can_roll_out,
    controller_address,
    find_addresses,
    memory_key,
)
from mbsim_ros.integrators.lie_variational.rollout.rollout_kernel import COMMAND_ROWS, Addresses, Rows
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.divergence import describe_divergence
from mbsim_ros.sim.simulation import Simulation

Compiled = Callable[..., None]  # a controller that numba compiles, or compiled already


class Member:
    """A simulation that advances on whichever thread is free, in one compiled call where its integrator has that."""

    def __init__(self, sim: Simulation, lane: Lane):
        """lane: that of the thread which makes it, whose memory it uses in place of its own from now on."""
        self.sim = sim
        self._known: tuple[object, Addresses] | None = None  # of the coupling in force
        self._coupling: object = None
        if can_roll_out(sim.integrator):
            assert isinstance(sim.integrator, LieVariational)
            key, _ = self._look_up(lane, sim.integrator)
            memory = lane.memory_for(key, sim.integrator)
            sim.integrator.use_memory(memory.work, memory.workspace)

    def play(
        self, lane: Lane, index: int, steps: int, tables: CommandTables, controller: Any, parameters: np.ndarray | None,
        every: int, rows: Rows,
    ) -> None:  # fmt: skip
        """Advance; SimulationDiverged, with what Simulation says of it, where a step could not be solved."""
        sim, integrator = self.sim, self.sim.integrator
        if not can_roll_out(integrator):
            self._play_in_pieces(index, steps, tables, controller, parameters, every, rows)
            return
        assert isinstance(integrator, LieVariational)
        key, addresses = self._look_up(lane, integrator)
        if controller is not None:
            addresses = addresses._replace(controller=controller_address(controller))
        plan = make_plan(sim, tables, index, steps, parameters, every)
        rollout = RobotRollout(integrator, plan, addresses, lane.memory_for(key, integrator), rows)
        try:
            integrator.play(steps, rollout)
        except SimulationDiverged as error:
            raise describe_divergence(sim, error) from None
        rollout.finish(steps)
        sim.drive_tables.acted = []

    def _look_up(self, lane: Lane, integrator: LieVariational) -> tuple[object, Addresses]:
        """The key of its memory and the addresses of its kernels, which change with the coupling."""
        if self._known is None or self._coupling is not integrator.configuration:
            key = memory_key(integrator)
            self._known = key, find_addresses(integrator, lane.memory_for(key, integrator))
            self._coupling = integrator.configuration
        return self._known

    def _play_in_pieces(
        self, index: int, steps: int, tables: CommandTables, controller: Any, parameters: np.ndarray | None,
        every: int, rows: Rows,
    ) -> None:  # fmt: skip
        """The same for every other integrator: a call for each command and each row."""
        sim = self.sim
        positions, velocities, efforts = tables.of(index)
        is_commanded = tables.rows > 0 or controller is not None
        if is_commanded and not sim.capabilities.drives:
            raise UnsupportedModel(f"commands: integrator '{sim.scheme['integrator']}' has no drives of motors")
        begin, columns = sim.integrator.step_count, sim.drive_tables.columns
        for k in _pieces(steps, tables.period if is_commanded else steps, every):
            motors = sim.integrator.motors
            if k[0] % tables.period == 0:
                row = k[0] // tables.period
                if positions is not None:
                    motors.position[columns] = positions[row]
                    motors.velocity[columns] = 0.0 if velocities is None else velocities[row]
                if efforts is not None:
                    motors.effort[columns] = efforts[row]
                if controller is not None:
                    self._ask(controller, parameters, begin + k[0])
            sim.advance(k[1] - k[0])
            if k[1] % every == 0:
                write_now(sim, rows, k[1] // every - 1)

    def _ask(self, controller: Any, parameters: np.ndarray | None, step: int) -> None:
        """Let a compiled controller command the motors, from Python."""
        sim, motors, columns = self.sim, self.sim.integrator.motors, self.sim.drive_tables.columns
        command = np.empty((COMMAND_ROWS, len(sim.motor_names)))
        command[:] = motors.position[columns], motors.velocity[columns], motors.effort[columns]
        rates, v = sim.velocities()
        controller(step * sim.dt_ns / SECOND, sim.q, v, sim.motor_position, rates, parameters, command)
        motors.position[columns], motors.velocity[columns], motors.effort[columns] = command


def write_now(sim: Simulation, rows: Rows, row: int) -> None:
    """Write a simulation as it is now into a row."""
    rates, v = sim.velocities()
    for table, values in zip(rows, (sim.q, v, sim.motor_position, rates), strict=True):
        table[row] = values


def _pieces(steps: int, *periods: int) -> list[tuple[int, int]]:
    """Where steps are interrupted, from … to."""
    ends = sorted({steps, *(k for period in periods for k in range(period, steps, period))})
    return list(zip([0, *ends[:-1]], ends, strict=True))
