# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact between two bodies: momentum to rounding, energy, geometry of boxes and spheres."""

from __future__ import annotations

import numpy as np
import pytest
from midpoint_bodies import Bodies

from mbsim_ros.contact.body_pairs import body_pairs
from mbsim_ros.contact.body_pairs_kernel import box_gap
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.settings import ContactSettings

H = 1e-3
LINK = """<link name="{name}"><inertial><mass value="{mass}"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry>{shape}</geometry></collision></link>
 <joint name="free_{name}" type="floating"><parent link="world"/><child link="{name}"/></joint>"""
SPHERE, BOX = '<sphere radius="0.1"/>', '<box size="0.2 0.2 0.2"/>'


def two(shape_a, shape_b, *, damping_ratio=0.3, friction=0.5, masses=(1.0, 2.0), table=""):
    links = LINK.format(name="a", mass=masses[0], shape=shape_a) + LINK.format(name="b", mass=masses[1], shape=shape_b)
    model = load_urdf(f'<robot name="two"><link name="world">{table}</link>{links}</robot>')
    points = contact_points(model)
    pairs = body_pairs(model, points)
    settings = ContactSettings(max_penetration=1e-3, damping_ratio=damping_ratio, friction_static=friction)
    p = derive_parameters(sum(masses), 1, settings).between(*masses)
    moments = [
        0.01 if "box" in shape else 0.4 * mass * 0.01 for shape, mass in ((shape_a, masses[0]), (shape_b, masses[1]))
    ]
    return Bodies(masses, moments, None, p.array(), points.bodies, points.geometry, (0.0, 0.0, 0.0), pairs)


def momentum(thing):
    linear = thing.m @ thing.v
    angular = (np.cross(thing.x, thing.m[:, None] * thing.v) + thing.J[:, None] * thing.w).sum(0)
    return np.concatenate([linear, angular])


@pytest.mark.parametrize(
    "shapes", [(SPHERE, SPHERE), (SPHERE, BOX), (BOX, BOX)], ids=["spheres", "sphere and box", "boxes"]
)
def test_a_collision_in_free_space_conserves_momentum(shapes):
    thing = two(*shapes)
    thing.x[1], thing.v[0], thing.v[1] = (0.25, 0.03, -0.02), (1.5, 0.2, 0.1), (-0.5, 0.0, 0.1)
    thing.w[0], thing.w[1] = (2.0, -5.0, 4.0), (-3.0, 1.0, 6.0)
    start, energy, pushed, modes = momentum(thing), thing.energy(), 0, set()
    for _ in range(200):
        thing.step(H)
        pushed += thing.pair_count
        modes |= {ContactMode(mode) for mode in thing.pair_state.modes}
    assert pushed > 5
    assert ContactMode.SLIDING in modes
    assert np.abs(momentum(thing) - start).max() < 1e-12 * np.abs(start).max()
    assert np.linalg.norm(thing.v[1] - [-0.5, 0.0, 0.1]) > 0.3
    assert thing.energy() < energy
    assert thing.iterations < 60


def test_equal_elastic_spheres_exchange_their_velocities():
    thing = two(SPHERE, SPHERE, damping_ratio=0.0, friction=0.0, masses=(1.0, 1.0))
    thing.x[1], thing.v[0] = (0.25, 0.0, 0.0), (1.0, 0.0, 0.0)
    for _ in range(200):
        thing.step(H)
    np.testing.assert_allclose(thing.v, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], atol=0.01)


def test_the_energy_of_a_collision_adds_up():
    thing = two(SPHERE, SPHERE)
    thing.x[1], thing.v[0], thing.w[0] = (0.21, 0.02, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 9.0)
    start = thing.energy()
    for _ in range(60):
        thing.step(H)
    e = thing.pair_state.energy()
    # the normal turns during contact, so the depths at the ends of steps are those of the tangent planes
    assert thing.energy() + e.stored + e.damping + e.friction + e.switching == pytest.approx(start, rel=5e-3)


def test_a_box_thrown_on_a_table_of_the_world_comes_to_rest_on_it():
    table = '<collision><origin xyz="0 0 -0.5"/><geometry><box size="4 4 1"/></geometry></collision>'
    thing = two(BOX, SPHERE, damping_ratio=1.0, table=table)
    thing.gravity[2] = -9.81
    thing.x[0], thing.x[1], thing.v[0] = (0.0, 0.0, 0.12), (1.0, 0.0, 0.2), (0.5, 0.0, 0.0)
    for _ in range(700):
        thing.step(H)
    assert np.abs(thing.v).max() < 1e-6
    assert thing.x[0, 2] == pytest.approx(0.1, abs=1e-3)
    assert thing.x[1, 2] == pytest.approx(0.1, abs=2e-3)


def test_distances_to_a_box():
    assert box_gap(1.0, 2.0, 3.0, 1.5, 0.0, 0.0) == (0.5, 1.0, 0.0, 0.0)
    assert box_gap(1.0, 2.0, 3.0, 0.0, -1.9, 0.0)[:3] == (pytest.approx(-0.1), 0.0, -1.0)
    gap, *normal = box_gap(1.0, 2.0, 3.0, -4.0, 6.0, 3.0)
    assert gap == 5.0
    np.testing.assert_allclose(normal, [-0.6, 0.8, 0.0], atol=1e-15)
    rng = np.random.default_rng(4)
    for point in rng.uniform(-4.0, 4.0, (300, 3)):
        gap, *normal = box_gap(1.0, 2.0, 3.0, *point)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        # the place that distance away along the normal lies on the surface
        assert box_gap(1.0, 2.0, 3.0, *(point - gap * np.array(normal)))[0] == pytest.approx(0.0, abs=1e-12)


def test_pairs_are_those_that_can_meet():
    legs = """<robot name="r"><link name="body"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
      <joint name="j" type="continuous"><parent link="body"/><child link="arm"/></joint></robot>"""
    model = load_urdf(legs)
    points = contact_points(model)
    assert len(body_pairs(model, points)) == 0  # one robot does not meet itself unless told
    told = body_pairs(model, points, [("arm", "body")])
    assert len(told) == 9
    assert told.shape_links == ("body", "arm")
    with pytest.raises(ValueError, match="same body"):
        body_pairs(model, points, [("arm", "arm")])
    with pytest.raises(KeyError, match="hand"):
        body_pairs(model, points, [("arm", "hand")])
