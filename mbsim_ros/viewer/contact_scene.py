"""Contacts in the scene: a ball at each point that touches, an arrow for its force, both in the colour of its mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.viewer.shapes import SPHERE, unit_mesh
from mbsim_ros.viewer.web_server import WORLD

if TYPE_CHECKING:
    from viser import ViserServer

WEIGHT_LENGTH = 0.5  # m, of the arrow for a force as large as the robot's weight
RADIUS = 0.01  # m
COLOURS = {
    ContactMode.SLIDING: (255, 140, 0),
    ContactMode.SLIDING_TO_STICKING: (204, 230, 26),
    ContactMode.STICKING: (26, 191, 51),
    ContactMode.STICKING_TO_SLIDING: (230, 38, 26),
    ContactMode.NEGATIVE_NORMAL_FORCE: (51, 102, 255),
}


class ContactScene:
    """Shows contacts; size: of the robot [m], for the balls and arrows to be seen."""

    def __init__(self, server: ViserServer, size: float = 1.0):
        self._server = server
        self._radius = RADIUS * max(size, 0.2)
        self._ball = unit_mesh(SPHERE)
        self._balls: Any = None
        self._arrows: Any = None
        self._shown = (0, 0)

    def show(self, positions: np.ndarray, colours: np.ndarray, tips: np.ndarray) -> None:
        """Points (n, 3) in the world, their colours (n, 3) uint8, and the tips (n, 3) of their force arrows.

        A tip at its point means that no force acts.
        """
        forced = np.linalg.norm(tips - positions, axis=1) > 1e-6 if len(positions) else np.zeros(0, dtype=bool)
        arrows = np.stack([positions, tips], axis=1)[forced] if len(positions) else np.zeros((0, 2, 3))
        counts = (len(positions), len(arrows))
        if counts != self._shown:  # a node of the scene has as many instances as it was made with
            self._remake(positions, colours, arrows, colours[forced])
            self._shown = counts
            return
        if self._balls is not None:
            self._balls.batched_positions, self._balls.batched_colors = positions, colours
        if self._arrows is not None:
            self._arrows.points, self._arrows.colors = arrows, colours[forced]

    def _remake(
        self, positions: np.ndarray, colours: np.ndarray, arrows: np.ndarray, arrow_colours: np.ndarray
    ) -> None:
        for handle in (self._balls, self._arrows):
            if handle is not None:
                handle.remove()
        self._balls = self._arrows = None
        scene = self._server.scene
        if len(positions):
            self._balls = scene.add_batched_meshes_simple(
                f"{WORLD}/contacts/points", self._ball.vertices, self._ball.faces,
                np.tile([1.0, 0.0, 0.0, 0.0], (len(positions), 1)), positions,
                batched_scales=np.full(len(positions), self._radius, dtype=np.float32), batched_colors=colours,
                lod="off", cast_shadow=False,
            )  # fmt: skip
        if len(arrows):
            self._arrows = scene.add_arrows(
                f"{WORLD}/contacts/forces", arrows, arrow_colours, shaft_radius=0.4 * self._radius,
                head_radius=self._radius, head_length=3 * self._radius,
            )  # fmt: skip


def legend() -> str:
    """The colours of the modes, as HTML."""
    rows = [
        f'<span style="color:rgb{colour};font-size:1.3em">●</span> {mode.words}' for mode, colour in COLOURS.items()
    ]
    return '<div style="font-size:0.8em;line-height:1.5">' + "<br>".join(rows) + "</div>"
