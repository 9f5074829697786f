# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`EntityView`: the state of a scene as one of its entities has it, under its own names, as if it were alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.coupling.of_entities import UNCOUPLED, parts_of
from mbsim_ros.dynamics.robot_state import RobotState
from mbsim_ros.model.merging import BASE
from mbsim_ros.sim.names import as_slice, driven_joints

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


class EntityView:
    """Where an entity's numbers are among those of a scene. Ask for `read_scene` when entities came or went.

    joint_names: its driven joints; links: those of it that can touch; motor_names, coupling: of the coupling in force.
    """

    def __init__(self, sim: Simulation, name: str):
        self.name, self.prefix, self._sim = name, f"{name}/", sim
        self.read_scene()

    def read_scene(self) -> None:
        """Find out where the entity's numbers are."""
        sim = self._sim
        assert sim.entities is not None
        entity = sim.entities[self.name]
        self.model, self._in_q, self._in_v = entity.model, as_slice(entity.in_q), as_slice(entity.in_v)
        places = {name: place for place, name in enumerate(sim.tau_names)}
        self.joint_names = driven_joints(entity.model).names
        self._driven = _places([places[f"{self.prefix}{name}"] for name in self.joint_names])
        links = [(k, link) for k, link in enumerate(sim.link_forces.links) if link.startswith(self.prefix)]
        self._touching = _places([k for k, _ in links])
        self.links = tuple(link.removeprefix(self.prefix) for _, link in links)
        self._coupling: str | None = None  # that of the scene, of which the columns are known here

    def read_coupling(self, coupling: str) -> bool:
        """Find out where its columns of D are, by the name of the scene's coupling; whether that is another one."""
        if coupling == self._coupling:
            return False
        sim, self._coupling = self._sim, coupling
        on_base = f"{self.prefix}{BASE}/"
        columns = [
            (k, name.removeprefix(self.prefix))
            for k, name in enumerate(sim.motor_names)
            if name.startswith(self.prefix) and not name.startswith(on_base)
        ]
        self.columns = _places([k for k, _ in columns])
        self.motor_names = tuple(name for _, name in columns)
        self.coupling = parts_of(coupling, sim.couplings).get(self.name, UNCOUPLED).removeprefix(self.prefix)
        return True

    def of(self, state: RobotState) -> RobotState:
        """Its part of a state of the scene."""
        self.read_coupling(state.coupling)
        values = state.contact_values
        return RobotState(
            state.time, state.q[self._in_q], state.v[self._in_v], state.motor_position[self.columns],
            state.motor_velocity[self.columns], self.coupling, state.effort[self._driven], self.model.is_floating,
            self.links, None if values is None else values[self._touching],
        )  # fmt: skip


def _places(found: list[int]) -> np.ndarray | slice:
    return as_slice(np.array(found, dtype=np.int64))
