# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The journal of a run: whatever acted on it, the replay follows, bit for bit; and what is damaged is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hand_made_run import HOPPER, PERIOD, STEPS, begin, wavy
from message_samples import joint_state, serialized
from std_msgs.msg import String

from mbsim_ros.bags.journal import (
    COUPLE,
    GO,
    JOINTS,
    KEYFRAME,
    PUSH,
    SET,
    STAND_BY,
    STATE,
    Entry,
    journal_text,
    keyframe,
    read_journal,
)
from mbsim_ros.bags.recorded_run import CannotReplay
from mbsim_ros.bags.replay import replay
from mbsim_ros.sim.surroundings.friction import change_friction

STAND = "initial_states: {home: {base: {xyz: [0, 0, 0.051]}}}"


class Journalled:
    """A run by hand that writes its journal, and no command: nothing could be guessed."""

    def __init__(self, folder, *robot, friction=-1.0, **changes):
        self.run = begin(folder, *robot, friction=friction, **changes)
        self.sim, self.intake = self.run.sim, self.run.intake
        self.friction, self.entries, self.sequence = friction, [], 0
        self.note(KEYFRAME, keyframe(self.intake, friction))

    def note(self, kind, value=None):
        self.entries.append(Entry(self.run.stamp, kind, value))

    def command(self, command, kind=JOINTS):
        message = joint_state(0, tuple(command), effort=[float(value) for value in command.values()])
        self.intake.joints.read(tuple(command), [], [], list(command.values())).apply()
        self.note(kind, serialized(message))

    def go(self, periods=1, controller=wavy):
        for _ in range(periods):
            if controller is not None:
                self.command(controller(self.sim))
            self.sim.advance(STEPS)
            self.run.stamp += PERIOD
            self.run.publish_state()
            self.note(GO)

    def set(self):
        self.note(SET, keyframe(self.intake, self.friction))

    def flush(self, is_lost=False):
        text = journal_text(self.sequence, self.entries)
        self.sequence, self.entries = self.sequence + 1, []
        if not is_lost:
            self.run.publish("simulation_journal", String(data=text))

    def replayed(self):
        self.flush()
        self.run.writer.close()
        (report,) = replay(self.run.writer.folder)
        return report


def test_everything_that_can_act_at_any_instant(tmp_path):
    """In async, where stamps say nothing: commands, pushes, couplings, hold, another state, gravity, a reset."""
    made = Journalled(tmp_path / "bag", sync="async")
    made.go(10)
    made.sim.push("lower_rod", (3.0, 0.0, 1.0), (0.0, 0.1, 0.0))
    made.note(PUSH, ["lower_rod", [3.0, 0.0, 1.0], [0.0, 0.1, 0.0]])
    made.go(10)
    made.sim.push("lower_rod", None)
    made.note(PUSH, ["lower_rod"])
    made.intake.hold()
    made.note(STAND_BY, "hold")
    made.go(10, None)
    made.sim.reset([0.3, -0.2], [0.1, 0.0])  # the stamp stays, the state is another
    made.set()
    made.run.publish_state()
    made.note(STATE)
    made.go(10, None)
    assert made.intake.couple("both") == ""
    made.note(COUPLE, "both")
    made.go(10, None)
    made.sim.integrator.gravity[:] = (0.0, 1.0, -3.7)
    made.set()
    made.go(10, None)
    made.flush()
    made.sim.reset("home")
    made.run.stamp += 1_000_000_000
    made.intake.hold()
    made.set()
    made.run.publish_state()
    made.note(STATE)
    made.go(10)
    report = made.replayed()
    assert report.is_same, report.difference
    assert (report.states, report.resets, report.untold, report.notes) == (73, 1, 0, [])


def test_friction_is_followed(tmp_path):
    made = Journalled(tmp_path / "bag", HOPPER, STAND, terrain="flat")
    made.go(60)
    change_friction(made.sim, 0.01)
    made.friction = 0.01
    made.set()
    made.go(60)
    assert any(report.penetration > 0.0 for report in made.sim.contacts()), "it stands"
    report = made.replayed()
    assert report.is_same, report.difference
    assert report.states == 121


