"""Parameters of the physics node that may change while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult

from mbsim_ros.nodes.physics_outputs import Outputs
from mbsim_ros.nodes.physics_parameters import PARAMETERS

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics import Physics


class LiveParameters:
    """Checks and takes over changes; ROS itself refuses those of parameters that are read-only, or out of range."""

    def __init__(self, physics: Physics, outputs: Outputs):
        self._physics, self._outputs = physics, outputs
        self._table = {entry.name: entry for entry in PARAMETERS if entry.live}
        physics.add_on_set_parameters_callback(self._on_change)

    def _on_change(self, changes: Sequence[Any]) -> SetParametersResult:
        for change in changes:
            entry = self._table.get(change.name)
            problem = "" if entry is None else entry.problem(change.value)
            if change.name == "gravity":
                values = np.array(change.value, dtype=float)
                if values.shape != (3,) or not np.isfinite(values).all():
                    problem = f"gravity: expected three finite numbers, got {list(change.value)}"
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        for change in changes:
            if change.name in self._table:
                self._take(change.name, change.value)
        return SetParametersResult(successful=True)

    def _take(self, name: str, value: Any) -> None:
        physics = self._physics
        physics.values[name] = value
        if name == "gravity":
            physics.sim.engine.gravity[:] = value
            physics.publish_setup()
        elif name == "real_time_factor":
            physics.pace.factor = value
            physics.pace.restart(physics.stamp)
        elif name == "contact_rate":
            self._outputs.contact_rate = value
