# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Distance and points of contact of convex bodies, against what defines them and against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbsim_ros.collision.gjk_kernel import SIMPLEX_COLUMNS, distance_into
from mbsim_ros.collision.touching_points_kernel import (
    MOST_CORNERS,
    MOST_POINTS,
    NORMAL,
    ON_SECOND,
    PLANE,
    POINT,
    POINT_COLUMNS,
    touching_points_into,
)  # fmt: skip


def distance(a, b, guess=(0.0, 0.0, 0.0)):
    """Distance, the way from b to a, and the nearest points."""
    direction, witness = np.array(guess), np.zeros(6)
    found = distance_into(a, b, np.zeros((4, SIMPLEX_COLUMNS)), direction, witness)
    return found, direction, witness[:3], witness[3:]


def touching(a, b, guess=(0.0, 0.0, 0.0)):
    """Distance and points (n, 10)."""
    points = np.zeros((MOST_POINTS, POINT_COLUMNS))
    sizes = [np.linalg.norm(each - each.mean(axis=0), axis=1).max() for each in (a, b)]
    found, count = touching_points_into(
        a,
        b,
        *sizes,
        np.array(guess),
        np.zeros((4, SIMPLEX_COLUMNS)),
        np.zeros(6),
        np.zeros((4, MOST_CORNERS, 3)),
        points,
    )
    return found, points[:count]


def box(x, y, z, turn=(0.0, 0.0, 0.0), at=(0.0, 0.0, 0.0)):
    corners = np.array(list(itertools.product((-x, x), (-y, y), (-z, z))))
    return Rotation.from_rotvec(turn).apply(corners) + at


def test_an_edge_along_a_face_has_the_way_of_the_face():
    """Vertices of such a difference lie on lines: rounding makes triangles without an area, which say anything."""
    rng, tilt = np.random.default_rng(1), 0.0981
    wall = box(0.121, 0.146, 0.296, (0.0, tilt, 0.0))
    outward = np.array([-np.cos(tilt), 0.0, np.sin(tilt)])
    for _ in range(2000):
        block = box(0.027, 0.072, 0.097, at=np.array([-0.1505, -0.1, 0.12]) + 1e-3 * rng.normal(size=3))
        gap = (block @ outward).min() - 0.121
        found, way, on_a, on_b = distance(wall, block, -outward)  # as the step before had it
        assert gap > 0.0
        np.testing.assert_allclose([found, *way], [gap, *(-gap * outward)], atol=1e-9)
        np.testing.assert_allclose(on_a - on_b, way, atol=1e-12)


def test_the_distance_is_that_of_planes_that_separate():
    """Two planes square to the way between the nearest points have the bodies behind them: nothing can be nearer."""
    rng = np.random.default_rng(0)
    apart = 0
    for _ in range(2000):
        a = rng.normal(size=(rng.integers(1, 30), 3)) * rng.uniform(0.05, 0.3, 3)
        b = rng.normal(size=(rng.integers(1, 30), 3)) * rng.uniform(0.05, 0.3, 3) + 0.6 * rng.normal(size=3)
        found, way, on_a, on_b = distance(a, b)
        if found > 0.0:
            apart += 1
            n = way / np.linalg.norm(way)
            assert (a @ n).min() - (b @ n).max() == pytest.approx(found, abs=1e-12)
            np.testing.assert_allclose(on_a - on_b, way, atol=1e-12)
            assert np.linalg.norm(way) == pytest.approx(found, abs=1e-12)
        else:  # a common point: no direction separates them
            directions = rng.normal(size=(50, 3))
            assert all((a @ n).min() <= (b @ n).max() + 1e-9 for n in directions)
    assert 500 < apart < 1900


def test_bodies_of_few_vertices():
    point, edge = np.zeros((1, 3)), np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    assert distance(point, np.array([[3.0, 4.0, 0.0]]))[0] == pytest.approx(5.0)
    assert distance(point, edge)[0] == pytest.approx(1.0)
    assert distance(edge, edge + np.array([0.5, 0.0, 2.0]))[0] == pytest.approx(2.0)
    assert distance(point, point)[0] == 0.0


def test_a_box_on_a_box_touches_at_four_corners():
    found, points = touching(box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.1, at=(0.01, 0.0, 0.201)))
    assert found == pytest.approx(1e-3)
    assert sorted(map(tuple, np.round(points[:, POINT : POINT + 2], 9))) == [
        (-0.09, -0.1),
        (-0.09, 0.1),
        (0.1, -0.1),
        (0.1, 0.1),
    ]
    np.testing.assert_allclose(points[:, NORMAL : NORMAL + 3], np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-12)
    assert (points[:, ON_SECOND] == 1.0).all()


def test_turned_by_an_eighth_they_touch_at_eight():
    _, points = touching(box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.1, turn=(0.0, 0.0, np.pi / 4), at=(0.0, 0.0, 0.201)))
    assert len(points) == 8
    reach = np.abs(points[:, POINT : POINT + 2]).max(axis=1)
    np.testing.assert_allclose(reach, 0.1, atol=1e-9)


def test_crossed_edges_touch_at_one_point():
    roof = box(0.1, 0.1, 0.1, turn=(np.pi / 4, 0.0, 0.0))
    other = box(0.1, 0.1, 0.1, turn=(0.0, np.pi / 4, 0.0), at=(0.02, 0.01, 0.1 * 2.0 * np.sqrt(2.0) + 0.005))
    found, points = touching(roof, other)
    assert found == pytest.approx(0.005)
    np.testing.assert_allclose(points[0, POINT : POINT + 2], [0.02, 0.0], atol=1e-9)
    np.testing.assert_allclose(points[0, NORMAL : NORMAL + 3], [0.0, 0.0, 1.0], atol=1e-9)


def test_an_edge_on_a_face_touches_at_its_two_ends_over_the_face():
    beam = box(0.3, 0.02, 0.02, turn=(np.pi / 4, 0.0, 0.0), at=(0.0, 0.0, 0.1 + 0.02 * np.sqrt(2.0) + 0.001))
    found, points = touching(box(0.1, 0.1, 0.1), beam)
    assert found == pytest.approx(1e-3)
    assert sorted(np.round(points[:, POINT], 9)) == [-0.1, 0.1]


def test_what_overlaps_goes_on_along_the_way_it_had():
    lower, upper = box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.1, at=(0.0, 0.0, 0.19))
    found, points = touching(lower, upper, guess=(0.0, 0.0, -1.0))
    assert found == pytest.approx(-0.01)
    assert len(points) == 4
    depth = [(p[PLANE : PLANE + 3] - p[POINT : POINT + 3]) @ p[NORMAL : NORMAL + 3] for p in points]
    np.testing.assert_allclose(depth, 0.01, atol=1e-12)


def test_points_are_found_for_any_two_bodies():
    rng = np.random.default_rng(4)
    for _ in range(500):
        a = rng.normal(size=(rng.integers(1, 20), 3)) * rng.uniform(0.02, 0.3, 3)
        b = rng.normal(size=(rng.integers(1, 20), 3)) * rng.uniform(0.02, 0.3, 3) + 0.4 * rng.normal(size=3)
        _, points = touching(a, b)
        assert 1 <= len(points) <= MOST_POINTS
        assert np.isfinite(points).all()
        np.testing.assert_allclose(np.linalg.norm(points[:, NORMAL : NORMAL + 3], axis=1), 1.0, atol=1e-9)
