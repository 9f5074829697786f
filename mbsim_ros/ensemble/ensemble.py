# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Ensemble`: n robots alike that move at once, on all cores, each as it would alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import ArrayLike

from mbsim_ros.ensemble.commands import CommandTables, command_tables
from mbsim_ros.ensemble.lanes import Lane, Lanes
from mbsim_ros.ensemble.making import MemberParameters, Robot, make_members, of_member, set_default_gains, starts
from mbsim_ros.ensemble.member import Member, write_now
from mbsim_ros.ensemble.trajectories import (
    EnsembleState,
    MemberFailure,
    Trajectories,
    empty_trajectories,
    join_trajectories,
)
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.rollout.robot_rollout import controller_address
from mbsim_ros.integrators.lie_variational.rollout.rollout_kernel import Rows
from mbsim_ros.sim.clock import SECOND, step_count
from mbsim_ros.sim.simulation import Simulation

# (t (n,), state) → positions of the motors (n, nm), or a dict with positions, velocities, efforts; None: as before
BatchedController = Callable[[np.ndarray, EnsembleState], ArrayLike | Mapping[str, ArrayLike] | None]


class Ensemble:
    """n simulations that advance together; each moves bit for bit as it does alone, however many threads there are.

    robot: what `Simulation` takes for one robot, or a function that makes the Simulation of member i.
    threads: how many; None: as many as there are cores for this process.
    dt [s], friction: a number, or (n,); dt is 1 ms without. terrain: one, or a list of n.
    mass: (n,) factors, or masses [kg] (n,) by link.
    kp, kd: of the motors, (nm,) or (n, nm). q, v: the start, (nq,) or (n, nq), (nv,) or (n, nv), or a state's name.
    options: further arguments of `Simulation`, the same for all.

    A member that fails (SimulationDiverged) is told of in `failures`, stays as it was before that step, and takes no
    part until it is reset; the others go on. docs/ensembles.md has examples.
    """

    def __init__(
        self, robot: Robot, n: int, *, threads: int | None = None, dt: ArrayLike | None = None,
        mass: ArrayLike | Mapping[str, ArrayLike] | None = None, friction: ArrayLike | None = None,
        terrain: object = None, kp: ArrayLike | None = None, kd: ArrayLike | None = None,
        q: ArrayLike | str | None = None, v: ArrayLike | None = None, **options: Any,
    ):  # fmt: skip
        given = MemberParameters(dt, mass, friction, terrain, kp, kd, q, v, options)
        self._lanes = Lanes(threads)
        self._members = [Member(sim, self._lanes.first) for sim in make_members(robot, n, given)]
        self._failed: dict[int, MemberFailure] = {}
        self._lent: set[int] = set()  # members that somebody may change without our knowing
        first = self._members[0].sim
        self._nq, self._nv, self._nm = first.model.nq, first.model.nv, len(first.motor_names)
        self._now = Rows(*(np.zeros((len(self), size)) for size in (self._nq, self._nv, self._nm, self._nm)))
        self._read(range(len(self)))

    def __len__(self) -> int:
        """How many members there are."""
        return len(self._members)

    def __getitem__(self, index: int) -> Simulation:
        """A member, to look at and to change as any simulation."""
        sim = self._members[index].sim
        self._lent.add(range(len(self))[index])
        return sim

    def peek(self, index: int) -> Simulation:
        """A member to look at: whoever changes it takes ensemble[index]."""
        return self._members[index].sim

    def restart(self, index: int, start: Callable[[Simulation], None]) -> None:
        """Let start(simulation) put a member into another state; one that has failed takes part again."""
        start(self._members[index].sim)
        self._failed.pop(index, None)
        self._read([index])

    @property
    def threads(self) -> int:
        """How many threads advance the members."""
        return self._lanes.threads

    @property
    def motor_names(self) -> tuple[str, ...]:
        """What commands are for, in their order."""
        return self._members[0].sim.motor_names

    @property
    def failures(self) -> tuple[MemberFailure, ...]:
        """The members that have failed since their reset, in their order."""
        return tuple(self._failed[i] for i in sorted(self._failed))

    def state(self) -> EnsembleState:
        """All members now: copies."""
        self._read(self._lent)
        failed = np.zeros(len(self), dtype=bool)
        failed[list(self._failed)] = True
        q, v, motor_position, motor_velocity = (each.copy() for each in self._now)
        return EnsembleState(self._times(), q, v, motor_position, motor_velocity, failed)

    def reset(
        self, q: ArrayLike | str | None = None, v: ArrayLike | None = None, members: Iterable[int] | None = None
    ) -> None:
        """Start again, all or some members, as `Simulation.reset` does; q, v: one for all, or n (of all members)."""
        chosen = range(len(self)) if members is None else [range(len(self))[i] for i in members]
        for i in chosen:
            sim = self._members[i].sim
            sim.reset(*starts(sim, q, v, len(self), i))
            self._failed.pop(i, None)
        self._read(chosen)

    def rollout(
        self, commands: ArrayLike | None = None, *, velocities: ArrayLike | None = None,
        efforts: ArrayLike | None = None, controller: Any = None, parameters: ArrayLike | None = None,
        steps: int | None = None, period: int = 1, every: int | None = None,
    ) -> Trajectories:  # fmt: skip
        """Advance all members; returns their motion after every `every` steps (default: `period`).

        commands: positions of the motors, (rows, nm) for all members or (n, rows, nm), a row for `period` steps.
        velocities, efforts: of the same shape; velocities are 0 without. What the last row says stays.
        controller: in place of tables, asked every `period` steps of `steps`. A function compiled by numba.njit,
            control(t, q, v, motor_position, motor_velocity, parameters, command), writes positions, velocities and
            efforts into the rows of command (3, nm), which has those of now; parameters: (k,) or (n, k) for it. Any
            other is called with arrays of all members, controller(t, state), see BatchedController.
        steps: how many; None: as long as the tables.
        """
        tables = command_tables(len(self), self._nm, commands, velocities, efforts, period)
        steps = self._steps(steps, tables, controller)
        every = tables.period if every is None else step_count("every", every)
        if every < 1:
            raise ValueError(f"every: expected at least 1 step, got {every}")
        if tables.positions is not None or controller is not None:
            for member in self._members:
                if member.sim.capabilities.drives:
                    set_default_gains(member.sim)
        if controller is not None and not isinstance(controller, Dispatcher):
            return self._ask(controller, steps, tables.period, every)
        return self._play(
            steps, tables, controller, None if controller is None else self._parameters(parameters), every
        )

    def advance(self, steps: int = 1) -> tuple[MemberFailure, ...]:
        """Advance all members under the drives that they have; returns those that failed."""
        return self.rollout(steps=steps, every=max(1, steps)).failures

    def close(self) -> None:
        """End the threads; the members stay."""
        self._lanes.close()

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _play(
        self, steps: int, tables: CommandTables, controller: Any, parameters: np.ndarray | None, every: int
    ) -> Trajectories:
        """All members, each on the thread that is free."""
        made = empty_trajectories(len(self), steps // every, self._nq, self._nv, self._nm)
        failures: dict[int, MemberFailure] = {}
        begin = np.array([member.sim.integrator.step_count for member in self._members])
        if controller is not None:
            controller_address(controller)  # compiled once, before threads want it

        def play(lane: Lane, i: int) -> None:
            member = self._members[i]
            rows = Rows(made.q[i], made.v[i], made.motor_position[i], made.motor_velocity[i])
            given = None if parameters is None else parameters[i]
            try:
                member.play(lane, i, steps, tables, controller, given, every, rows)
            except SimulationDiverged as error:
                failures[i] = MemberFailure(i, member.sim.integrator.step_count - int(begin[i]), str(error))

        going = [i for i in range(len(self)) if i not in self._failed]
        self._lanes.run(len(going), lambda lane, k: play(lane, going[k]))
        self._failed |= failures
        self._note(made, steps, every, going)
        for row in range(steps // every):
            made.time[:, row] = (begin + (row + 1) * every) * self._dt_ns() / SECOND
        made.time[~np.isfinite(made.q).all(axis=2)] = np.nan
        return replace(made, failures=tuple(failures[i] for i in sorted(failures)))

    def _ask(self, controller: BatchedController, steps: int, period: int, every: int) -> Trajectories:
        """Ask a controller for arrays of all members, again and again."""
        if every % period != 0:
            raise ValueError(f"every: expected a multiple of the controller's period, {period} steps, got {every}")
        parts, failures = [], []
        for done in range(0, steps, period):
            state = self.state()
            said = controller(state.time, state)
            given = said if isinstance(said, Mapping) or said is None else {"positions": said}
            unknown = set(given or ()) - {"positions", "velocities", "efforts"}
            if unknown:
                raise ValueError(f"controller: expected positions, velocities, efforts, got {sorted(unknown)[0]!r}")
            rows = {name: np.asarray(each, dtype=float)[..., None, :] for name, each in (given or {}).items()}
            taken = min(period, steps - done)
            tables = command_tables(
                len(self), self._nm, rows.get("positions"), rows.get("velocities"), rows.get("efforts"), period
            )
            part = self._play(taken, tables, None, None, taken)
            failures += [replace(each, step=each.step + done) for each in part.failures]
            if (done + taken) % every == 0:
                parts.append(part)
        none = empty_trajectories(len(self), 0, self._nq, self._nv, self._nm)
        return join_trajectories([none, *parts], tuple(failures))

    def _steps(self, steps: int | None, tables: CommandTables, controller: object) -> int:
        length = tables.rows * tables.period
        if controller is not None and length:
            raise ValueError("controller: expected no commands beside it, got both")
        if steps is None:
            if not length:
                raise ValueError("steps: expected a number of steps where there are no commands, got None")
            return length
        steps = step_count("steps", steps)
        if length and steps > length:
            raise ValueError(f"steps: expected at most {length}, for which there are commands, got {steps}")
        return steps

    def _parameters(self, given: ArrayLike | None) -> np.ndarray:
        given = np.zeros(0) if given is None else given
        size = np.shape(given)[-1] if np.ndim(given) else 1
        return np.array([of_member("parameters", given, len(self), i, size) for i in range(len(self))])

    def _note(self, made: Trajectories, steps: int, every: int, going: list[int]) -> None:
        """Keep how the members are now: the last row, where they are there."""
        if steps > 0 and steps % every == 0:
            alive = [i for i in going if i not in self._failed]
            for now, rows in zip(self._now, (made.q, made.v, made.motor_position, made.motor_velocity), strict=True):
                now[alive] = rows[alive, -1]
            going = [i for i in going if i in self._failed]
        self._read(going)

    def _read(self, members: Iterable[int]) -> None:
        for i in members:
            write_now(self._members[i].sim, self._now, i)

    def _dt_ns(self) -> np.ndarray:
        return np.array([member.sim.dt_ns for member in self._members])

    def _times(self) -> np.ndarray:
        return np.array([member.sim.seconds for member in self._members])
