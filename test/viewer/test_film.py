# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Films of recordings: pixels where the geometry says, the nearest in front, ends that meet, the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mbsim_ros import Simulation
from mbsim_ros.bags.history import History
from mbsim_ros.contact.terrain import floor, inclined_plane
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.viewer.drawing.camera import FULL, Camera, camera_around
from mbsim_ros.viewer.drawing.film import PICTURES, write_film
from mbsim_ros.viewer.drawing.raster_kernel import fill_triangles
from mbsim_ros.viewer.drawing.render import Renderer

ROOT = Path(__file__).resolve().parents[2]
CAMERA = Camera(np.array([3.0, -4.0, 2.0]), np.array([0.2, 0.1, 0.5]), np.radians(40.0), (160, 100))
NOTHING = (np.zeros((0, 3)), np.zeros((0, 3), np.uint8), np.zeros((0, 3)))
SQUARE = """<robot name="square"><link name="top"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="0.4 0.4 0.4"/></geometry>
  <material name="m"><color rgba="1 0 0 1"/></material></visual></link></robot>"""


def test_a_point_is_where_its_pixel_looks():
    plane = inclined_plane((0, 0, 0.3), (0.2, -0.1, 1.0)).data
    places, near = CAMERA.on_plane(plane[:3], plane[3])
    rows, columns = np.nonzero(near)
    assert len(rows) > 1000
    np.testing.assert_allclose(places[rows, columns] @ plane[:3], plane[3], atol=1e-9)
    seen = CAMERA.project(places[rows, columns])
    np.testing.assert_allclose(seen[:, :2], np.column_stack([columns, rows]) + 0.5, atol=1e-6)
    np.testing.assert_allclose(seen[:, 2], near[rows, columns], rtol=1e-9)


def test_what_looks_at_a_point_has_it_in_the_middle():
    ahead = np.linalg.norm(CAMERA.look_at - CAMERA.position)
    np.testing.assert_allclose(CAMERA.project(CAMERA.look_at[None]), [[80.0, 50.0, 1.0 / ahead]], rtol=1e-12)
    above = CAMERA.project(CAMERA.look_at[None] + [[0.0, 0.0, 0.1]])[0]
    assert above[0] == pytest.approx(80.0)
    assert above[1] < 50.0
    assert CAMERA.project(2 * CAMERA.position[None] - CAMERA.look_at)[0, 2] == 0.0  # behind it


def test_a_camera_goes_as_far_as_it_must():
    points = np.random.default_rng(1).normal(size=(50, 3)) * [0.3, 0.5, 1.5]
    for size in ((160, 100), (100, 160)):
        seen = camera_around(points, np.zeros(3), size).project(points)
        assert (seen[:, 2] > 0.0).all()
        share = np.abs(seen[:, :2] / size - 0.5).max()  # of the picture, from its middle
        assert share == pytest.approx(0.5 * FULL, rel=1e-9)


def test_the_nearest_triangle_is_seen_whatever_the_order():
    points = np.array([[5, 5, 1.0], [35, 5, 1.0], [5, 35, 1.0], [5, 5, 0.5], [35, 5, 2.0], [5, 35, 0.5]])
    colours = np.array([[100.0, 0, 0], [0, 200.0, 0]])
    pictures = []
    for order in ([0, 1], [1, 0]):
        image, nearness = np.zeros((40, 40, 3)), np.zeros((40, 40))
        faces = np.array([[0, 1, 2], [3, 4, 5]])[order]
        fill_triangles(points, faces, np.ones((2, 3)), colours[order], image, nearness)
        pictures.append(image)
    np.testing.assert_array_equal(*pictures)
    # 1/distance of the second goes from 0.5 to 2 along the columns: it is in front where that is above 1
    assert pictures[0][10, 8].tolist() == [100, 0, 0]
    assert pictures[0][10, 25].tolist() == [0, 200, 0]
    covered = pictures[0].any(axis=2).sum()
    assert covered == pytest.approx(0.5 * 30 * 30, rel=0.05)


def test_a_robot_and_its_shadow():
    model = load_urdf(SQUARE)
    q = model.neutral.copy()
    q[2] = 1.0
    image = Renderer(model, floor(), 0.5, 0.7).draw(CAMERA, q, *NOTHING).astype(float)
    column, row = np.floor(CAMERA.project(q[None, :3])[0, :2]).astype(int)
    red = (image[:, :, 0] > 100) & (image[:, :, 1] < 60)
    assert red[row, column]
    rows, columns = np.nonzero(red)
    corners = q[:3] + 0.2 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    seen = CAMERA.project(corners)
    np.testing.assert_allclose([columns.min(), columns.max() + 1], [seen[:, 0].min(), seen[:, 0].max()], atol=1.5)
    np.testing.assert_allclose([rows.min(), rows.max() + 1], [seen[:, 1].min(), seen[:, 1].max()], atol=1.5)
    far = q.copy()
    far[:2] = 100.0
    darker = Renderer(model, floor(), 0.5, 0.7).draw(CAMERA, far, *NOTHING).astype(float).sum(axis=2) - image.sum(
        axis=2
    )
    assert ((darker > 50) & ~red).sum() > 30


@pytest.fixture(scope="module")
def history():
    """A double pendulum that swings in a circle of 0.8 s, for 3 s."""
    sim = Simulation(str(ROOT / "urdf/double_pendulum.urdf"))
    stamps = np.arange(0, 3_000_000_000, 5_000_000)
    angle = 2 * np.pi * stamps / 800_000_000
    q = np.column_stack([0.5 * np.sin(angle), 0.3 * np.cos(angle)])
    empty = np.zeros((len(stamps), 2))
    return History("/", sim, stamps, ("shoulder", "elbow"), q, empty, q, [""] * len(stamps))


def test_a_closed_film_ends_where_it_began(history, tmp_path):
    file = tmp_path / "swing.gif"
    assert write_film(file, history, 0.3, 1.0, (240, 160), closed=True) == pytest.approx(0.8)
    film = Image.open(file)
    assert film.n_frames == round(0.8 * PICTURES)
    assert film.size == (240, 160)
    assert film.info["loop"] == 0
    assert film.info["duration"] == 1000 // PICTURES
    pictures = []
    for number in range(film.n_frames):
        film.seek(number)
        pictures.append(np.asarray(film.convert("RGB"), float))
    steps = [np.abs(a - b).mean() for a, b in zip(pictures, [*pictures[1:], pictures[0]], strict=True)]
    assert min(steps[:-1]) > 0.0  # it moves
    assert steps[-1] < 2.0 * max(steps[:-1])  # and from the last to the first no more than elsewhere
    again = tmp_path / "again.gif"
    write_film(again, history, 0.3, 1.0, (240, 160), closed=True)
    assert again.read_bytes() == file.read_bytes()


def test_times_outside_the_recording_are_refused(history, tmp_path):
    with pytest.raises(ValueError, match="--at: expected a time in the recording, 0 … 3.00 s, got 4"):
        write_film(tmp_path / "x.gif", history, 4.0, 1.0, (96, 64))
    with pytest.raises(ValueError, match="expected a recording of 8.3 s, got 3.0 s"):
        write_film(tmp_path / "x.gif", history, 2.9, 4.0, (96, 64), closed=True)
