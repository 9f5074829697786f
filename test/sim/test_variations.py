# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Random starts, and the same robot with other masses, payloads and friction."""

from __future__ import annotations

import numpy as np
import pytest
from test_standing import table

from mbsim_ros import Simulation, load_urdf


def test_random_starts_are_within_limits_and_repeat():
    sim = Simulation("urdf/arm.urdf.xacro")
    home = sim.q
    sim.randomise(7)
    first = sim.q
    assert (first >= sim.model.lower).all() and (first <= sim.model.upper).all() and not np.allclose(first, home)
    assert not sim.v.any() and sim.time == 0
    sim.randomise(8)
    assert not np.allclose(sim.q, first)
    sim.randomise(7)
    np.testing.assert_array_equal(sim.q, first)
    sim.randomise(7, spread=0.5)
    np.testing.assert_allclose(sim.q, home + 0.5 * (first - home))
    with pytest.raises(ValueError, match="spread"):
        sim.randomise(7, spread=2.0)


def test_a_floating_robot_stands_at_a_random_start():
    sim = Simulation("urdf/walker.urdf.xacro", terrain="flat")
    for seed in range(3):
        sim.randomise(seed, spread=0.3)
        lowest = min(np.array([contact.penetration for contact in _after_a_step(sim)]), key=lambda p: -p)
        assert 0.0 < lowest < 0.01, "it touches the ground and is not in it"


def _after_a_step(sim):
    sim.step()
    return sim.contacts()


def test_masses_and_payloads():
    arm = load_urdf("urdf/arm.urdf.xacro")
    heavy = arm.with_(mass=2.0)
    assert heavy.mass == pytest.approx(2.0 * arm.mass)
    sims = [Simulation(model) for model in (arm, heavy)]
    np.testing.assert_allclose(sims[1].gravity_effort(), 2.0 * sims[0].gravity_effort())
    np.testing.assert_allclose(sims[1].mass_matrix(), 2.0 * sims[0].mass_matrix(), rtol=1e-12)
    one = arm.with_(mass={"hand": 1.5})
    assert one.mass == pytest.approx(arm.mass + 1.0)
    loaded = arm.with_(payload={"hand": (3.0, (0.0, 0.0, 0.1))})
    carrying = Simulation(loaded)
    J = carrying.jacobian("hand")
    lever = carrying.link_pose("hand")[:3, :3] @ [0.0, 0.0, 0.1]
    down = np.array([0.0, 0.0, 3.0 * 9.81])
    extra = J[:3].T @ down + J[3:].T @ np.cross(lever, down)
    np.testing.assert_allclose(carrying.gravity_effort() - sims[0].gravity_effort(), extra, atol=1e-9)
    assert arm.mass == load_urdf("urdf/arm.urdf.xacro").mass, "it stays what it was"
    assert arm.with_().description == arm.description


def test_friction_and_damping():
    slippery = table().with_(friction=0.05)
    assert Simulation(slippery, terrain="flat").scene.contact.friction_static == 0.05
    arm = load_urdf("urdf/arm.urdf.xacro")
    np.testing.assert_allclose(arm.with_(damping=3.0).damping, 3.0 * arm.damping)
    assert arm.with_(damping={"elbow": 0.7}).damping[2] == 0.7


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"mass": {"hnd": 1.0}}, "mass\\['hnd'\\]: no such entry in the robot: did you mean 'hand'"),
        ({"mass": -1.0}, "mass: expected a finite number of 0 or more"),
        ({"mass": {"hand": 0.0}}, "expected a mass above 0"),
        ({"payload": {"hand": (1.0, (0.0, 0.0))}}, "payload\\['hand'\\]: at: expected 3 finite numbers"),
        ({"payload": {"hand": (1.0, (0, 0, 0), (1.0, 0.1, 0.1))}}, "no body has the principal moments 0.1 0.1 1"),
        ({"payload": {"nobody": 1.0}}, "payload\\['nobody'\\]: no such link"),
        ({"friction": float("nan")}, "friction: expected a finite number"),
        ({"damping": {"elbw": 1.0}}, "damping\\['elbw'\\]"),
    ],
)
def test_what_cannot_be_is_told(change, word):
    with pytest.raises(ValueError, match=word):
        load_urdf("urdf/arm.urdf.xacro").with_(**change)
