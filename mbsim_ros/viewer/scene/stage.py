# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All that a view shows of one robot: the robot, its ground, contacts, balance and trail, and where the camera is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.terrain import Ground
from mbsim_ros.dynamics.momentum import centre_of_mass
from mbsim_ros.model.model import Model
from mbsim_ros.viewer.page.web_server import WORLD
from mbsim_ros.viewer.scene.balance_scene import BalanceScene
from mbsim_ros.viewer.scene.contact_scene import ContactScene
from mbsim_ros.viewer.scene.ground_scene import draw_ground, height_at
from mbsim_ros.viewer.scene.overlay_scene import Overlays
from mbsim_ros.viewer.scene.robot_scene import RobotScene
from mbsim_ros.viewer.scene.scene_update import move_node
from mbsim_ros.viewer.scene.trail import Trail

if TYPE_CHECKING:
    from viser import CameraHandle, ClientHandle, InitialCameraConfig, ViserServer

TRAIL_COLOUR = (0, 114, 178)
FIELD_OF_VIEW = np.radians(40.0)  # from bottom to top
PHONE = 576  # pixels: a page that is no wider has its panel below
ASPECT = 1.5  # columns over rows of a page that has not told
FILLED = 0.85  # of the picture, by the robot
LEAST_SIZE = 0.2  # m: smaller robots are looked at from as near


class Stage:
    """Shows one robot and what surrounds it.

    ground: what it stands on; None draws lines at z = 0 and nothing else.
    follow: whether the view goes along with a floating base.
    """

    def __init__(self, server: ViserServer, model: Model, ground: Ground | None, q: np.ndarray):
        self._server, self.model, self.ground = server, model, ground
        self._lock = threading.RLock()  # viser calls back from threads of its own
        self._q = q.copy()
        self.origin = np.zeros(3)  # the point of the world that is drawn at the scene's origin
        self._world = server.scene.add_frame(WORLD, show_axes=False)
        self.robot = RobotScene(server, model)
        self.robot.place(q)
        lowest, highest = self.robot.bounds()
        self.size = max(float(np.linalg.norm(highest - lowest)), LEAST_SIZE)
        self._middle = 0.5 * (lowest + highest)
        self._corners = self.robot.corners() - self._middle
        self.overlays = Overlays(server, model, self.size)
        self.contacts = ContactScene(server, self.size)
        self.balance = BalanceScene(server, self.size) if model.is_floating and model.mass > 0.0 else None
        self.trail = Trail(server, "base", TRAIL_COLOUR, 0.02 * self.size) if model.is_floating else None
        self.follow = model.is_floating
        self._start = q[:3].copy() if model.is_floating else np.zeros(3)
        draw_ground(server, ground, cell=round_cell(self.size))
        self.look()
        server.on_client_connect(self._on_page)

    def look(
        self, direction: tuple[float, float, float] = (0.75, -1.0, 0.45), closeness: float = 1.0, aspect: float = ASPECT
    ) -> None:
        """Let all cameras look at the robot from a direction, so that it fills the view.

        aspect: columns over rows of pictures that no page has asked for.
        """
        self._direction, self._closeness = np.array(direction) / np.linalg.norm(direction), closeness
        self._aim(self._server.initial_camera, aspect)
        for client in self._server.get_clients().values():
            self._aim(client.camera, client.camera.aspect, client.camera.image_width)

    def _aim(self, camera: CameraHandle | InitialCameraConfig, aspect: float = ASPECT, width: int = 1000) -> None:
        """Let a camera look at the robot; aspect: columns over rows of its picture, width: columns."""
        free = 1.0 if width > PHONE else 0.55  # of the height, above the panel of a phone
        half = np.tan(0.5 * FIELD_OF_VIEW)
        right = np.cross([0.0, 0.0, 1.0], self._direction)
        right /= np.linalg.norm(right)
        up = np.cross(self._direction, right)
        # Each corner is to be seen: what it is beside the axis of the camera, over what it is ahead, is bounded.
        beside = np.maximum(np.abs(self._corners @ up) / free, np.abs(self._corners @ right) / aspect)
        nearest = float((beside / (FILLED * half) + self._corners @ self._direction).max())
        distance = max(nearest, LEAST_SIZE) / self._closeness
        look_at = self._middle - (1.0 - free) * half * distance * up
        camera.fov = FIELD_OF_VIEW
        camera.position = tuple(look_at + distance * self._direction)
        camera.look_at = tuple(look_at)  # after it: with its position a page's camera moves what it looks at

    def _on_page(self, client: ClientHandle) -> None:
        """A page that is higher than wide sees the robot from farther away."""
        if client.camera.aspect < 1.0:
            self._aim(client.camera, client.camera.aspect, client.camera.image_width)

    def place(self, q: np.ndarray) -> np.ndarray:
        """Show the robot at q (nq,); returns the poses of its links, (links, 12)."""
        with self._lock:
            self._q[:] = q
            if self.model.is_floating:
                # The camera is the user's: the world moves below it instead.
                self.origin[:] = self._way(q) if self.follow else 0.0
                x, y, z = (-self.origin).tolist()
                move_node(self._world, x, y, z)
            self.contacts.move(self.origin)
            if self.balance is not None:
                self.balance.move(self.origin)
            rows = self.robot.place(q, self.origin)
            self.overlays.place(rows, self.origin)
            return rows

    def _way(self, q: np.ndarray) -> np.ndarray:
        """How far (3,) the view goes along: up and down only with a robot that would leave the picture."""
        way = q[:3] - self._start
        way[2] -= np.clip(way[2], -self.size, self.size)
        return way  # type: ignore[no-any-return]

    def show_overlay(self, name: str, visible: bool) -> None:
        """Lay one of `OVERLAYS` over the robot, or take it away."""
        with self._lock, self._server.atomic():
            self.overlays.show(name, visible)
            self.place(self._q)

    def set_follow(self, follow: bool) -> None:
        """Whether the view goes along."""
        with self._lock, self._server.atomic():
            self.follow = follow
            self.place(self._q)

    def show_balance(self, q: np.ndarray, contacts: np.ndarray) -> None:
        """Show the centre of mass at q (nq,) and the support polygon of the points (n, 3) that touch."""
        if self.balance is not None:
            centre = centre_of_mass(self.model, q)
            floor = 0.0 if self.ground is None else height_at(self.ground, float(centre[0]), float(centre[1]))
            self.balance.show(centre, floor, contacts)

    def add_to_trail(self, q: np.ndarray) -> None:
        """Let the trail of the base go on to where it is."""
        if self.trail is not None:
            self.trail.add(q[:3])


def round_cell(size: float) -> float:
    """A round distance of the lines of a grid, about a third of the robot: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(size / 3.0))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= size / 3.0))
