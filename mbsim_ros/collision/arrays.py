# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays that the kernels of collisions take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ShapeArrays(NamedTuple):
    """Convex shapes on bodies: each the hull of its vertices with a radius around it."""

    bodies: np.ndarray  # (s,) of each shape; -1: it is fixed to the world
    groups: np.ndarray  # (s,) shapes of one group do not touch each other
    first: np.ndarray  # (s + 1,) where the vertices of each begin
    vertices: np.ndarray  # (v, 3) in the body's frame
    radii: np.ndarray  # (s,)
    centres: np.ndarray  # (s, 3) of a sphere around all of it, in the body's frame …
    bounds: np.ndarray  # (s,) … and its radius
    parameters: np.ndarray  # (s, 14) of its contact, contact.layout
    by_ratio: np.ndarray  # (s,) bool, whether its damping is by a ratio, which is one for the masses of both
    first_own: np.ndarray  # (s + 1,) int64, where pairs of each, as the lower number, with a law of their own begin
    own_other: np.ndarray  # (p,) int64, the higher number of each …
    own_parameters: np.ndarray  # (p, 14) … and the law


class Bodies(NamedTuple):
    """Where the bodies of all trees are and how they move; R rows, that of body b is b + 1, row 0 is the world's."""

    rows: np.ndarray  # (R, ROW_COLUMNS), dynamics.layout
    twists: np.ndarray  # (R, 6) spatial, of the last midpoint, by body
    part_of: np.ndarray  # (R,) int64, number of the tree that a body belongs to
    reference: np.ndarray  # (R, 12) P_WB and R_WB where its shapes were looked at last, by body
    is_still: np.ndarray  # (R,) bool, whether it is still there, by body


class Places(NamedTuple):
    """Where shapes are at the beginning of a step, and scratch memory."""

    vertices: np.ndarray  # (v, 3) in the world
    centres: np.ndarray  # (s, 3)
    motions: np.ndarray  # (s, 4) velocity of the centre, and by how much the rest may be faster
    reaches: np.ndarray  # (s,) radius about the centre of all that a shape may have to do with in this step
    order: np.ndarray  # (s,) int64, by where they begin along x: kept, since it changes little from step to step
    head: np.ndarray  # (s,) int64, first point of the step before of each shape, -1 for none …
    following: np.ndarray  # (n,) int64, … and after each point the next one of its shape
    direction: np.ndarray  # (3,)
    simplex: np.ndarray  # (4, 10)
    witness: np.ndarray  # (6,)
    faces: np.ndarray  # (4, 32, 3)
    points: np.ndarray  # (8, 10)


class Found(NamedTuple):
    """Points of contact: where, between whom, by which law. The first counts[0] rows mean something."""

    counts: np.ndarray  # (2,) int64: how many, and how many more there were no rows for
    between: np.ndarray  # (n, 5) int64, FIRST_SHAPE … of touches_kernel
    geometry: np.ndarray  # (n, 7), LOCAL_… of touches_kernel
    parameters: np.ndarray  # (n, 14), contact.layout
    modes: np.ndarray  # (n,) int64
    deflections: np.ndarray  # (n, 3) in the frame of the body that carries the plane
    results: np.ndarray  # (n, 16), contact.layout
    dampings: np.ndarray  # (n, 2) of the law, normal and tangential: those of parameters are for one step
    stored: np.ndarray  # (n, 2) what the springs of each hold at the node, normal and tangential [J]


class Touches(NamedTuple):
    """Contact between shapes, with points that are found at the beginning of each step."""

    shapes: ShapeArrays
    places: Places
    now: Found
    before: Found  # those of the step before; once new ones are found, what a step that fails goes back to
    blocks: np.ndarray  # (n, 9)
    active: np.ndarray  # (n,) int64, those that push, island by island
    energies: np.ndarray  # (6,) of all points, contact.layout
    point_energies: np.ndarray  # (6,) scratch, of one
    node_energies: np.ndarray  # (6,) those at the beginning of the last step, to which `before` belongs
