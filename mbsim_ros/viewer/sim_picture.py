# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A picture of a simulation from Python: as it is now, from any camera, without a screen or a browser."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.viewer.drawing.camera import SIZE, Camera, camera_around, checked_size, view
from mbsim_ros.viewer.drawing.render import Renderer
from mbsim_ros.viewer.scene.contact_scene import WEIGHT_LENGTH, contacts_of
from mbsim_ros.viewer.scene.stage import LEAST_SIZE, round_cell

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

SUFFIXES = (".png", ".jpg", ".jpeg")

# To read meshes costs more than to draw them: a simulation keeps its renderer as long as it lives.
_renderers: WeakKeyDictionary[Simulation, Renderer] = WeakKeyDictionary()


def picture(
    sim: Simulation, camera: Camera | str | None = None, size: tuple[int, int] | None = None, *,
    save: str | os.PathLike | None = None,
) -> np.ndarray:  # fmt: skip
    """The robot on its ground with the contacts of the last step; see `Simulation.picture`."""
    file = None if save is None else Path(save)
    if file is not None and file.suffix.lower() not in SUFFIXES:
        raise ValueError(f"save: expected a file that ends with {', '.join(SUFFIXES)}, got '{file}'")
    renderer = _renderer_of(sim)
    image = renderer.draw(_placed(sim, renderer, camera, size), sim.q, *contacts_of(sim, WEIGHT_LENGTH))
    if file is not None:
        from PIL import Image

        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(file)
    return image


def _renderer_of(sim: Simulation) -> Renderer:
    renderer = _renderers.get(sim)
    if renderer is None:
        renderer = Renderer(sim.model, sim.scene.ground)
        lowest, highest = _bounds(_outline(sim, renderer))
        renderer.size = max(float(np.linalg.norm(highest - lowest)), LEAST_SIZE)
        renderer.cell = round_cell(renderer.size)
        _renderers[sim] = renderer
    return renderer


def _placed(sim: Simulation, renderer: Renderer, camera: Camera | str | None, size: object) -> Camera:
    """The camera in the world, where the robot is now. Raises ValueError for one that there is not."""
    if isinstance(camera, Camera):
        pixels = checked_size(camera.size if size is None else size)
        return replace(camera.in_world(sim.model, sim.q), size=pixels)
    chosen, points = view(camera), _outline(sim, renderer)
    lowest, highest = _bounds(points)
    return camera_around(points, 0.5 * (lowest + highest), checked_size(size or SIZE), *chosen)


def _outline(sim: Simulation, renderer: Renderer) -> np.ndarray:
    """Corners (n, 3) of what is drawn; of a robot without shapes, where its links are."""
    points = renderer.outline(sim.q)
    return points if len(points) else link_pose_rows(sim.model, sim.q)[:, 9:]


def _bounds(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return points.min(axis=0), points.max(axis=0)
