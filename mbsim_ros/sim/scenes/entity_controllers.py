# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controllers of entities of a scene, each written for its robot alone: `sim.run(2.0, {"walker": gait, "arm": hold})`.

Each sees its own robot under its own names, and commands it: joints, motors, coupling and pushes. It is the same as
nodes in the namespaces of the entities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mbsim_ros.control.command import Command, Targets, command_from, listed
from mbsim_ros.control.controller import Controller
from mbsim_ros.coupling.of_entities import with_part
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.clock import SECOND, whole_steps
from mbsim_ros.sim.scenes.entity_view import EntityView

if TYPE_CHECKING:
    import numpy as np

    from mbsim_ros.sim.simulation import Simulation


class EntityControllers:
    """Asks the controllers of entities and makes one command of what they say; called with the simulation.

    Each is asked every own `control_period`, if it has one, or as often as all of them; efforts hold until then.
    """

    def __init__(self, sim: Simulation, controllers: Mapping[str, Controller], control_period: float | None):
        """control_period: [s] of all of them, in place of their own."""
        self._sim, self._entities = sim, sim.entities
        known = () if sim.entities is None else tuple(sim.entities)
        for name, controller in controllers.items():
            if name not in known:
                hint = did_you_mean(name, known, f"there are {', '.join(known) or 'none, it is one robot'}", 0)
                raise ValueError(f"controller: no entity named {name!r}: {hint}")
            if not hasattr(controller, "update"):
                raise ValueError(f"controller: expected '{name}' to have update(t, state), got {controller!r:.80}")
        self._controllers = dict(controllers)
        self._views = {name: EntityView(sim, name) for name in controllers}
        self._efforts: dict[str, tuple[dict[str, float], dict[str, float]]] = {}  # of joints and motors, that hold
        periods = {name: _period(sim, each, control_period) for name, each in controllers.items()}
        self._periods, self._asked = periods, 0
        self._every = math.gcd(*periods.values()) if periods else 1
        self.control_period = self._every * sim.dt_ns / SECOND

    def __call__(self, sim: Simulation) -> Command:
        """What all whose time has come command now, under the names of the scene."""
        if sim.entities is not self._entities:  # entities came or went
            self._entities = sim.entities
            for view in self._views.values():
                view.read_scene()
        state, now = sim.state(), self._asked * self._every
        self._asked += 1
        whole = _Joined(sim.coupling.name)
        for name, controller in self._controllers.items():
            if now % self._periods[name] == 0:
                view = self._views[name]
                returned = controller.update(sim.seconds, view.of(state))
                try:
                    command = listed(command_from(returned, view.joint_names), view.joint_names)
                except ValueError as error:
                    raise ValueError(f"'{name}': {error}") from None
                self._efforts[name] = whole.add(view, command, sim)
        for joints, motors in self._efforts.values():
            whole.joints.setdefault("effort", {}).update(joints)
            whole.motors.setdefault("effort", {}).update(motors)
        return whole.command()


class _Joined:
    """Commands of entities under the names of the scene."""

    def __init__(self, coupling: str):
        self.joints: dict[str, dict[str, float]] = {}  # by part
        self.motors: dict[str, dict[str, float]] = {}
        self._wrench: dict[str, np.ndarray] = {}
        self._coupling, self._is_other = coupling, False

    def add(self, view: EntityView, command: Command, sim: Simulation) -> tuple[dict[str, float], dict[str, float]]:
        """Take a command of an entity; returns its efforts of joints and of motors."""
        motor = command.motor if isinstance(command.motor, Targets) else Targets()
        efforts = []
        of_joints = (command, view.joint_names, self.joints)
        for targets, every, parts in (of_joints, (motor, view.motor_names, self.motors)):
            names = targets.names or every
            given = {part: _by_name(part, names, values, view.prefix) for part, values in targets.given().items()}
            efforts.append(given.pop("effort", {}))
            for part, values in given.items():
                parts.setdefault(part, {}).update(values)
        self._wrench.update({f"{view.prefix}{link}": push for link, push in (command.wrench or {}).items()})
        if command.coupling is not None and command.coupling != view.coupling:
            wanted = f"{view.prefix}{command.coupling}"
            self._coupling, self._is_other = with_part(self._coupling, view.name, wanted, sim.couplings), True
        return efforts[0], efforts[1]

    def command(self) -> Command:
        """All of it."""
        motors = {part: values for part, values in self.motors.items() if values}
        return Command(
            (), **{part: values for part, values in self.joints.items() if values},  # type: ignore[arg-type]
            motor=Targets((), **motors) if motors else None,  # type: ignore[arg-type]
            coupling=self._coupling if self._is_other else None, wrench=self._wrench or None,
        )  # fmt: skip


def _by_name(part: str, names: tuple[str, ...], values: object, prefix: str) -> dict[str, float]:
    if isinstance(values, Mapping):
        return {f"{prefix}{name}": float(value) for name, value in values.items()}
    numbers = [float(value) for value in values]  # type: ignore[attr-defined]
    if len(numbers) != len(names):
        raise ValueError(f"{part}: expected a number for each of {', '.join(names)}, got {len(numbers)}")
    return {f"{prefix}{name}": value for name, value in zip(names, numbers, strict=True)}


def _period(sim: Simulation, controller: Controller, control_period: float | None) -> int:
    chosen = getattr(controller, "control_period", None) if control_period is None else control_period
    return 1 if chosen is None else whole_steps("control_period", chosen, sim.dt_ns)
