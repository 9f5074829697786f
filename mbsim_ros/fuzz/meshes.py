# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Mesh files, whole and changed: points that can touch and faces to draw, all finite, or an error that says why not."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

from mbsim_ros.contact.mesh_faces import decimated, read_parts
from mbsim_ros.contact.mesh_points import MeshUnreadable
from mbsim_ros.contact.points import contact_points
from mbsim_ros.fuzz.mesh_seeds import DAE, MTL, OBJ, STL_BYTES, STL_TEXT
from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_text, mutated_xml
from mbsim_ros.fuzz.verdict import Case, refuse_not_finite
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.simulation import Simulation

SIMULATED = 0.1  # of those that can be read
FEW = 3  # faces that a mesh is made coarser to
ROBOT = """<robot name="block"><link name="block"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="{file}" scale="1 1 2"/></geometry></collision></link></robot>"""


class MeshCases:
    """Cases of mesh files, on a robot that touches with them."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._collada = ElementTree.fromstring(DAE)

    def make(self, random: Random) -> Case:
        """A changed file of one of the formats, and now and then its colours changed, too."""
        ending, seed = random.choice(((".stl", STL_TEXT), (".stl", STL_BYTES), (".obj", OBJ), (".dae", DAE.encode())))
        content, moves = self._changed(seed, ending, random), random.random() < SIMULATED
        table = mutated_bytes(MTL, random) if random.random() < 0.3 else MTL
        return Case(content.decode(errors="replace"), lambda: self._use(ending, content, table, moves))

    def _changed(self, seed: bytes, ending: str, random: Random) -> bytes:
        way = random.random()
        if way < 0.4 and ending == ".dae":
            return mutated_xml(self._collada, random).encode(errors="surrogatepass")
        if way < 0.6 and seed is not STL_BYTES:
            return mutated_text(seed.decode(), random).encode(errors="surrogatepass")
        return mutated_bytes(seed, random)

    def _use(self, ending: str, content: bytes, table: bytes, moves: bool) -> None:
        (self._folder / f"mesh{ending}").write_bytes(content)
        (self._folder / "pyramid.mtl").write_bytes(table)
        robot = self._folder / "block.urdf"
        robot.write_text(ROBOT.format(file=f"mesh{ending}"))
        model = load_urdf(robot)
        refuse_not_finite("points", contact_points(model).geometry)
        if moves:
            sim = Simulation(model, terrain="flat")
            sim.advance(3)
            refuse_not_finite("q", sim.q)
        try:
            parts = read_parts(self._folder / f"mesh{ending}")
        except MeshUnreadable:
            return  # it is drawn without
        for part in parts:
            refuse_not_finite("faces", decimated(part, FEW).vertices, part.colour or 0.0)
            if part.faces.min(initial=0) < 0 or part.faces.max(initial=0) >= len(part.vertices):
                raise AssertionError(f"faces of vertices that there are not: {part.faces}")
