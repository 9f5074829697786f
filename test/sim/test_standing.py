# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A floating robot without an initial state stands on the ground; a start in the ground is told of."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.bench.robot_data import find_robot
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import height_field, inclined_plane
from mbsim_ros.dynamics.kinematics import link_poses
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.description import Sphere
from mbsim_ros.model.sidecar.settings import InitialState, Sidecar
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.standing import gaps


def table(legs=((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)), length=0.5):
    """A board on legs that are balls: its root is the board, `length` above their centres."""
    builder = ModelBuilder("table").link("board", mass=8.0, box=(0.8, 0.6, 0.05))
    for k, (x, y) in enumerate(legs):
        builder.link(f"leg_{k}", mass=0.5, sphere=0.03, collision=Sphere(0.03))
        builder.joint(f"joint_{k}", "fixed", "board", f"leg_{k}", xyz=(x, y, -length))
    return builder.build("floating")


def test_it_stands_where_it_rests():
    """Four legs carry 10 kg with 1 mm under three: the start is the end, to a thousandth of that depth."""
    sim = Simulation(table(), terrain="flat")
    weight, stiffness = 10.0 * 9.81, sim.scene.contact.stiffness
    assert sim.q[2] == pytest.approx(0.53 - weight / (4 * stiffness), abs=1e-12)
    start = sim.q
    sim.run(1.0)
    assert np.abs(sim.q - start).max() < 1e-6


def test_a_named_state_that_does_not_place_the_base_stands():
    states = {
        "home": InitialState("home", base_rpy=(0.0, 0.0, 1.0)),
        "up": InitialState("up", base_xyz=(0.0, 0.0, 2.0)),
    }
    sim = Simulation(replace(table(), sidecar=Sidecar(initial_states=states)), terrain="flat")
    assert 0.529 < sim.q[2] < 0.53 and sim.q[5] == pytest.approx(np.sin(0.5))
    sim.reset("up")
    assert sim.q[2] == 2.0


def test_joints_by_name_without_the_base_stand():
    sim = Simulation(Path(__file__).resolve().parents[2] / "urdf/walker.urdf.xacro")
    sim.reset({"AFL_t": 0.2})
    assert -0.005 < gaps(sim.model, sim.scene, sim.q).min() < 0.0
    sim.reset({"base": [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0], "AFL_t": 0.2})
    assert sim.q[2] == 2.0


def test_more_points_carry_more():
    """One leg is shorter by less than the others sink in: it carries the rest."""
    builder = ModelBuilder("uneven").link("board", mass=10.0, box=(0.8, 0.6, 0.05))
    lengths = (0.5, 0.5, 0.5, 0.4995)
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        builder.link(f"leg_{k}", mass=1e-3, sphere=0.03, collision=Sphere(0.03))
        builder.joint(f"joint_{k}", "fixed", "board", f"leg_{k}", xyz=(x, y, -lengths[k]))
    model = builder.build("floating")
    sim = Simulation(model, terrain="flat")
    depths = np.maximum(0.0, 0.03 - (sim.q[2] - np.array(lengths)))
    assert depths.sum() * sim.scene.contact.stiffness == pytest.approx(model.mass * 9.81)
    assert depths[3] > 0.0


@pytest.mark.parametrize(
    "ground",
    [
        inclined_plane((0.0, 0.0, 0.3), (0.2, 0.1, 1.0)),
        height_field(np.random.default_rng(3).uniform(0.0, 0.2, (30, 30)), 0.1, (-1.5, -1.5)),
    ],
    ids=["slope", "rubble"],
)
def test_on_uneven_ground_the_lowest_point_touches(ground):
    sim = Simulation(table(), terrain=ground)
    poses = link_poses(sim.model, sim.q)
    legs = [poses[f"leg_{k}"][:3, 3] for k in range(4)]
    lowest = min(ground.gap(place) - 0.03 for place in legs)
    assert -0.01 < lowest < 0.0


def test_a_state_of_the_sidecar_or_of_the_caller_stays_as_it_is():
    sim = Simulation(table(), terrain="flat")
    q = sim.q
    q[2] = 1.0
    sim.reset(q)
    assert sim.q[2] == 1.0
    assert Simulation(table(), terrain=False).q[2] == 0.0


def test_a_start_in_the_ground_is_told_with_the_height_that_would_do():
    sim = Simulation(table(), terrain="flat")
    q = sim.q
    q[2] = 0.2
    with pytest.warns(
        ContactWarning, match=r"'table' starts 0\.33 m in the ground \(sphere of 'leg_\d'.*z = 0\.529"
    ) as told:
        sim.reset(q)
    assert len(told) == 1
    q[2] = 0.5295
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.reset(q)


@pytest.mark.parametrize("name", ["go2", "solo12", "hyq"])
def test_robots_of_others_stay_on_the_ground(name):
    path = find_robot(name)
    if path is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(path, terrain="flat")
    start, highest = sim.q[2], -np.inf
    for _ in range(100):
        sim.advance(10)
        highest = max(highest, sim.q[2])
    assert highest < start + 0.01


def test_the_base_of_what_is_loaded_can_be_said():
    builder = ModelBuilder("arm").link("foot", mass=1.0, box=(0.1, 0.1, 0.1)).link("rod", mass=1.0, box=(0.1, 0.1, 0.4))
    text = builder.joint("hinge", "continuous", "foot", "rod", axis=(0, 1, 0)).urdf()
    assert Simulation(text).model.is_floating and not Simulation(text, base="fixed").model.is_floating
    with pytest.raises(ValueError, match="base: 'fixed' is for a robot that is loaded here"):
        Simulation(table(), base="fixed")


def test_joints_start_within_their_limits():
    """A knee that cannot be straight would be thrown back by its stop, and the robot with it."""
    builder = ModelBuilder("leg").link("hip", mass=1.0, box=(0.1, 0.1, 0.1), collision=True)
    builder.link("shin", mass=0.5, com=(0, 0, -0.2), sphere=0.02)
    builder.joint("knee", "revolute", "hip", "shin", axis=(0, 1, 0), lower=-2.6, upper=-0.8, effort=10, velocity=10)
    sim = Simulation(builder.build("floating"), terrain="flat")
    assert sim.q[7] == -0.8, "legs are as straight as they can be"
    assert Simulation(builder.build("fixed")).q[0] == pytest.approx(-1.7), "an arm begins as in joint_state_publisher"