@pytest.mark.parametrize("is_lost", [False, True])
def test_gains_and_loads_are_followed(is_lost, tmp_path):
    """Also where all before the change is lost: the state of that stamp was published with the gains of before."""
    made = Journalled(tmp_path / "bag")
    made.intake.hold()
    made.note(STAND_BY, "hold")
    made.go(20, None)
    made.flush(is_lost)
    soft = replace(made.sim.gains["elbow"], kp=0.5 * made.sim.gains["elbow"].kp)
    made.intake.change_gains({"elbow": soft})
    made.sim.set_payload("lower_rod", 0.5, (0.0, 0.0, -0.5))
    made.set()
    made.go(20, None)
    made.intake.damp()
    made.note(STAND_BY, "damp")
    made.sim.set_payload("lower_rod", 0.0)
    made.set()
    made.intake.hold()
    made.note(STAND_BY, "hold")
    made.go(20, None)
    report = made.replayed()
    assert report.is_same, report.difference
    assert (report.states, report.untold) == ((40, 21) if is_lost else (61, 0))


def test_it_begins_and_goes_on_with_a_keyframe(tmp_path):
    """Of a recorder that comes late, and loses messages later: the rest is compared, and it is said how much is not."""
    made = Journalled(tmp_path / "bag")
    made.go(20)
    made.flush(is_lost=True)
    made.note(KEYFRAME, keyframe(made.intake, -1.0))
    made.go(20)
    made.flush()
    made.go(20)
    made.flush(is_lost=True)
    made.go(5)
    made.note(KEYFRAME, keyframe(made.intake, -1.0))
    made.go(20)
    report = made.replayed()
    assert report.is_same, report.difference
    assert (report.states, report.untold, report.left_out) == (42, 44, 0)
    assert report.notes == [
        "44 states are from where the bag has no journal, such as before it begins: not compared"
    ]  # fmt: skip


def test_after_its_end_nothing_is_guessed(tmp_path):
    """As in a bag whose recorder was killed: commands are there, but nobody knows whether they acted."""
    made = Journalled(tmp_path / "bag")
    made.go(20)
    made.flush()
    made.intake.hold()  # somebody was missing: what the others answered did not act
    for _ in range(10):
        made.run.publish("joint_commands", joint_state(made.run.stamp, ("elbow",), "/arm/controller", effort=[3.0]))
        made.run.advance()
    made.run.writer.close()
    (report,) = replay(made.run.writer.folder)
    assert report.is_same, report.difference
    assert (report.states, report.untold) == (21, 10)


def test_a_command_that_was_another_is_found(tmp_path):
    made = Journalled(tmp_path / "bag")
    made.go(20)
    entry = made.entries[21]
    assert entry.kind == JOINTS
    made.entries[21] = entry._replace(value=serialized(joint_state(0, ("elbow",), effort=[0.125])))
    report = made.replayed()
    assert report.difference is not None and report.difference.stamp == entry.stamp + PERIOD


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"sequence": 0, "entries": [[1]]}', '{"sequence": 0, "entries": [[1, "jump", null]]}',
    '{"sequence": 0, "entries": [[-1, "go", null]]}', '{"sequence": 0, "entries": [[1, "joints", "%%%"]]}',
    '{"sequence": 0, "entries": [[0, "keyframe", null]]}', "[" * 100_000,
    '{"sequence": 0, "entries": [[0, "keyframe", {"facts": {}, "arrays": {}, "friction": 0, "held": []}]]}',
])  # fmt: skip
def test_what_is_no_journal_is_refused(tmp_path, text):
    run = begin(tmp_path / "bag")
    run.run(3, wavy)
    run.publish("simulation_journal", String(data=text))
    run.writer.close()
    with pytest.raises(CannotReplay, match="simulation_journal|snapshot"):
        replay(run.writer.folder)


def test_a_keyframe_survives_json(tmp_path):
    made = Journalled(tmp_path / "bag", HOPPER, STAND, terrain="flat")
    made.go(30)
    value = json.loads(json.dumps(keyframe(made.intake, -1.0)))
    before = made.sim.snapshot()
    made.go(10)
    from mbsim_ros.bags.journal import restore_keyframe

    restore_keyframe(made.intake, value)
    assert made.sim.snapshot() == before
    assert np.isfinite(made.sim.q).all()


def test_pieces_begin_at_keyframes():
    go = Entry(1, GO)
    start = Entry(0, KEYFRAME, {})
    texts = [journal_text(k, entries) for k, entries in ((3, [go]), (5, [go, start, go]), (6, [go]), (9, [go]))]
    assert read_journal(reversed(texts)) == [[start, go, go]]
