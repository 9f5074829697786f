# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Joints that were never given gains: one rule for Python and topics, which holds robots of the wild without ringing."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from sim_robots import pendulum

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.bench.robot_data import find_robot
from mbsim_ros.cli.parts.check_contact import touching
from mbsim_ros.contact.terrain import floor
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import NO_GAIN, Refusal
from mbsim_ros.sim.joint_resistance import SimulationWarning


def wrist(dt=1e-3):
    """A heavy arm with a light hand: what carries the arm is far too much for the hand."""
    builder = ModelBuilder("wrist").link("world")
    builder.link("upper", mass=5.0, box=(0.1, 0.1, 0.8)).link("palm", mass=0.01, sphere=0.02)
    swings = {"axis": (0, 1, 0), "lower": -3, "upper": 3, "velocity": 10}
    builder.joint("shoulder", "revolute", "world", "upper", effort=100, **swings)
    builder.joint("hand", "revolute", "upper", "palm", xyz=(0, 0, -0.4), effort=40, **swings)
    return Simulation(builder.build("fixed"), dt)


def test_python_and_topics_have_one_rule(caplog):
    """The same gains whether `drive` takes the positions, or a command, or nobody commands."""
    sims = [wrist(), wrist(), wrist()]
    with caplog.at_level(logging.INFO, logger="mbsim_ros.sim.drives.default_gains"):
        sims[0].drive(position=[0.1, 0.2])
        sims[0].drive(position=[0.2, 0.3])
    assert caplog.messages == [sims[0].gains.sentence()], "said once"
    assert "kp is 25.6 to 681, kd 0.016 to 27.2" in caplog.messages[0]
    CommandInterface(sims[1]).hold()
    command = CommandInterface(sims[2]).joints.read(["shoulder", "hand"], [0.1, 0.2], [], [])
    command.apply()
    for sim in sims[1:]:
        np.testing.assert_array_equal(sim.integrator.drives.kp, sims[0].integrator.drives.kp)
        np.testing.assert_array_equal(sim.integrator.drives.kd, sims[0].integrator.drives.kd)


def test_what_python_cannot_drive_topics_cannot():
    """An integrator without drives refuses positions, one that steps back in time refuses damping, on both ways."""
    for options, why in (
        ({"integrator": "rk4"}, "has no forces but efforts"),
        ({"order": 4}, "a substep back in time"),
    ):
        sim = Simulation(wrist().model, stops=False, **options)
        with pytest.raises(UnsupportedModel, match=why):
            sim.drive(position={"shoulder": 0.1})
        refusal = CommandInterface(sim).joints.read(["shoulder"], [0.1], [], [])
        assert refusal.cause == NO_GAIN and why in refusal.reason
        assert not isinstance(CommandInterface(sim).joints.read(["shoulder"], [], [], [0.1]), Refusal)


def test_gains_that_are_given_stay_what_they_are():
    """The sidecar's come first, and a kp of the user's has no damping beside it that nobody asked for."""
    sim = Simulation(pendulum())
    assert (sim.gains["shoulder"].kp, sim.gains.without) == (60.0, ("elbow",))
    sim.drive(position={"elbow": 0.1}, kp={"elbow": 50.0})
    assert (sim.integrator.drives.kp[1], sim.integrator.drives.kd[1]) == (50.0, 0.0)
    sim.release_drives()
    sim.drive(velocity={"elbow": 0.1})
    assert (sim.integrator.drives.kp[1], sim.integrator.drives.kd[1]) == (0.0, sim.gains["elbow"].kd)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_light_joint_does_not_ring(dt):
    """After a jump of the position the velocity is smooth again within twenty steps, whatever they are."""
    sim = wrist(dt)
    sim.drive(position=[0.0, 0.05])
    v = np.array([(sim.step(), sim.v)[1] for _ in range(40)])
    turns = np.abs(np.diff(v, n=2, axis=0)).max(axis=1)
    assert turns[20:].max() < 0.02 * turns.max()


def test_a_weak_joint_comes_back_without_swinging():
    """A limit that accelerates the joint by 4 rad/s² only: from 0.1 rad it comes to its target, and does not pass it."""
    builder = ModelBuilder("weak").link("world").link("wheel", mass=4.0, inertia=(2.0, 2.0, 2.0))
    builder.joint("axle", "revolute", "world", "wheel", axis=(0, 0, 1), lower=-3, upper=3, effort=8, velocity=10)
    sim = Simulation(builder.build("fixed"))
    sim.drive(position=[0.1])
    recording = sim.run(2.0, record=["q"])
    assert recording["q"].max() < 0.1 + 1e-3 and abs(sim.q[0] - 0.1) < 1e-3


def test_holding_says_who_is_too_weak():
    """A rod of 2 kg and 1 m to the side asks 9.81 N m of its joint: more than it has, unless something else carries it."""

    def boom(effort, terrain=None, **more):
        builder = ModelBuilder("boom").link("world")
        builder.link("rod", mass=2.0, com=(0.5, 0, 0), box=(1.0, 0.1, 0.1), collision=True)
        builder.joint("lift", "revolute", "world", "rod", axis=(0, -1, 0), effort=effort, velocity=5, **more)
        return Simulation(builder.build("fixed"), terrain=terrain)

    with pytest.warns(SimulationWarning, match=r"'lift' needs 9.81 N m, its limit is 9.8$"):
        boom(9.8, lower=-1, upper=1).hold()
    assert touching(boom(9.8, lower=-1, upper=1).model).endswith("'lift' needs 9.81 N m, its limit is 9.8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        boom(9.82, lower=-1, upper=1).hold()
        boom(5.0, lower=0, upper=1).hold()  # a stop carries it
        boom(5.0, lower=-1, upper=1, friction=4.9).hold()
        boom(5.0, floor(-0.049), lower=-1, upper=1).hold()  # it lies on the ground


@pytest.mark.parametrize(
    ("robot", "base"),
    [("solo12", "floating"), ("go2", "floating"), ("hyq", "floating"), ("anymal", "floating"), ("talos", "floating"),
     ("g1", "floating"), ("panda", "fixed"), ("ur5", "fixed")],
)  # fmt: skip
def test_robots_of_others_hold_their_pose(robot, base):
    """Five seconds on their feet, or hanging: less than 0.05 rad away, and still in the end."""
    path = find_robot(robot)
    if path is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(path, base=base, terrain="flat" if base == "floating" else None)
    start = sim.q
    joints = [sim.model.joint(name).iq for name in sim.tau_names]
    sim.drive(position=start[joints])
    sim.advance(4900)
    assert np.abs(sim.q - start)[joints].max() < 0.05
    v = np.array([(sim.step(), sim.v)[1] for _ in range(100)])
    assert np.abs(np.diff(v, axis=0)).max() < 1e-3, "it vibrates"
    assert np.abs(v).max() < 0.05
