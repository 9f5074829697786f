# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Small valid meshes of every format that is read: a pyramid, as text and as bytes."""

from __future__ import annotations

import struct

_CORNERS = ((0.0, 0.0, 0.3), (0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.1, -0.1, 0.0))
_FACES = ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1), (1, 3, 2), (1, 4, 3))


def _words(numbers: tuple) -> str:
    return " ".join(map(str, numbers))


STL_TEXT = (
    "solid pyramid\n"
    + "".join(
        "facet normal 0 0 1\n outer loop\n"
        + "".join(f"  vertex {_words(_CORNERS[k])}\n" for k in face)
        + " endloop\nendfacet\n"
        for face in _FACES
    )
    + "endsolid\n"
).encode()
STL_BYTES = (
    b"a pyramid".ljust(80, b" ")
    + struct.pack("<I", len(_FACES))
    + b"".join(struct.pack("<12fH", 0, 0, 1, *(x for k in face for x in _CORNERS[k]), 0) for face in _FACES)
)
OBJ = (
    "mtllib pyramid.mtl\no pyramid\n"
    + "".join(f"v {_words(corner)}\n" for corner in _CORNERS)
    + "vn 0 0 1\nvt 0 1\nusemtl red\ns off\n"
    + "".join(f"f {' '.join(f'{k + 1}/1/1' for k in face)}\n" for face in _FACES[:3])
    + "usemtl blue\nf -5 -1 -4\nf 2 3 4 5\n"
).encode()
MTL = b"newmtl red\nKd 0.8 0.1 0.1\nd 0.9\n\nnewmtl blue\nKd 0.1 0.1 0.8\nTr 0.5\n"
DAE = f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.5" name="half"/><up_axis>Z_UP</up_axis></asset>
  <library_effects><effect id="paint"><profile_COMMON><technique sid="t"><phong>
    <diffuse><color>0.8 0.2 0.1 1</color></diffuse><transparency><float>0.9</float></transparency>
  </phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="red"><instance_effect url="#paint"/></material></library_materials>
  <library_geometries><geometry id="pyramid"><mesh>
    <source id="p"><float_array id="a" count="15">{" ".join(map(_words, _CORNERS))}</float_array>
      <technique_common><accessor source="#a" count="5" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="4" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
      <input semantic="NORMAL" source="#p" offset="1"/>
      <p>0 0 1 0 2 0 0 0 2 0 3 0 0 0 3 0 4 0 0 0 4 0 1 0</p></triangles>
    <polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>1 2 3 4</p></polylist>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene"><node id="n"><translate>0 0 1</translate><rotate>0 0 1 30</rotate>
    <node><matrix>1 0 0 0 0 1 0 0 0 0 1 0.2 0 0 0 1</matrix><scale>1 2 1</scale><instance_geometry url="#pyramid">
      <bind_material><technique_common><instance_material symbol="m" target="#red"/></technique_common></bind_material>
    </instance_geometry></node></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>"""
