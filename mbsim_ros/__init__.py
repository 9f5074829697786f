# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Structure-preserving simulation of URDF robots, as a library and as ROS 2 nodes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mbsim_ros.moved import keep_old_names

if TYPE_CHECKING:
    from mbsim_ros import dynamics
    from mbsim_ros.ensemble.ensemble import Ensemble
    from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
    from mbsim_ros.lagrangian.integrator import variational_integrator
    from mbsim_ros.model.assembly.builder import ModelBuilder
    from mbsim_ros.model.loading import load_urdf
    from mbsim_ros.model.model import Model
    from mbsim_ros.model.problems import SidecarError, UrdfError
    from mbsim_ros.sim.recording.recorder import Recorder, Recording
    from mbsim_ros.sim.simulation import Simulation
    from mbsim_ros.sim.world import load_world
    from mbsim_ros.viewer.drawing.camera import Camera
    from mbsim_ros.viewer.sim_viewer import Viewer

__version__ = "0.1.0"
__all__ = [
    "Camera",
    "Ensemble",
    "Model",
    "ModelBuilder",
    "Recorder",
    "Recording",
    "SidecarError",
    "Simulation",
    "SimulationDiverged",
    "UnsupportedModel",
    "UrdfError",
    "Viewer",
    "__version__",
    "dynamics",
    "load_urdf",
    "load_world",
    "variational_integrator",
]

# Public name → module it is in, imported when the name is first used: commands and nodes that do without numba or
# lxml do not wait for them.
_HOMES = {
    "Camera": "mbsim_ros.viewer.drawing.camera",
    "Ensemble": "mbsim_ros.ensemble.ensemble",
    "Model": "mbsim_ros.model.model",
    "ModelBuilder": "mbsim_ros.model.assembly.builder",
    "Recorder": "mbsim_ros.sim.recording.recorder",
    "Recording": "mbsim_ros.sim.recording.recorder",
    "SidecarError": "mbsim_ros.model.problems",
    "Simulation": "mbsim_ros.sim.simulation",
    "SimulationDiverged": "mbsim_ros.integrators.errors",
    "UnsupportedModel": "mbsim_ros.integrators.errors",
    "UrdfError": "mbsim_ros.model.problems",
    "Viewer": "mbsim_ros.viewer.sim_viewer",
    "load_urdf": "mbsim_ros.model.loading",
    "load_world": "mbsim_ros.sim.world",
    "variational_integrator": "mbsim_ros.lagrangian.integrator",
}


def __getattr__(name: str) -> Any:
    if name == "dynamics":
        return importlib.import_module("mbsim_ros.dynamics")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value  # from now on an ordinary attribute
    return value


keep_old_names()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
