# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A run that was recorded in Python as a bag, as if a physics node had published it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.formats import cdr_writer
from mbsim_ros.bags.formats.standard_definitions import installed_or_standard
from mbsim_ros.bags.journal import Entry, journal_text
from mbsim_ros.bags.recording.history import NotAgain, rows_again, single_joints
from mbsim_ros.bags.recording.journal import journal_of, steps_of_a_period
from mbsim_ros.bags.recording.setup import setup_of, setup_text
from mbsim_ros.bags.topics import JOURNAL_TOPIC, ODOMETRY_TOPIC, SETUP_TOPIC, STANDARD, STATE_TOPIC
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import IQ, IV, Model
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.joint_transforms import joint_transforms, joint_transforms_into
from mbsim_ros.sim.recording.recorder import Recording

WORLD, ODOM = "world", "odom"  # frames, as the physics node names them
VARIANCE = 1e-9  # of odometry: it is exact, but filters cannot divide by zero
ENTRIES = 500  # of the journal in a message


class _WrittenState(NamedTuple):
    """A state as it is written: velocity and effort are empty where they are not known."""

    stamp: int
    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray  # (tau_names,)


def save_bag(recording: Recording, folder: str | os.PathLike) -> list[str]:
    """See `Recording.save_bag`."""
    if "q" not in recording.channels:
        raise ValueError("this recording has no channel q, so that nothing is known of where the robot was: record it")
    if (np.diff(recording["time_ns"]) <= 0).any():
        raise ValueError("the time of this recording goes back: the simulation was reset meanwhile")
    rows, notes = _rows(recording)
    dt = 1e-3 if recording.log is None else recording.log.sim.dt
    setup, different = setup_of(recording, steps_of_a_period(recording) * dt)
    entries: list[Entry] = []
    if not different and not notes:
        entries, different = journal_of(recording, setup)
    if different and not notes:
        notes.append(f"a replay cannot compare all of it: {different}")
    with BagWriter(folder) as bag:
        _write(bag, recording.model, rows, setup_text(setup), entries)
    return notes


def _rows(recording: Recording) -> tuple[list[_WrittenState], list[str]]:
    """All rows with velocities and efforts, by computing them again; where that is not possible, why."""
    times, q = recording["time_ns"].tolist(), recording["q"]
    try:
        again = rows_again(recording, np.arange(len(recording)))
        return [_WrittenState(times[k], q[k], sim.v, effort) for k, (sim, effort) in enumerate(again)], []
    except NotAgain as error:
        none = np.zeros(0)
        velocities = recording.channels.get("v", [none] * len(q))
        note = f"no efforts, and a replay has nothing to compare with: {error}"
        return [_WrittenState(times[k], q[k], velocities[k], none) for k in range(len(q))], [note]


def _write(bag: BagWriter, model: Model, rows: list[_WrittenState], setup: str, entries: list[Entry]) -> None:
    known = {topic.name: topic for topic in STANDARD}
    wanted = [SETUP_TOPIC, "robot_description", STATE_TOPIC, JOURNAL_TOPIC, "/clock", "/tf", "/tf_static"]
    for name in [*wanted, *([ODOMETRY_TOPIC] if model.is_floating else [])]:
        text, digest = installed_or_standard(known[name].type)
        bag.add_topic(_absolute(name), known[name].type, known[name].quality, text=text, digest=digest)
    begin = rows[0].stamp
    bag.write(_absolute(SETUP_TOPIC), begin, cdr_writer.string(setup))
    bag.write("/robot_description", begin, cdr_writer.string(to_urdf(model.description, for_ros=True)))
    bag.write("/tf_static", begin, cdr_writer.transforms(begin, _still(model)))
    places = _Frames(model)
    for row in rows:
        bag.write("/clock", row.stamp, cdr_writer.clock(row.stamp))
        if model.is_floating:
            twist = row.v[:6] if len(row.v) else np.zeros(6)
            message = cdr_writer.odometry(row.stamp, ODOM, model.link_names[0], row.q[:7], twist, VARIANCE)
            bag.write(_absolute(ODOMETRY_TOPIC), row.stamp, message)
        bag.write(_absolute(STATE_TOPIC), row.stamp, _joint_state(model, row))
        bag.write("/tf", row.stamp, cdr_writer.transforms(row.stamp, places.at(row.q)))
    for sequence, first in enumerate(range(0, len(entries), ENTRIES)):
        part = entries[first : first + ENTRIES]
        bag.write(_absolute(JOURNAL_TOPIC), part[-1].stamp, cdr_writer.string(journal_text(sequence, part)))


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def _joint_state(model: Model, row: _WrittenState) -> bytes:
    joints = single_joints(model)
    topology = model.topology[[joint.body for joint in joints]]
    effort = np.zeros(len(joints))
    if len(row.effort):
        effort[[joint.iv >= 0 for joint in joints]] = row.effort  # who mimics has none, its leader bears the load
    velocity = model.tree_v(row.v)[topology[:, IV]] if len(row.v) else row.v
    names = tuple(joint.name for joint in joints)
    return cdr_writer.joint_state(row.stamp, names, model.tree_q(row.q)[topology[:, IQ]], velocity, effort)


class _Frames:
    """What /tf says: the base in odom, and every joint that moves."""

    def __init__(self, model: Model):
        self._model = model
        self._transforms = joint_transforms(model, model.joints, model.is_floating)
        joints = [model.description.joint(joint.name) for joint in model.joints]
        base = [(ODOM, model.description.root.name)] if model.is_floating else []
        self._pairs = [*base, *((joint.parent, joint.child) for joint in joints)]
        self._starts = 7 * np.arange(len(self._pairs))

    def at(self, q: np.ndarray) -> Iterator[tuple[str, str, np.ndarray]]:
        out = np.empty(7 * len(self._pairs))
        joint_transforms_into(*self._transforms, self._model.tree_q(q), self._starts, out)
        for (parent, child), placed in zip(self._pairs, out.reshape(-1, 7), strict=True):
            yield parent, child, placed


def _still(model: Model) -> Iterator[tuple[str, str, np.ndarray]]:
    """What /tf_static says: odom, or a fixed base, in the world, and the fixed joints."""
    root, here = model.description.root.name, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    if model.is_floating or root != WORLD:
        yield WORLD, ODOM if model.is_floating else root, here
    for joint in model.description.joints:
        if joint.type == "fixed":
            X = joint.origin.matrix()
            w, x, y, z = quaternion.from_matrix(X[:3, :3])
            yield joint.parent, joint.child, np.array([*X[:3, 3], x, y, z, w])
