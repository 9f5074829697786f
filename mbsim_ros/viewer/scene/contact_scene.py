# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contacts in the scene: a ball at each point that touches, an arrow for its force, both in the colour of its mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.sim.surroundings.contacts import contact_arrays
from mbsim_ros.viewer.drawing.shapes import SPHERE, arrow_mesh, unit_mesh
from mbsim_ros.viewer.drawing.shapes_kernel import contacts_into
from mbsim_ros.viewer.page.web_server import MARKS
from mbsim_ros.viewer.scene.scene_update import instance_colours, update_node

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, ViserServer

    from mbsim_ros.bags.history import History
    from mbsim_ros.sim.simulation import Simulation

WEIGHT_LENGTH = 0.5  # m, of the arrow for a force as large as the robot's weight
RADIUS = 0.01  # m
STRIDE = 8  # contacts: for so many at a time room is made
COLOURS = {
    ContactMode.SLIDING: (255, 140, 0),
    ContactMode.SLIDING_TO_STICKING: (204, 230, 26),
    ContactMode.STICKING: (26, 191, 51),
    ContactMode.STICKING_TO_SLIDING: (230, 38, 26),
    ContactMode.NEGATIVE_NORMAL_FORCE: (51, 102, 255),
}


def contacts_at(history: History, row: int, force_length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What touched at an instant of a recording, as `ContactScene.show` takes it; force_length: of arrows [m/N]."""
    if history.contacts is None:
        return np.zeros((0, 3)), np.zeros((0, 3), np.uint8), np.zeros((0, 3))
    contacts = history.contacts
    return _shown(contacts.modes[row], contacts.positions[row], contacts.forces[row], force_length)


def contacts_of(sim: Simulation, weight_length: float = WEIGHT_LENGTH) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What touches in the last step of a simulation, the same way; the robot's weight is an arrow so long [m]."""
    return _shown(*contact_arrays(sim.integrator), weight_length / max(9.81 * sim.model.mass, 1e-9))


def _shown(
    modes: np.ndarray, positions: np.ndarray, forces: np.ndarray, force_length: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    on = modes != ContactMode.NO_CONTACT
    colours = np.array([COLOURS[ContactMode(mode)] for mode in modes[on]], dtype=np.uint8).reshape(-1, 3)
    return positions[on], colours, positions[on] + force_length * forces[on]


class ContactScene:
    """Shows contacts; size: of the robot [m], for the balls and arrows to be seen."""

    def __init__(self, server: ViserServer, size: float = 1.0):
        self._server = server
        self._radius = RADIUS * max(size, 0.2)
        self._meshes = unit_mesh(SPHERE), arrow_mesh()
        self._nodes: list[BatchedMeshHandle] = []  # balls and arrows
        self._room = 0  # a node of the scene has as many instances as it was made with
        self._visible = True
        self._origin = np.zeros(3)  # the point of the world that is drawn at the scene's origin
        self._centres = np.zeros((0, 3), np.float32)  # in the world

    @property
    def visible(self) -> bool:
        """Whether contacts are drawn."""
        return self._visible

    @visible.setter
    def visible(self, value: bool) -> None:
        self._visible = value
        for node in self._nodes:
            node.visible = value

    def show(self, points: np.ndarray, colours: np.ndarray, tips: np.ndarray) -> None:
        """Points (n, 3) in the world, their colours (n, 3) uint8, and the tips (n, 3) of their force arrows.

        A tip at its point means that no force acts.
        """
        if len(points) > self._room:
            self._make_room(len(points))
        if not self._room:
            return
        centres, balls, arrows = (np.empty((self._room, 3), np.float32) for _ in range(3))
        wxyzs = np.empty((self._room, 4), np.float32)
        contacts_into(
            np.ascontiguousarray(points, float),
            np.ascontiguousarray(tips, float),
            self._radius,
            centres,
            balls,
            wxyzs,
            arrows,
        )
        tints = np.zeros((self._room, 3), np.uint8)
        tints[: len(points)] = instance_colours(colours)
        self._centres = centres
        places = self._places()
        update_node(self._nodes[0], batched_positions=places, batched_scales=balls, batched_colors=tints)
        update_node(
            self._nodes[1], batched_positions=places, batched_wxyzs=wxyzs, batched_scales=arrows, batched_colors=tints
        )

    def move(self, origin: np.ndarray) -> None:
        """Show them where they are in the world while another point (3,) of it is drawn at the scene's origin."""
        if (origin == self._origin).all():
            return
        self._origin[:] = origin
        for node in self._nodes:
            update_node(node, batched_positions=self._places())

    def _places(self) -> np.ndarray:
        return (self._centres - self._origin).astype(np.float32)

    def _make_room(self, count: int) -> None:
        """Nodes with places for at least this many contacts; they are as many as there have ever been at once."""
        self._room = -(-count // STRIDE) * STRIDE
        self._centres = np.zeros((self._room, 3), np.float32)
        for node in self._nodes:
            node.remove()
        self._nodes = [
            self._server.scene.add_batched_meshes_simple(
                f"{MARKS}/contacts/{name}", mesh.vertices, mesh.faces, np.tile([1.0, 0.0, 0.0, 0.0], (self._room, 1)),
                np.zeros((self._room, 3)), batched_scales=np.zeros((self._room, 3), np.float32),
                batched_colors=np.zeros((self._room, 3), np.uint8), lod="off", cast_shadow=False, side="double",
                visible=self._visible,
            )
            for name, mesh in zip(("points", "forces"), self._meshes, strict=True)
        ]  # fmt: skip


def legend() -> str:
    """The colours of the modes, as HTML."""
    rows = [
        f'<span style="color:rgb{colour};font-size:1.3em">●</span> {mode.words}' for mode, colour in COLOURS.items()
    ]
    return '<div style="font-size:0.8em;line-height:1.5">' + "<br>".join(rows) + "</div>"
