# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Recordings of Python as bags: read, drawn and replayed like those of a physics node; what cannot be told is said."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from message_samples import joint_state, odometry, serialized
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from mbsim_ros import ModelBuilder, Recorder, Recording, Simulation
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats import cdr_writer
from mbsim_ros.bags.formats.cdr import joint_message, odometry_message
from mbsim_ros.bags.formats.definitions import definition, type_hash
from mbsim_ros.bags.formats.standard_definitions import STANDARD, standard_definition
from mbsim_ros.bags.history import read_history
from mbsim_ros.bags.replay import replay
from mbsim_ros.contact.terrain import height_map
from mbsim_ros.model.sidecar.height_image import heights_of_image

ROOT = Path(__file__).resolve().parents[2]
STAMP = 12_000_000_345


@pytest.fixture(scope="module")
def sim():
    return Simulation(ROOT / "urdf/walker.urdf.xacro")


def bag_of(recording, folder):
    notes = recording.save_bag(folder)
    (report,) = replay(folder)
    return notes, report


def test_a_run_under_efforts_replays_bit_for_bit(sim, tmp_path):
    sim.reset()
    sim.run(0.05)  # a bag may begin anywhere
    efforts = lambda sim: 3.0 * np.sin(20.0 * sim.seconds) * np.ones(len(sim.tau_names))  # noqa: E731
    recording = sim.run(0.2, efforts, control_period=0.004, record=Recorder(("q",), every=2))
    notes, report = bag_of(recording, tmp_path / "bag")
    assert notes == [] and report.notes == []
    assert report.is_same and report.tolerance == 0.0 and report.states == len(recording) and report.untold == 0
    history = read_history(tmp_path / "bag")
    assert history.notes == [] and history.contacts is not None and history.ledger is not None
    np.testing.assert_array_equal(history.q, recording.q)
    assert history.effort[-1, 0] == pytest.approx(3.0 * np.sin(20.0 * 0.246))


def test_a_run_without_a_controller_replays_under_any_drives(sim, tmp_path):
    sim.reset()
    sim.drive(position=dict.fromkeys(sim.tau_names, 0.1), kp=dict.fromkeys(sim.tau_names, 33.0))
    sim.push("top", [0.0, 5.0, 0.0])
    notes, report = bag_of(sim.run(0.1, record="q"), tmp_path / "bag")
    sim.push("top", None)
    sim.release_drives()
    assert notes == [] and report.is_same and report.untold == 0


def test_what_commands_cannot_say_is_said(sim, tmp_path):
    sim.reset()

    def gains(sim):
        softness = dict.fromkeys(sim.tau_names, 30.0 + sim.seconds)
        return SimpleNamespace(position=dict.fromkeys(sim.tau_names, 0.1), kp=softness)

    recording = sim.run(0.1, gains, control_period=0.01, record=True)
    sim.release_drives()
    notes, report = bag_of(recording, tmp_path / "bag")
    assert "a controller did what no command of ROS can say" in notes[0]
    assert report.is_same and report.states == 1 and report.untold == len(recording) - 1
    history = read_history(tmp_path / "bag")
    np.testing.assert_allclose(history.q, recording.q, atol=1e-15)
    assert "could not be computed again" in history.notes[0]


def test_another_contact_than_parameters_can_say(sim, tmp_path):
    soft = Simulation(sim.model, contact={"max_penetration": 0.004})
    notes, report = bag_of(soft.run(0.02, record="q"), tmp_path / "bag")
    assert "parameters of a node cannot say its contact parameters" in notes[0]
    assert report.untold == 21


def test_a_recording_that_was_loaded(sim, tmp_path):
    sim.reset()
    sim.run(0.05, record=True).save(tmp_path / "run.npz")
    recording = Recording.load(tmp_path / "run.npz")
    notes, report = bag_of(recording, tmp_path / "bag")
    assert "the simulation that it was recorded from is not here" in notes[0] and report.untold == 51
    state = joint_message(next(iter(BagReader(tmp_path / "bag").messages(["/joint_states"]))).data)
    assert len(state.velocity) == len(state.names)
    np.testing.assert_allclose(read_history(tmp_path / "bag").q, recording.q, atol=1e-15)
    with pytest.raises(ValueError, match="exists already"):
        recording.save_bag(tmp_path / "bag")


def test_hills_of_an_image_come_along(tmp_path):
    """More heights than a text should have, at distances that differ: a table beside the text, bit for bit."""
    box = ModelBuilder("box").link("box", mass=1.0, box=(0.2, 0.2, 0.1), collision=True).build("floating")
    hills = height_map(heights_of_image((ROOT / "config/hills.png").read_bytes()), (12.0, 9.0), 0.6)
    sim = Simulation(box, terrain=hills)
    sim.reset(q=[3.0, 2.0, 0.6, 0, 0, 0, 1])
    notes, report = bag_of(sim.run(0.3, record=True), tmp_path / "bag")
    assert notes == [] and report.is_same
    assert any(point.penetration > 0.0 for point in sim.contacts())


def test_a_fixed_robot_on_its_own(tmp_path):
    arm = Simulation(ROOT / "urdf/double_pendulum.urdf")
    arm.reset([0.5, 0.3])
    notes, report = bag_of(arm.run(0.1, record="q"), tmp_path / "bag")
    assert notes == [] and report.is_same and report.untold == 0
    assert "/odom" not in BagReader(tmp_path / "bag").topics


def test_messages_are_those_of_the_middleware():
    names, numbers = ("a", "elbow_2"), np.array([1.5, -2.25])
    ours = cdr_writer.joint_state(STAMP, names, numbers, numbers[:0], 2 * numbers)
    theirs = serialized(joint_state(STAMP, names, "", position=numbers, effort=2 * numbers))
    assert _means(joint_message(ours)) == _means(joint_message(theirs))
    assert len(ours) == len(theirs) or sys.byteorder != "little"
    pose, twist = np.arange(7.0), np.arange(6.0)
    found = odometry_message(cdr_writer.odometry(STAMP, "odom", "top", pose, twist, 1e-9))
    assert (found.stamp, found.frame_id, found.child_frame_id) == (STAMP, "odom", "top")
    np.testing.assert_array_equal(found.pose, pose)
    np.testing.assert_array_equal(found.twist, twist)
    sample = odometry(STAMP)
    frames = sample.header.frame_id, sample.child_frame_id
    assert len(cdr_writer.odometry(STAMP, *frames, pose, twist, 0.0)) == len(serialized(sample))
    from rclpy.serialization import deserialize_message

    clock = deserialize_message(cdr_writer.clock(STAMP), Clock).clock
    assert (clock.sec, clock.nanosec) == (12, 345)
    message = deserialize_message(cdr_writer.transforms(STAMP, [("world", "odom", pose)] * 2), TFMessage)
    one: TransformStamped = message.transforms[1]
    assert (one.header.frame_id, one.child_frame_id, one.transform.rotation.w) == ("world", "odom", 6.0)


def _means(message):
    return (
        message.stamp,
        message.names,
        *(list(getattr(message, part)) for part in ("position", "velocity", "effort")),
    )


@pytest.mark.parametrize("name", STANDARD)
def test_definitions_are_those_of_the_packages(name):
    lines = [line.partition("#")[0].rstrip() for line in definition(name).splitlines()]
    assert standard_definition(name).splitlines() == [line for line in lines if line]
    assert STANDARD[name][2] == type_hash(name)
