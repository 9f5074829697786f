# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Round surfaces that look round, beside edges that look sharp.

Whoever draws takes the normal of a vertex from all faces that share it. Faces that meet at a sharp edge share none.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

SHARP = np.radians(35.0)  # between the normals of two faces


def creased(vertices: np.ndarray, faces: np.ndarray, sharp: float = SHARP) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k, 3) and faces (m, 3) of the same surface; those of sharp edges are there once for each side.

    vertices (n, 3): each once; sharp: the least angle between normals that is an edge [rad].
    """
    starts, ends = faces, np.roll(faces, -1, axis=1)  # of edge k of a face, from its corner k to the next
    edges = np.minimum(starts, ends).ravel() * len(vertices) + np.maximum(starts, ends).ravel()
    order = np.argsort(edges, kind="stable")
    same = edges[order[1:]] == edges[order[:-1]]
    first, second = order[:-1][same], order[1:][same]  # edges of two faces, by their places in faces.ravel()
    normals = _normals(vertices, faces)
    is_round = np.einsum("ij,ij->i", normals[first // 3], normals[second // 3]) > np.cos(sharp)
    first, second = first[is_round], second[is_round]
    # Of two faces that go round the same way one goes along an edge from where the other ends.
    after_first, after_second = _next(first), _next(second)
    opposite = starts.ravel()[first] == ends.ravel()[second]
    joined = np.concatenate([np.where(opposite, after_second, second), np.where(opposite, second, after_second)])
    pairs = (np.ones(2 * len(first), np.int8), (np.concatenate([first, after_first]), joined))
    count, groups = connected_components(coo_matrix(pairs, shape=(faces.size, faces.size)), directed=False)
    places = np.empty(count, np.int64)
    places[groups] = faces.ravel()
    return vertices[places], groups.reshape(-1, 3)


def _next(corners: np.ndarray) -> np.ndarray:
    """The corner that follows in the same face."""
    return corners - corners % 3 + (corners % 3 + 1) % 3  # type: ignore[no-any-return]


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normals (m, 3) of the faces; zero for those without area."""
    corners = vertices[faces].astype(float)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)  # type: ignore[no-any-return]
