# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Commands of a rollout: tables of targets and efforts of the motors, one for all members or one for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.lie_variational.rollout.rollout_kernel import Plan
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.simulation import Simulation

NOTHING = np.zeros((0, 2, 0)), np.zeros((0, 0)), np.zeros(0)


@dataclass(frozen=True, eq=False)
class CommandTables:
    """Tables (rows, nm) for all, or (n, rows, nm); None for what is not commanded. A row holds for `period` steps."""

    positions: np.ndarray | None
    velocities: np.ndarray | None
    efforts: np.ndarray | None
    rows: int  # 0 where nothing is commanded
    period: int

    def of(self, member: int) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
        """Positions, velocities and efforts (rows, nm) of a member."""
        found = (self.positions, self.velocities, self.efforts)
        return tuple(table if table is None or table.ndim == 2 else table[member] for table in found)  # type: ignore[return-value]


def command_tables(
    n: int, nm: int, positions: ArrayLike | None, velocities: ArrayLike | None, efforts: ArrayLike | None, period: int
) -> CommandTables:
    """Tables of the right shapes; ValueError says which is not."""
    given = {"commands": positions, "velocities": velocities, "efforts": efforts}
    tables = {name: None if each is None else _table(name, each, n, nm) for name, each in given.items()}
    counts = {name: table.shape[-2] for name, table in tables.items() if table is not None}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} in {name}" for name, count in counts.items())
        raise ValueError(f"commands: expected as many rows in each table, got {told}")
    if tables["velocities"] is not None and tables["commands"] is None:
        raise ValueError("velocities: expected commands beside them, for drives hold positions, got None")
    if isinstance(period, bool) or not isinstance(period, int | np.integer) or period < 1:
        raise ValueError(f"period: expected a whole number of steps of at least 1, got {period!r}")
    return CommandTables(
        tables["commands"], tables["velocities"], tables["efforts"], next(iter(counts.values()), 0), int(period)
    )


def make_plan(
    sim: Simulation, tables: CommandTables, member: int, steps: int, parameters: np.ndarray | None, every: int
) -> Plan:
    """What the compiled rollout of a member takes; it asks a controller where there are parameters for it."""
    positions, velocities, efforts = tables.of(member)
    targets, no_efforts, nothing = NOTHING
    asked = range(0, 0 if parameters is None else steps, tables.period)
    if positions is not None:
        columns = sim.drive_tables.columns
        targets = np.zeros((tables.rows, 2, sim.coupling.nu))
        targets[:, 0, columns] = positions
        targets[:, 1, columns] = 0.0 if velocities is None else velocities
    return Plan(
        targets, no_efforts if efforts is None else np.ascontiguousarray(efforts),
        nothing if parameters is None else parameters,
        np.array([(sim.integrator.step_count + k) * sim.dt_ns / SECOND for k in asked]), tables.period, every, True,
    )  # fmt: skip


def _table(name: str, given: ArrayLike, n: int, nm: int) -> np.ndarray:
    table = np.asarray(given, dtype=float)
    is_right = table.ndim in (2, 3) and table.shape[-1] == nm and (table.ndim == 2 or len(table) == n)
    if not is_right or table.shape[-2] == 0:
        raise ValueError(f"{name}: expected shape (rows, {nm}) or ({n}, rows, {nm}), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"{name}: expected finite numbers, got {np.count_nonzero(~np.isfinite(table))} that are not")
    return table
