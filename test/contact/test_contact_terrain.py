# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Floors, planes and height fields."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbsim_ros.contact.terrain import floor, ground_of, height_field, inclined_plane
from mbsim_ros.model.sidecar.settings import Terrain

WAVES = 0.05 * np.sin(0.9 * np.arange(12))[:, None] * np.cos(1.3 * np.arange(15))[None, :]


def test_floor():
    ground = floor(0.2)
    assert ground.gap((3.0, -4.0, 0.5)) == pytest.approx(0.3)
    np.testing.assert_array_equal(ground.normal((0, 0, 0)), [0, 0, 1])
    assert "floor" in str(ground)


def test_inclined_plane():
    ground = inclined_plane((1.0, 0.0, 2.0), (-3.0, 0.0, 4.0))
    assert ground.gap((1.0, 7.0, 2.0)) == pytest.approx(0.0)
    assert ground.gap(np.array([1.0, 0.0, 2.0]) + 0.5 * np.array([-0.6, 0.0, 0.8])) == pytest.approx(0.5)
    np.testing.assert_allclose(ground.normal((0, 0, 0)), [-0.6, 0.0, 0.8])


def test_a_field_of_a_plane_is_that_plane():
    x, y = np.meshgrid(np.arange(8) * 0.25 - 1.0, np.arange(7) * 0.25 + 0.5)
    field = height_field(0.3 * x - 0.2 * y + 0.1, 0.25, (-1.0, 0.5))
    plane = inclined_plane((0.0, 0.0, 0.1), (-0.3, 0.2, 1.0))
    for point in np.random.default_rng(2).uniform((-0.7, 0.8, -1.0), (0.4, 1.7, 1.0), (100, 3)):
        assert field.gap(point) == pytest.approx(plane.gap(point), abs=1e-14)
        np.testing.assert_allclose(field.normal(point), plane.normal(point), atol=1e-13)


def test_a_field_goes_through_its_heights():
    ground = height_field(WAVES, 0.1, (2.0, -1.0), height=0.3)
    for i, j in [(0, 0), (5, 7), (11, 14), (3, 0)]:
        assert ground.gap((2.0 + 0.1 * j, -1.0 + 0.1 * i, 0.3 + WAVES[i, j])) == pytest.approx(0.0, abs=1e-15)


def test_the_normal_of_a_field_is_its_gradient():
    ground = height_field(WAVES, 0.1)
    e = 1e-6
    for x, y in np.random.default_rng(3).uniform(-0.1, 1.5, (50, 2)):
        n = ground.normal((x, y, 0.0))
        vertical = [
            ground.gap((x + a, y + b, 0.0)) / ground.normal((x + a, y + b, 0.0))[2]
            for a, b in [(e, 0), (-e, 0), (0, e), (0, -e)]
        ]
        gradient = np.array([(vertical[0] - vertical[1]) / (2 * e), (vertical[2] - vertical[3]) / (2 * e), 1.0])
        np.testing.assert_allclose(n, gradient / np.linalg.norm(gradient), atol=1e-8)


def test_gap_and_normal_of_a_field_are_continuous_also_over_its_edge():
    ground = height_field(WAVES, 0.1)
    for start, end in [((-0.35, 0.33), (1.8, 0.71)), ((0.44, -0.4), (0.62, 1.6)), ((0.5, 0.5), (0.5, 1.5))]:
        line = np.linspace(start, end, 20_001)
        gaps = np.array([ground.gap((x, y, -0.2)) for x, y in line])
        normals = np.array([ground.normal((x, y, -0.2)) for x, y in line])
        assert np.abs(np.diff(gaps)).max() < 3e-4
        assert np.abs(np.diff(normals, axis=0)).max() < 3e-3


def test_beyond_the_edge_the_ground_keeps_the_height_of_the_edge():
    ground = height_field(WAVES, 0.1)
    for x, y, height in [
        (-9.0, 0.4, WAVES[4, 0]),
        (1e12, 0.4, WAVES[4, -1]),
        (0.3, 5.0, WAVES[-1, 3]),
        (-50.0, -50.0, WAVES[0, 0]),
    ]:
        assert ground.gap((x, y, height)) == pytest.approx(0.0, abs=1e-14)


def test_a_place_that_is_no_number_gives_no_crash():
    from mbsim_ros.contact.terrain_kernel import terrain_at

    ground = height_field(WAVES, 0.1)
    assert not terrain_at(ground.kind, ground.data, ground.grid, math.nan, math.inf, math.nan)[0] > 0.0


@pytest.mark.parametrize("angle, direction", [(0.3, 0.0), (0.3, math.pi / 2), (-0.2, 1.0)])
def test_an_incline_rises_towards_its_direction(angle, direction):
    ground = ground_of(Terrain("incline", height=0.5, angle=angle, direction=direction))
    ahead = (math.cos(direction), math.sin(direction), 0.5 + math.tan(angle))
    assert ground.gap(ahead) == pytest.approx(0.0, abs=1e-15)
    assert ground.gap((0.0, 0.0, 0.5)) == pytest.approx(0.0, abs=1e-15)


def test_grounds_of_a_sidecar(tmp_path):
    assert ground_of(None).gap((0, 0, 1)) == 1.0
    assert ground_of(Terrain("flat", height=0.4)).gap((0, 0, 1)) == pytest.approx(0.6)
    table = ((0.0, 0.1, 0.2), (0.0, 0.1, 0.2))
    np.save(tmp_path / "table.npy", np.array(table))
    (tmp_path / "table.csv").write_text("0,0.1,0.2\n0,0.1,0.2\n")
    for terrain in (
        Terrain("heightfield", heights=table, spacing=0.5, origin=(1.0, 2.0)),
        Terrain("heightfield", file=tmp_path / "table.npy", spacing=0.5, origin=(1.0, 2.0)),
        Terrain("heightfield", file=tmp_path / "table.csv", spacing=0.5, origin=(1.0, 2.0)),
    ):
        assert ground_of(terrain).gap((1.5, 2.5, 0.1)) == pytest.approx(0.0, abs=1e-15)


def test_a_file_of_objects_is_refused(tmp_path):
    np.save(tmp_path / "bad.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    (tmp_path / "bad.csv").write_text("1,2\n3\n")
    for name in ("bad.npy", "bad.csv"):
        with pytest.raises(ValueError, match=name):
            ground_of(Terrain("heightfield", file=tmp_path / name, spacing=0.5))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: floor(math.nan), "height"),
        (lambda: floor(friction=(0.4, 0.5)), "friction"),
        (lambda: floor(friction=-0.1), "friction"),
        (lambda: inclined_plane((0, 0, 0), (1, 0, 0)), "upward"),
        (lambda: inclined_plane((0, 0), (0, 0, 1)), "point"),
        (lambda: height_field([[0.0, 1.0]], 1.0), "2 x 2"),
        (lambda: height_field([[0.0, 1.0], [0.0]], 1.0), "equal length"),
        (lambda: height_field([[0.0, 1.0], [0.0, math.inf]], 1.0), "finite"),
        (lambda: height_field(WAVES, 0.0), "spacing"),
        (lambda: floor().gap((0, 0)), "point"),
    ],
)
def test_bad_grounds_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
