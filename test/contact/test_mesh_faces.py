# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Triangles and colours of mesh files, as they are drawn."""

import struct

import numpy as np
import pytest

from mbsim_ros.bench.robot_data import robots_folder
from mbsim_ros.contact.collada import MeshPart
from mbsim_ros.contact.mesh_faces import decimated, read_parts
from mbsim_ros.contact.mesh_points import MeshUnreadable, read_vertices

ROBOTS = robots_folder()
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.1"/></asset>
<library_effects><effect id="e"><profile_COMMON><technique><phong><diffuse><color>1 0.5 0 1</color></diffuse></phong>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="orange"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array>0 0 0 10 0 0 10 10 0 0 10 0 5 5 5</float_array>
</source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<polylist material="paint"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" offset="1"/>
<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>
<tristrips><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 4 2</p></tristrips></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node><scale>1 1 -1</scale><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="paint" target="#orange"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes></COLLADA>"""


def area(parts):
    return sum(np.linalg.norm(normals(part), axis=1).sum() / 2 for part in parts)


def normals(part):
    a, b, c = (part.vertices[part.faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_polygons_of_obj_files_and_their_colours(tmp_path):
    written(tmp_path, "paint.mtl", "newmtl red\nKd 1 0 0\nnewmtl unused\n")
    text = f"mtllib paint.mtl\n{SQUARE}f 1/1/1 2//2 3 4\nusemtl red\nf -4 -2 -1\n"
    plain, red = read_parts(written(tmp_path, "a.obj", text))
    assert (plain.colour, red.colour) == (None, (1.0, 0.0, 0.0, 1.0))
    assert (len(plain.faces), len(red.faces)) == (2, 1)
    assert area([plain]) == pytest.approx(1.0) and area([red]) == pytest.approx(0.5)


def test_a_table_of_colours_outside_the_folder_is_not_opened(tmp_path):
    written(tmp_path, "paint.mtl", "newmtl red\nKd 1 0 0\n")
    (tmp_path / "robot").mkdir()
    (part,) = read_parts(written(tmp_path / "robot", "a.obj", f"mtllib ../paint.mtl\nusemtl red\n{SQUARE}f 1 2 3\n"))
    assert part.colour is None


def test_triangles_of_stl_files_share_vertices(tmp_path):
    triangles = [(0, 0, 0, 1, 0, 0, 1, 1, 0), (0, 0, 0, 1, 1, 0, 0, 1, 0)]
    rows = b"".join(struct.pack("<12fH", 0, 0, 1, *corners, 0) for corners in triangles)
    (part,) = read_parts(written(tmp_path, "a.stl", bytes(80) + struct.pack("<I", 2) + rows))
    assert (len(part.vertices), len(part.faces), part.colour) == (4, 2, None)
    assert area([part]) == pytest.approx(1.0)


def test_collada_is_placed_coloured_and_turned_over_by_a_mirror(tmp_path):
    orange, plain = read_parts(written(tmp_path, "a.dae", DAE))
    assert (orange.colour, plain.colour) == ((1.0, 0.5, 0.0, 1.0), None)
    assert area([orange]) == pytest.approx(1.0)
    assert (normals(orange)[:, 2] < 0.0).all()  # what was seen from above is now seen from below
    assert plain.vertices[:, 2].min() == pytest.approx(-0.5) and len(plain.faces) == 2


@pytest.mark.parametrize(
    "name, text", [("a.obj", f"{SQUARE}f 1 2 9\n"), ("a.obj", SQUARE), ("a.obj", "v x\n"), ("a.ply", "ply\n")]
)
def test_what_cannot_be_drawn_says_so(tmp_path, name, text):
    with pytest.raises(MeshUnreadable):
        read_parts(written(tmp_path, name, text))


def test_large_meshes_become_coarse_and_keep_their_shape():
    angles = np.linspace(0.0, 2 * np.pi, 400, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate([np.column_stack([ring, np.full(400, z)]) for z in np.linspace(0, 1, 100)])
    k = np.arange(99 * 400)
    right = k // 400 * 400 + (k + 1) % 400
    faces = np.concatenate([np.stack([k, right, k + 400], axis=1), np.stack([right, right + 400, k + 400], axis=1)])
    coarse = decimated(MeshPart(vertices, faces), 5000)
    assert 1000 < len(coarse.faces) <= 5000
    assert np.allclose(coarse.vertices.min(axis=0), (-1, -1, 0), atol=0.03)
    assert np.allclose(coarse.vertices.max(axis=0), (1, 1, 1), atol=0.03)
    assert area([coarse]) == pytest.approx(2 * np.pi, rel=0.05)


@pytest.mark.skipif(ROBOTS is None, reason="example-robot-data is not installed")
def test_meshes_of_robots_in_use():
    files = sorted(
        p for p in ROBOTS.rglob("*") if p.suffix.lower() in (".stl", ".obj", ".dae") and p.stat().st_size < 3e5
    )
    assert len(files) > 300
    for path in files[::6]:
        parts = read_parts(path)
        vertices = np.concatenate([part.vertices for part in parts])
        used = read_vertices(path)
        assert np.allclose(vertices.min(axis=0), used.min(axis=0), rtol=1e-6, atol=1e-6), path
        assert np.allclose(vertices.max(axis=0), used.max(axis=0), rtol=1e-6, atol=1e-6), path
