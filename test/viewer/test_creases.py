# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Surfaces are drawn round where they are, and sharp at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from trimesh import creation

from mbsim_ros.viewer.drawing.creases import creased

SIDES, CAPS = 2 * 32, 2 * (32 + 1)  # vertices of a cylinder of 32 sides: of its round surface, and of both ends


@pytest.mark.parametrize(
    ("mesh", "count"),
    [(creation.box(), 24), (creation.cylinder(1.0, 1.0, sections=32), SIDES + CAPS), (creation.icosphere(3), 642)],
    ids=["box", "cylinder", "ball"],
)
def test_only_the_vertices_of_sharp_edges_are_there_several_times(mesh, count):
    vertices, faces = creased(mesh.vertices, mesh.faces)
    assert len(vertices) == count
    np.testing.assert_array_equal(vertices[faces], mesh.vertices[mesh.faces])  # the same surface


def test_faces_that_go_round_the_other_way_are_not_joined_to_wrong_corners():
    mesh = creation.icosphere(2)
    faces = mesh.faces.copy()
    faces[::2] = faces[::2, ::-1]
    found, again = creased(mesh.vertices, faces)
    np.testing.assert_array_equal(found[again], mesh.vertices[faces])
