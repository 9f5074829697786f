# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making the arrays of a scene from its parts and shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbsim_ros.collision.arrays import Bodies, Found, Places, Touches
from mbsim_ros.collision.gjk_kernel import SIMPLEX_COLUMNS
from mbsim_ros.collision.shapes import ConvexShapes
from mbsim_ros.collision.touches_kernel import BETWEEN_COLUMNS, GEOMETRY_COLUMNS
from mbsim_ros.collision.touching_points_kernel import MOST_CORNERS, MOST_POINTS, POINT_COLUMNS
from mbsim_ros.contact.layout import ENERGIES, PARAMETER_COLUMNS
from mbsim_ros.contact.state import ContactState, contact_state
from mbsim_ros.dynamics.layout import R_WB, ROW_COLUMNS
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.scene.arrays import (
    GroundPoints,
    Islands,
    JointMatrix,
    SceneArrays,
    SceneInputs,
)
from mbsim_ros.integrators.lie_variational.scene.part_layout import PartLayout
from mbsim_ros.linalg.tile_matrix import SIZE, TILE, make_tile_matrix
from mbsim_ros.records import row_of

FAR_AWAY = 1.0e30  # where no body is: its shapes have not been looked at


def make_scene_arrays(
    parts: Sequence[LieVariational], layout: PartLayout, inputs: SceneInputs, shapes: ConvexShapes, state: ContactState
) -> SceneArrays:
    """All arrays; the parts get their rows of those that are of all of them. state: of the points between shapes."""
    n_rows = max(1, sum(part.model.n_bodies + 1 for part in parts))
    rows = np.zeros((n_rows, ROW_COLUMNS))
    twists, wrenches, tie_twists, tie_wrenches = (np.zeros((n_rows, 6)) for _ in range(4))
    first_row, part_of = np.zeros(len(parts), dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    rows[0, R_WB : R_WB + 9 : 4] = 1.0  # the world, also where no part has a row of it
    begin = 0
    for t, part in enumerate(parts):
        end = begin + part.model.n_bodies
        first_row[t], part_of[begin : end + 1] = begin, t
        part.place_bodies(rows[begin : end + 1], twists[begin:end], wrenches[begin:end])
        begin = end + 1
    ground = make_ground(parts)
    touches = make_touches(shapes, layout.rows_of_bodies(shapes.bodies, first_row), state)
    islands = make_islands(len(parts), len(state.modes))
    bodies = Bodies(rows, twists, part_of, np.full((n_rows, 12), FAR_AWAY), np.zeros(n_rows, dtype=bool))
    joint = make_joint_matrix(np.diff(inputs.first_column))
    table = np.array([row_of(part.system) for part in parts], dtype=np.int64).reshape(len(parts), -1)
    return SceneArrays(
        table, first_row, bodies, wrenches, tie_twists, tie_wrenches, ground, touches, islands, joint, inputs
    )


def make_ground(parts: Sequence[LieVariational]) -> GroundPoints:
    """The laws of the points of all parts on the ground, of which the parts get their rows."""
    first = np.cumsum([0, *(len(part.system.contact.bodies) for part in parts)], dtype=np.int64)
    ground = GroundPoints(first, np.zeros((int(first[-1]), PARAMETER_COLUMNS)), np.zeros((int(first[-1]), 2)))
    for part, begin, end in zip(parts, first[:-1], first[1:], strict=True):
        ground.dampings[begin:end] = part.place_contact_laws(ground.parameters[begin:end])
    return ground


def make_joint_matrix(unknowns: np.ndarray) -> JointMatrix:
    """Memory for the matrices of islands of parts with so many unknowns (P,)."""
    tiles = -(-unknowns // TILE)
    first = np.concatenate([[0], np.cumsum(tiles)]).astype(np.int64)
    most, n = TILE * int(tiles.max(initial=0)), int(first[-1])
    return JointMatrix(
        make_tile_matrix(n), first, np.zeros(len(tiles)), np.arange(len(tiles)), np.zeros(n, dtype=np.int64),
        np.zeros((most, TILE)), np.zeros((most, TILE)), np.zeros((TILE, TILE)), np.zeros(9), np.zeros(SIZE),
    )  # fmt: skip


def make_islands(parts: int, points: int) -> Islands:
    """Memory for the islands of so many parts."""

    def whole(n: int) -> np.ndarray:
        return np.zeros(n, dtype=np.int64)

    def flags(n: int) -> np.ndarray:
        return np.zeros(n, dtype=bool)

    return Islands(
        counts=whole(1), root=whole(parts), number=whole(parts), first_member=whole(parts + 1), members=whole(parts),
        first_point=whole(parts + 1), points=whole(points), is_tight=flags(points), is_open=flags(parts),
        is_near=flags(parts), iterations=whole(parts), failure=whole(parts), is_pushed=flags(parts),
        is_stale=flags(parts), n_ground=whole(parts), n_pairs=whole(parts), active_set=np.zeros(parts),
    )  # fmt: skip


def touch_state(shapes: ConvexShapes) -> ContactState:
    """State of as many points between shapes as there is room for."""
    return contact_state(shapes.most_points)


def make_touches(shapes: ConvexShapes, bodies: np.ndarray, state: ContactState) -> Touches:
    """Arrays of shapes that may touch each other; bodies (s,): rows of their bodies, -1 for the world."""
    arrays, n = shapes.arrays(), len(state.modes)
    bodies.setflags(write=False)
    arrays = arrays._replace(bodies=bodies)
    n_shapes = len(arrays.bodies)
    places = Places(
        vertices=np.zeros_like(arrays.vertices), centres=np.zeros_like(arrays.centres),
        motions=np.zeros((n_shapes, 4)), reaches=np.zeros(n_shapes), order=np.arange(n_shapes),
        head=np.zeros(n_shapes, dtype=np.int64), following=np.zeros(n, dtype=np.int64), direction=np.zeros(3),
        simplex=np.zeros((4, SIMPLEX_COLUMNS)), witness=np.zeros(6), faces=np.zeros((4, MOST_CORNERS, 3)),
        points=np.zeros((MOST_POINTS, POINT_COLUMNS)),
    )  # fmt: skip

    def found(modes: np.ndarray, deflections: np.ndarray, results: np.ndarray) -> Found:
        between, geometry = np.zeros((n, BETWEEN_COLUMNS), dtype=np.int64), np.zeros((n, GEOMETRY_COLUMNS))
        count, parameters = np.zeros(2, dtype=np.int64), np.zeros((n, PARAMETER_COLUMNS))
        return Found(
            count, between, geometry, parameters, modes, deflections, results, np.zeros((n, 2)), np.zeros((n, 2))
        )

    now = found(state.modes, state.deflections, state.results)
    before = found(state.modes.copy(), state.deflections.copy(), state.results.copy())
    return Touches(
        arrays, places, now, before, state.blocks, state.active, state.energies, np.zeros(ENERGIES), np.zeros(ENERGIES)
    )
