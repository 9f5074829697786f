# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A robot in the scene: made once from its model, then placed by q."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text, parse_coupling
from mbsim_ros.viewer.drawing.shapes import Shape, UnitMesh, shapes_of, unit_mesh
from mbsim_ros.viewer.drawing.shapes_kernel import place_shapes_into
from mbsim_ros.viewer.scene.scene_update import instance_colours, update_node

if TYPE_CHECKING:
    from viser import SceneNodeDragEvent, SceneNodePointerEvent

    OnClick = Callable[[str, SceneNodePointerEvent], None]
    OnDrag = Callable[[str, SceneNodeDragEvent], None]
    from viser import ViserServer

LOCKED = (205, 45, 40)  # colour of the links whose joint is braked
FREE = (120, 190, 240)  # of those off their clutch, where others are driven
# Not below the world that moves when a robot is followed: a browser may draw a node's new place before its new arrays,
# and a robot that walks would leave the picture meanwhile.
ROBOT = "/world/robot"
Signs = tuple[float, float, float]  # 1 or −1


class RobotScene:
    """Draws a robot; `problems` says what of it could not be drawn.

    name: below which its nodes are; shapes: what is drawn, by default what the model says.
    """

    def __init__(self, server: ViserServer, model: Model, name: str = ROBOT, shapes: Sequence[Shape] | None = None):
        self.model = model
        self.problems: list[str] = []
        self._rows = np.empty((len(model.link_names), 12))
        self._groups: list[_Group] = []
        kinds: dict[tuple[Hashable, float, Signs], list[Shape]] = defaultdict(list)
        for shape in shapes_of(model) if shapes is None else shapes:
            kinds[shape.kind, shape.opacity, _signs(shape.scale)].append(shape)
        for number, ((kind, opacity, signs), alike) in enumerate(kinds.items()):
            try:
                mesh = _mirrored(unit_mesh(kind), signs)
            except ValueError as error:
                self.problems.append(str(error))
                continue
            self._groups.append(_Group(server, f"{name}/shapes_{number}", mesh, alike, opacity))
        drawn = [shape for group in self._groups for shape in group.shapes]
        self._links = np.array([shape.link for shape in drawn], dtype=np.int64)
        X_LS = np.stack([shape.X_LS for shape in drawn]) if drawn else np.zeros((0, 4, 4))
        self._R_LS, self._p_LS = X_LS[:, :3, :3].copy(), X_LS[:, :3, 3].copy()

    def place(self, q: ArrayLike, origin: np.ndarray | None = None) -> np.ndarray:
        """Show the robot at q (nq,); returns the poses of its links, (links, 12) as `link_pose_rows` has them.

        origin: what point (3,) of the world is drawn at the scene's origin.
        """
        rows = link_pose_rows(self.model, q, out=self._rows)
        self.place_links(rows, origin)
        return rows

    def place_links(self, rows: np.ndarray, origin: np.ndarray | None = None) -> None:
        """Show the links where they are, (links, 12)."""
        self._rows[:] = rows
        if origin is not None:
            rows = rows.copy()
            rows[:, 9:] -= origin
        count, at = len(self._links), 0
        positions, wxyzs = np.empty((count, 3), np.float32), np.empty((count, 4), np.float32)
        place_shapes_into(rows, self._links, self._R_LS, self._p_LS, positions, wxyzs)
        for group in self._groups:
            end = at + len(group.shapes)
            group.place(positions[at:end], wxyzs[at:end])
            at = end

    def listen(self, on_click: OnClick, on_drag: OnDrag | None = None) -> None:
        """Be called with the name of a link, and viser's event, when a page clicks or drags it."""
        for group in self._groups:
            group.listen(self.model.link_names, on_click, on_drag)

    def show(self, visible: bool, opacity: float = 1.0) -> None:
        """Whether it is drawn; opacity: times that of its shapes."""
        for group in self._groups:
            group.show(visible, opacity)

    def corners(self) -> np.ndarray:
        """Corners (n, 3) of boxes around all shapes, as the robot was placed last; the origin without shapes."""
        if not self._groups:
            return np.zeros((1, 3))
        R_WS, p_WS = self._poses()
        corners = np.concatenate([group.corners for group in self._groups])  # (shapes, 8, 3)
        points = np.einsum("nij,ncj->nci", R_WS, corners) + p_WS[:, None, :]
        return points.reshape(-1, 3)  # type: ignore[no-any-return]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of a box around the robot as it was placed last."""
        corners = self.corners()
        return corners.min(axis=0), corners.max(axis=0)

    def tint(self, colours: Mapping[str, tuple[int, int, int]]) -> None:
        """Give links other colours, by name; those not named have their own."""
        by_row = {row: colours[name] for row, name in enumerate(self.model.link_names) if name in colours}
        for group in self._groups:
            group.tint(by_row)

    def show_coupling(self, coupling: str) -> dict[str, str]:
        """Colour the links by what their joint does in a coupling of the sidecar or a text of one: braked or free.

        Returns that by joint; nothing where the sidecar has no such coupling.
        """
        couplings = {} if self.model.sidecar is None else self.model.sidecar.couplings
        states: dict[str, str] = {}
        entry = couplings.get(coupling)
        if entry is None and is_coupling_text(coupling):
            with contextlib.suppress(ValueError):
                entry = parse_coupling(coupling, self.model.description)
        if entry is not None:
            driven = {joint for joints in entry.motors.values() for joint in joints}
            for joint in self.model.joints:
                is_locked = joint.name in entry.locked
                states[joint.name] = "locked" if is_locked else "driven" if joint.name in driven else "free"
        tints = {"locked": LOCKED, "free": FREE}
        children = {joint.name: joint.child_link for joint in self.model.joints}
        self.tint({children[joint]: tints[state] for joint, state in states.items() if state in tints})
        return states

    def _poses(self) -> tuple[np.ndarray, np.ndarray]:
        """R_WS (n, 3, 3) and p_WS (n, 3) of all shapes, group by group."""
        rows = self._rows[self._links]
        R_WL = rows[:, :9].reshape(-1, 3, 3)
        return R_WL @ self._R_LS, rows[:, 9:] + (R_WL @ self._p_LS[:, :, None])[:, :, 0]


