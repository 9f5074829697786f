# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Vertices of COLLADA files: units, nodes within nodes, instances, what no face names; and files that are none."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.contact.collada import MOST_INSTANCES, collada_vertices
from mbsim_ros.contact.mesh_points import MeshUnreadable, read_vertices

MESH = """
<library_geometries><geometry id="tetra"><mesh>
  <source id="places"><float_array count="15">0 0 0  1 0 0  0 2 0  0 0 3  9 9 9</float_array>
    <technique_common><accessor stride="3"/></technique_common></source>
  <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
  <triangles count="2">
    <input semantic="VERTEX" offset="0" source="#corners"/><input semantic="NORMAL" offset="1" source="#normals"/>
    <p>0 7 1 7 2 7  0 7 2 7 3 7</p></triangles>
  <lines count="1"><input semantic="VERTEX" offset="0" source="#corners"/><p>0 4</p></lines>
</mesh></geometry></library_geometries>"""
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])


def file(scene, unit="1", head=""):
    text = f"""<?xml version="1.0"?>{head}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{unit}"/><up_axis>Y_UP</up_axis></asset>{MESH}
<library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes></COLLADA>"""
    return text.encode()


def test_only_what_faces_name_counts_and_units_are_metres():
    found = collada_vertices(file('<node><instance_geometry url="#tetra"/></node>', unit="0.01"))
    np.testing.assert_allclose(found, 0.01 * CORNERS)


def test_nodes_place_in_the_order_of_their_transforms():
    inner = '<node><scale>2 2 2</scale><instance_geometry url="#tetra"/></node>'
    found = collada_vertices(file(f"<node><translate>1 0 0</translate><rotate>0 0 1 90</rotate>{inner}</node>"))
    turned = 2.0 * CORNERS @ np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]).T + [1, 0, 0]
    np.testing.assert_allclose(found, turned, atol=1e-12)


def test_matrices_and_instances_of_nodes():
    node = '<node id="part"><matrix>1 0 0 5 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#tetra"/></node>'
    found = collada_vertices(file(f'{node}<node><translate>0 1 0</translate><instance_node url="#part"/></node>'))
    np.testing.assert_allclose(found, np.concatenate([CORNERS + np.array([5, 0, 0]), CORNERS + np.array([5, 1, 0])]))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<COLLADA", b"\x00\xff", file("", head="<!DOCTYPE x [<!ENTITY a 'a'>]>"),
        file('<node id="a"><instance_node url="#a"/></node>'),  # itself
        file("<node>" * 100 + "</node>" * 100), file('<node><matrix>1 2</matrix><instance_geometry url="#tetra"/></node>'),
        file('<node><rotate>x</rotate><instance_geometry url="#tetra"/></node>'),
        file("").replace(b'stride="3"', b'stride="0"'), file("").replace(b"0 7 1 7", b"0 7 99 7"),
        file('<node id="a"><instance_geometry url="#tetra"/><instance_geometry url="#tetra"/></node>'
             + '<node><instance_node url="#a"/><instance_node url="#a"/></node>' * MOST_INSTANCES),
        file("".join(f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
                     for k in range(50))),  # 2^50 nodes without a mesh
    ],
)  # fmt: skip
def test_what_is_none_is_refused(content, tmp_path):
    path = tmp_path / "mesh.dae"
    path.write_bytes(content)
    with pytest.raises(MeshUnreadable):
        read_vertices(path)
