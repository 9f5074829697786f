# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters of the physics node that may change while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter

from mbsim_ros.model.payload import read_payloads
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.nodes.parameters import declare
from mbsim_ros.nodes.physics.outputs import Outputs
from mbsim_ros.nodes.physics.parameters import GAINS, PARAMETERS, gain_parameters
from mbsim_ros.sim.parameters import friction_from
from mbsim_ros.sim.surroundings.friction import change_friction

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

# What a replay has to know of; the others act on the wall clock or on what is shown.
OF_THE_RUN = ("gravity", "friction", "payload", "coupling", "on_missing", "command_timeout", "on_timeout")


class LiveParameters:
    """Checks and takes over changes; ROS itself refuses those of parameters that are read-only, or out of range."""

    def __init__(self, physics: Physics, outputs: Outputs):
        self._physics, self._outputs = physics, outputs
        self._table = {entry.name: entry for entry in PARAMETERS if entry.live}
        self.read_gains()
        physics.add_on_set_parameters_callback(self._on_change)

    def read_gains(self) -> None:
        """Have parameters for the gains of all joints and motors that there are now, and for no others."""
        physics = self._physics
        gains = {entry.name: entry for entry in gain_parameters(physics.sim.gains)}
        new = [entry for name, entry in gains.items() if name not in self._table]
        for name in [name for name in self._table if name.startswith(GAINS) and name not in gains]:
            physics.undeclare_parameter(name)
            del self._table[name], physics.values[name]
        physics.values |= declare(physics, new)
        self._table |= {entry.name: entry for entry in new}  # after that: to declare one is to set it
        self._change_gains({entry.name: physics.values[entry.name] for entry in new})

    def _on_change(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        """All of the changes, or none with the reason."""
        if any(change.name == "use_sim_time" and change.value for change in changes):
            reason = "use_sim_time: expected false: this node makes the time that others use, got true"
            return SetParametersResult(successful=False, reason=reason)
        own = {change.name: change.value for change in changes if change.name in self._table}
        for name, value in own.items():
            problem = self._table[name].problem(value) or self._problem(name, value)
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        gains = {name: value for name, value in own.items() if name.startswith(GAINS)}
        try:  # what may still be refused comes first
            if "payload" in own:
                self._physics.sim.payloads.set(read_payloads(own["payload"]))
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._change_gains(gains)
        for name, value in own.items():
            self._take(name, value)
        if gains or {"gravity", "friction", "payload"} & set(own):
            self._physics.journal.note_set()
        of_the_run = [name for name in own if name in OF_THE_RUN or name in gains]
        if of_the_run:
            self._physics.publish_setup(of_the_run)
        return SetParametersResult(successful=True)

    def _problem(self, name: str, value: Any) -> str:
        """Why this simulation cannot go on with a value, or ""."""
        sim = self._physics.sim
        if name == "gravity":
            values = np.array(value, dtype=float)
            if values.shape != (3,) or not np.isfinite(values).all():
                return f"gravity: expected three finite numbers, got {list(value)}"
        elif name.startswith(GAINS) and name.endswith(".kp") and value == 0.0 < self._physics.values[name]:
            return f"{name}: expected above 0: to let the joint go, command an effort alone"
        elif name == "friction" and (sim.scene.points is None or sim.scene.contact is None):
            return f"friction: expected a robot that touches something, got '{sim.model.name}' without contact"
        elif name == "coupling" and value != sim.coupling.name:
            try:
                sim.couplings[value]
            except KeyError as error:
                if is_coupling_text(value):
                    return f"coupling: {error.args[0]}"
                there = ", ".join(sim.couplings) or "none"
                hint = did_you_mean(value, sim.couplings, f"the sidecar has {there}", 0)
                return f"coupling: no coupling named {value!r}: {hint}"
            if not (sim.capabilities.couplings and sim.capabilities.damping):
                return f"coupling: a clutch takes energy, which {sim.capabilities.title} cannot have"
        return ""

    def _change_gains(self, values: Mapping[str, float]) -> None:
        """Gains by the names of their parameters."""
        own = self._physics.sim.gains
        changes: dict[str, Gains] = {}
        for name, value in values.items():
            of, gain = name.removeprefix(GAINS).rsplit(".", 1)
            new = replace(changes.get(of, own[of]), **{gain: value})
            if new != own[of]:
                changes[of] = new
        if changes:
            self._physics.intake.change_gains(changes)

    def _take(self, name: str, value: Any) -> None:
        physics = self._physics
        physics.values[name] = value
        if name == "gravity":
            physics.sim.integrator.gravity[:] = value
        elif name == "friction":
            change_friction(physics.sim, friction_from(value))
        elif name == "coupling":
            physics.inputs.ask_for_coupling(value)
        elif name == "lockstep_participants":
            physics.wait_for(value)
        elif name == "real_time_factor":
            physics.pace.factor = value
            physics.pace.restart(physics.stamp)
        elif name == "contact_rate":
            self._outputs.contact_rate = value
