# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Pictures of a simulation from Python: the right pixels from every camera, of every kind of robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mbsim_ros import Camera, ModelBuilder, Simulation
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import height_field
from mbsim_ros.viewer.drawing.render import SAND

ROOT = Path(__file__).resolve().parents[2]
SIZE = (160, 100)
RED = """<robot name="red"><link name="box"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="0 0 {z}"/><geometry><box size="{size}"/></geometry>
  <material name="m"><color rgba="1 0 0 1"/></material></visual></link></robot>"""


def red_box(z=0.5):
    return Simulation(RED.format(size="0.4 0.2 0.1", z=z), terrain=False)


def is_red(image):
    """Columns and rows, (n, 2), of the pixels that show the box."""
    r, g, b = (image[:, :, k].astype(int) for k in range(3))
    return np.argwhere((r > 100) & (r > 2 * g) & (r > 2 * b))[:, ::-1]


def extent(pixels):
    return np.ptp(pixels, axis=0) + 1


def test_named_views_show_the_whole_robot_from_their_side():
    sim = red_box()
    ratios = {"side": 0.4 / 0.1, "front": 0.2 / 0.1, "back": 0.2 / 0.1, "top": 0.4 / 0.2}
    for name, ratio in ratios.items():
        image = sim.picture(name, (400, 400))
        assert image.shape == (400, 400, 3) and image.dtype == np.uint8
        columns, rows = extent(is_red(image))
        assert columns / rows == pytest.approx(ratio, rel=0.4), name  # near sides look larger
        assert 300 < max(columns, rows) < 400, name
    np.testing.assert_array_equal(sim.picture(size=SIZE), sim.picture("iso", SIZE))


def test_a_camera_sees_what_is_ahead_of_it():
    sim = red_box()
    image = sim.picture(Camera((2.0, 0.0, 0.5), (0.0, 0.0, 0.5), size=SIZE))
    np.testing.assert_allclose(is_red(image).mean(axis=0), [79.5, 49.5], atol=1.0)
    away = sim.picture(Camera((2.0, 0.0, 0.5), (3.0, 0.0, 0.5), size=SIZE))
    assert not len(is_red(away))
    down = sim.picture(Camera((0.0, 0.0, 2.0), (0.0, 0.0, 0.0), size=SIZE))  # along its up, where x is up instead
    columns, rows = extent(is_red(down))
    assert rows > 1.5 * columns


def test_a_camera_on_a_link_goes_along_with_it():
    sim = Simulation(ROOT / "urdf/walker.urdf.xacro", terrain=False)
    onboard = Camera((0.0, 0.0, 3.0), (0.0, 0.0, 0.0), link=sim.model.link_names[0])
    first = sim.picture(onboard, SIZE)
    q = sim.q
    q[:3] += [3.0, -2.0, 7.0]
    q[3:7] = [0.0, 0.0, np.sin(0.4), np.cos(0.4)]
    sim.reset(q)
    moved = sim.picture(onboard, SIZE)
    inside = np.s_[30:70, 55:105]  # the robot, not the lines far below it
    assert np.abs(first[inside].astype(int) - moved[inside]).mean() < 25  # the light is the world's


def test_a_robot_that_hangs_below_the_lines_is_seen():
    sim = red_box(z=-0.5)
    assert len(is_red(sim.picture(size=SIZE))) > 500


def test_contacts_and_hills_are_drawn():
    hills = height_field(0.05 * np.random.default_rng(0).random((12, 12)), 0.3, origin=(-1.6, -1.6))
    with pytest.warns(ContactWarning):  # its home is for a floor
        on_hills = Simulation(ROOT / "urdf/walker.urdf.xacro", terrain=hills).picture(size=SIZE)
    sand = np.abs(on_hills / on_hills.max(axis=2, keepdims=True) - np.array(SAND) / max(SAND)).max(axis=2) < 0.02
    assert sand.mean() > 0.3
    sim = Simulation(ROOT / "urdf/walker.urdf.xacro")
    assert not _coloured(sim.picture(size=SIZE))
    sim.run(0.2)
    assert _coloured(sim.picture(size=SIZE))


def _coloured(image):
    """Pixels in the green of a point that sticks, in light or shadow."""
    r, g, b = (image[:, :, k].astype(int) for k in range(3))
    return int(((g > 90) & (g > 2 * r) & (g > 2 * b)).sum())


def test_a_robot_without_shapes_has_a_picture():
    bare = ModelBuilder("bare").link("a", mass=1.0, inertia=(0.1, 0.1, 0.1)).build()
    assert Simulation(bare).picture(size=SIZE).shape == (100, 160, 3)


def test_it_is_written_as_well(tmp_path):
    sim = red_box()
    image = sim.picture("side", SIZE, save=tmp_path / "new" / "box.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "new" / "box.png")), image)


def test_what_is_no_camera_is_refused():
    sim = red_box()
    with pytest.raises(ValueError, match=r"camera: no view named 'sied': did you mean 'side'"):
        sim.picture("sied")
    with pytest.raises(ValueError, match=r"size: expected \(columns, rows\)"):
        sim.picture(size=(0, 5))
    with pytest.raises(ValueError, match=r"save: expected a file that ends with"):
        sim.picture(save="box.bmp")
    with pytest.raises(ValueError, match="position: expected three finite numbers"):
        Camera((0, 1), (0, 0, 0))
    with pytest.raises(ValueError, match="look_at: expected another point"):
        Camera((0, 0, 1), (0, 0, 1))
    with pytest.raises(ValueError, match="field_of_view"):
        Camera((0, 0, 1), (0, 0, 0), 4.0)
    with pytest.raises(KeyError, match="no link named 'hand'; there are: box"):
        sim.picture(Camera((0, 0, 1), (0, 0, 0), link="hand"))
