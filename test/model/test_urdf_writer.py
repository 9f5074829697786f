# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Written and read again, a robot is the same."""

import math
import random
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.description import Capsule, Cylinder, Material, Mesh, Origin, Sphere, Visual
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf

FOLDER = Path(__file__).parent
# A material without a usable colour is not worth writing.
FILES = [
    *sorted((FOLDER / "good").glob("*.urdf")),
    *(path for path in sorted((FOLDER / "imperfect").glob("*.urdf")) if path.stem != "bad_colour"),
]
_SHARES = [Path(entry) / "cmeel.prefix/share/example-robot-data/robots" for entry in sys.path]
ROBOTS = next((share for share in _SHARES if share.is_dir()), Path("/nowhere"))
REAL = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]


def parse(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_urdf(source, **options)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_the_corpus_come_back(path):
    robot = parse(path)
    assert parse(to_urdf(robot)) == robot


@pytest.mark.skipif(not REAL, reason="example-robot-data is not installed")
def test_real_robots_come_back():
    for path in REAL:
        robot = parse(path)
        assert parse(to_urdf(robot)) == robot, path


def test_what_is_written_has_no_new_imperfections():
    robot = parse(FOLDER / "good" / "leg.urdf", strict=True)
    assert parse(to_urdf(robot), strict=True).ignored_tags == {}


def test_every_digit_comes_back():
    generator = random.Random(5)
    builder = ModelBuilder("digits").link("l0", mass=math.pi, inertia=(0.1, 0.2, 0.25))
    for i in range(1, 200):
        number = [generator.gauss(0, 1) for _ in range(11)]
        length = math.hypot(*number[6:9])
        axis = [value / length for value in number[6:9]]
        builder.link(f"l{i}", mass=abs(number[0]), com=number[1:4], sphere=abs(number[4]), visual=True)
        builder.joint(
            f"j{i}", generator.choice(["continuous", "planar"]), f"l{i - 1}", f"l{i}", xyz=number[3:6],
            rpy=number[8:11], axis=axis, damping=abs(number[9]), friction=abs(number[10]),
        )  # fmt: skip
    robot = builder.description()
    assert parse(to_urdf(robot)) == robot


def test_a_spherical_joint_is_floating_for_ros():
    builder = ModelBuilder("ball").link("a", mass=1, sphere=1).link("b", mass=1, sphere=1)
    robot = builder.joint("j", "spherical", "a", "b", xyz=(1, 2, 3), damping=0.5).description()
    assert parse(to_urdf(robot)) == robot
    (joint,) = parse(to_urdf(robot, for_ros=True)).joints
    assert joint == replace(robot.joint("j"), type="floating")


def test_a_capsule_is_a_cylinder_and_two_spheres_for_ros():
    origin = Origin((1, 0, 0), (0, math.pi / 2, 0))
    robot = ModelBuilder("pill").link("a", mass=1, sphere=1, visual=Visual(Capsule(0.1, 2), origin)).description()
    assert parse(to_urdf(robot)).root.visuals[0].geometry == Capsule(0.1, 2)
    tube, *balls = parse(to_urdf(robot, for_ros=True)).root.visuals
    assert (tube.geometry, tube.origin) == (Cylinder(0.1, 2), origin)
    assert [ball.geometry for ball in balls] == [Sphere(0.1)] * 2
    np.testing.assert_allclose([ball.origin.xyz for ball in balls], [[0, 0, 0], [2, 0, 0]], atol=1e-15)


@pytest.mark.parametrize("name", ["a part.stl", "package://{}/a part.stl"])
def test_meshes_that_were_found_get_an_address_for_ros(tmp_path, name):
    (tmp_path / "a part.stl").write_bytes(b"solid")
    (tmp_path / "package.xml").write_text("<package/>")
    path = tmp_path / "r.urdf"
    name = name.format(tmp_path.name)
    shape = f'<visual><geometry><mesh filename="{name}" scale="1 1 -1"/></geometry></visual>'
    path.write_text(f'<robot name="r"><link name="a">{shape}</link></robot>')
    robot = parse(path)
    assert parse(to_urdf(robot)) == robot
    (visual,) = parse(to_urdf(robot, for_ros=True), found_meshes={}).root.visuals
    assert visual.geometry == Mesh((tmp_path / "a part.stl").as_uri(), (1, 1, -1))
    assert visual.geometry.path == tmp_path / "a part.stl"


def test_materials_of_one_name_and_two_colours_stay_apart():
    red, blue, other = (
        Material(name, rgba) for name, rgba in (("x", (1, 0, 0, 1)), ("x", (0, 0, 1, 1)), ("y", (0, 1, 0, 1)))
    )
    shapes = [Visual(Sphere(1), material=material) for material in (red, blue, other, other)]
    robot = ModelBuilder("r").link("a", mass=1, sphere=1, visual=shapes).description()
    text = to_urdf(robot)
    assert parse(text) == robot
    assert text.count('<material name="x">') == 2 and text.count('<material name="y">') == 1


def test_rotor_inertias_stay_behind():
    builder = ModelBuilder("r").link("a", mass=1, sphere=1).link("b", mass=1, sphere=1)
    robot = builder.joint("j", "continuous", "a", "b", rotor_inertia=0.1).description()
    assert parse(to_urdf(robot)).joint("j") == replace(robot.joint("j"), rotor_inertia=0)


def test_pinocchio_reads_the_same_robot():
    pinocchio = pytest.importorskip("pinocchio")
    model = chain(6, axes="alternating")
    other = pinocchio.buildModelFromXML(to_urdf(model.description, for_ros=True))
    assert (other.nq, other.nv, list(other.names)[1:]) == (6, 6, list(model.joint_names))
    assert sum(inertia.mass for inertia in other.inertias) == pytest.approx(model.mass)