def _signs(scale: tuple[float, float, float]) -> Signs:
    x, y, z = (-1.0 if value < 0.0 else 1.0 for value in scale)
    return x, y, z


def _mirrored(mesh: UnitMesh, signs: Signs) -> UnitMesh:
    """A mesh as it is seen where scales have these signs: an instance with a negative one would be lit from inside."""
    faces = mesh.faces[:, ::-1] if np.prod(signs) < 0.0 else mesh.faces
    return UnitMesh(mesh.vertices * np.array(signs, np.float32), np.ascontiguousarray(faces))


class _Group:
    """The shapes of one kind, opacity and handedness: one batch of instances of a mesh."""

    def __init__(self, server: ViserServer, name: str, mesh: UnitMesh, shapes: list[Shape], opacity: float):
        self.shapes, self._opacity = shapes, opacity
        self._colours = np.array([shape.colour for shape in shapes], dtype=np.uint8)
        self._scales = np.abs(np.array([shape.scale for shape in shapes], dtype=np.float32))
        ends = np.stack([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)])
        box = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        self.corners = self._scales[:, None, :] * box[None, :, :]  # (shapes, 8, 3) of boxes around them
        count = len(shapes)
        self._handle = server.scene.add_batched_meshes_simple(
            name, mesh.vertices, mesh.faces, np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.zeros((count, 3)),
            batched_scales=self._scales, batched_colors=instance_colours(self._colours), lod="off",
            side="double", opacity=None if opacity >= 1.0 else opacity,
            receive_shadow=False,  # stripes, where a surface is nearly along the light
        )  # fmt: skip

    def place(self, positions: np.ndarray, wxyzs: np.ndarray) -> None:
        update_node(self._handle, batched_positions=positions, batched_wxyzs=wxyzs)

    def show(self, visible: bool, opacity: float) -> None:
        self._handle.visible = visible
        total = opacity * self._opacity
        self._handle.opacity = None if total >= 1.0 else total

    def listen(
        self,
        names: Sequence[str],
        on_click: OnClick,
        on_drag: OnDrag | None,
    ) -> None:
        def link_of(event: SceneNodePointerEvent | SceneNodeDragEvent) -> str | None:
            index = 0 if event.instance_index is None and len(self.shapes) == 1 else event.instance_index
            if isinstance(index, int) and 0 <= index < len(self.shapes):  # a page can send anything
                return names[self.shapes[index].link]
            return None

        # Coroutines, and not functions: these are called in the order of the events.
        async def clicked(event: SceneNodePointerEvent) -> None:
            link = link_of(event)
            if link is not None:
                on_click(link, event)

        async def dragged(event: SceneNodeDragEvent) -> None:
            link = link_of(event)
            if link is not None and on_drag is not None:
                on_drag(link, event)

        self._handle.on_click(clicked)
        if on_drag is not None:
            self._handle.on_drag(dragged)

    def tint(self, by_row: Mapping[int, tuple[int, int, int]]) -> None:
        colours = self._colours.copy()
        for number, shape in enumerate(self.shapes):
            if shape.link in by_row:
                colours[number] = by_row[shape.link]
        self._handle.batched_colors = instance_colours(colours)
