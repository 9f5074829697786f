# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Simulation`: a robot with its integrator, contact, couplings, drives, energy ledger and snapshots."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbsim_ros.sim.ledger import Energy, Ledger
    from mbsim_ros.sim.recording.recorder import Recorder, Recording
    from mbsim_ros.sim.simulation import Simulation
    from mbsim_ros.sim.snapshots.snapshot import Snapshot

__all__ = ["Energy", "Ledger", "Recorder", "Recording", "Simulation", "Snapshot"]

# Imported when the name is first used: nodes that only need this layer's clock do not wait for its integrators.
_HOMES = {
    "Energy": "ledger",
    "Ledger": "ledger",
    "Recorder": "recording.recorder",
    "Recording": "recording.recorder",
    "Simulation": "simulation",
    "Snapshot": "snapshots.snapshot",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # from now on an ordinary attribute
    return value
