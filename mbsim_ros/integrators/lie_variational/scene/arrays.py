# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays that a step of a scene works on.

Every robot or body is a part: a `System` as that of one robot alone (arrays.py above), in a table of addresses
(records.py). What bodies of different parts have to do with each other is in arrays of all of them, of which the arrays
of the parts are slices: the bodies of part t are the rows first_row[t] … of twists and wrenches, and rows has that of
the world before them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbsim_ros.collision.arrays import Bodies, Touches
from mbsim_ros.linalg.tile_matrix import TileMatrix


class Islands(NamedTuple):
    """Which parts touch each other in a step, and how the solution of each island goes. P parts, n points."""

    counts: np.ndarray  # (1,) int64: how many islands
    root: np.ndarray  # (P,) int64, of the trees by which islands are found
    number: np.ndarray  # (P,) int64, of the island of each part, -1 if it does not move
    first_member: np.ndarray  # (P + 1,) int64, where in members those of each island begin
    members: np.ndarray  # (P,) int64
    first_point: np.ndarray  # (P + 1,) int64, where in points those of each island begin
    points: np.ndarray  # (n,) int64, of touches
    is_tight: np.ndarray  # (n,) bool, whether a point of touches is taken to push in this step
    is_open: np.ndarray  # (P,) bool, whether the step of a part is still to be solved
    is_near: np.ndarray  # (P,) bool, whether a part has points with others, or with what is fixed to the world
    iterations: np.ndarray  # (P,) int64, of its island
    failure: np.ndarray  # (P,) int64, 0 or why the step of this part was not taken
    is_pushed: np.ndarray  # (P,) bool, whether forces act on its bodies
    is_stale: np.ndarray  # (P,) bool, whether it has to be factored
    n_ground: np.ndarray  # (P,) int64, points that push on the ground
    n_pairs: np.ndarray  # (P,) int64, points that push on other bodies of the same part
    active_set: np.ndarray  # (P,) says which points push, and which of them slip


class SceneInputs(NamedTuple):
    """What drives and pushes all parts, in the order of the model of all, and where in it the numbers of a part are."""

    joints: np.ndarray  # (7, nv)
    drives: np.ndarray  # (6, nv)
    motors: np.ndarray  # (6, nu)
    external: np.ndarray  # (nb, 6)
    first_dof: np.ndarray  # (P + 1,) int64, where in dofs those of each part begin
    dofs: np.ndarray  # (nv,) int64
    first_column: np.ndarray  # (P + 1,) int64
    columns: np.ndarray  # (nu,) int64
    first_body: np.ndarray  # (P + 1,) int64
    bodies: np.ndarray  # (nb,) int64


class GroundPoints(NamedTuple):
    """The laws of all points on the ground, part by part; those of the parts are slices that they only read."""

    first: np.ndarray  # (P + 1,) int64, where those of each part begin
    parameters: np.ndarray  # (points, 14), contact.layout
    dampings: np.ndarray  # (points, 2) of the law, normal and tangential: those of parameters are for one step


class JointMatrix(NamedTuple):
    """Matrices of islands and their factors, joint_matrix_kernel.py. T tiles of six unknowns, n of the largest part."""

    matrix: TileMatrix
    first_tile: np.ndarray  # (P + 1,) int64, where the tiles of each part begin
    mark: np.ndarray  # (P,) signature of the island that a part was factored with, 0 for those factored by themselves
    serial: np.ndarray  # (P,) int64, of a part: never that of another one
    tiles: np.ndarray  # (T,) int64, scratch: those of an island
    point_twists: np.ndarray  # (n, 6) scratch: of a body, for each unknown of its part, the last tile filled up
    plane_twists: np.ndarray  # (n, 6) scratch
    spatial: np.ndarray  # (6, 6) scratch: what the points between two bodies do to their spatial twists
    block: np.ndarray  # (9,) scratch
    products: np.ndarray  # (36,) scratch


class SceneArrays(NamedTuple):
    """All of it. R rows: those of the bodies of every part, and one of the world for each part."""

    table: np.ndarray  # (P, words) int64, records.py
    first_row: np.ndarray  # (P,) int64
    bodies: Bodies
    wrenches: np.ndarray  # (R, 6)
    tie_twists: np.ndarray  # (R, 6), of ties_kernel
    tie_wrenches: np.ndarray  # (R, 6)
    ground: GroundPoints
    touches: Touches
    islands: Islands
    joint: JointMatrix
    inputs: SceneInputs
