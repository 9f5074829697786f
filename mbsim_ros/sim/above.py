# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is offered here and made in layers above: pictures, views, figures and bags of a simulation or its recording.

A simulation knows nothing of these layers and runs without what they need; the few calls that lead to them find them by
name when somebody calls. This is the only way up.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

HOMES = {
    "picture": "mbsim_ros.viewer.sim_picture",
    "Viewer": "mbsim_ros.viewer.sim_viewer",
    "view_recording": "mbsim_ros.viewer.recording_view",
    "film_recording": "mbsim_ros.viewer.recording_view",
    "plot_recording": "mbsim_ros.plotting.recording_plot",
    "save_bag": "mbsim_ros.bags.recording.bag",
}


def above(name: str) -> Callable[..., Any]:
    """A function or class of a layer above, loaded when it is first asked for."""
    return getattr(importlib.import_module(HOMES[name]), name)


class SimulationWatcher(Protocol):
    """A view that a simulation tells of its steps."""

    @property
    def address(self) -> str:
        """Where it is seen."""

    def most_steps(self) -> int:
        """How many steps may be taken before it looks again."""

    def after_steps(self, steps: int) -> None:
        """Called when so many were taken."""

    def update(self) -> None:
        """Show the state as it is now."""


class Visible:
    """Pictures and a web view of a simulation."""

    def picture(
        self, camera: object = None, size: tuple[int, int] | None = None, *, save: str | os.PathLike | None = None
    ) -> np.ndarray:
        """A picture of the robot as it is now, (rows, columns, 3) uint8, drawn without screen, browser or ROS.

        camera: "iso" (the default), "side", "front", "back" or "top", from where the whole robot is seen; or a
            `Camera`, in the world or fixed to a link.
        size: pixels (columns, rows); the camera's, or 960 x 600.
        save: a .png or .jpg file to write as well.
        """
        return above("picture")(self, camera, size, save=save)  # type: ignore[no-any-return]

    def view(self, port: int = 8080, *, open: bool = True, real_time_factor: float = 1.0, **options: Any) -> Any:
        """Show the simulation in a web browser from now on, while it is stepped or run; returns the `Viewer`.

        port: to listen on, or the next that is free. open: a browser, where there is a screen.
        real_time_factor: simulated over real time, at most; 0 for as fast as possible. options: as of `Viewer`.
        """
        return above("Viewer")(self, port, open=open, real_time_factor=real_time_factor, **options)
