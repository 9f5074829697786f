# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker over ROS: physics, gait and clutches in processes of their own, in lockstep, as walker.launch.xml has them.

That a walk over ROS is the walk without it, bit for bit, is what lets the tests without ROS speak for both.
"""

from __future__ import annotations

import numpy as np
import pytest
from clutch_client import ClutchClient
from walker_processes import Driver, first_difference, launched, recorded, walk_without_ros
from walker_runs import roll_pitch_yaw

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.replay import replay
from mbsim_ros.control.clutches.logic import ENGAGED, REFUSED
from mbsim_ros.control.walker.legs import LEGS

TOPICS = ("joint_states", "odom", "motor_states", "motor_commands", "coupling_command")
SLOW = "control_period:=0.008"  # fewer rounds on a busy machine; 2 ms are walked without ROS, in test/control
STATES = ("joint_states", "odom")  # of which a state that is published again is kept once


@pytest.fixture
def driver(fast_discovery):
    driver = Driver()
    yield driver
    driver.close()


def test_driven_over_ros_then_without_it_then_from_the_bag(tmp_path, driver):
    """Velocities that come whenever they come: the walk keeps its criteria, and comes again bit for bit."""
    bag = tmp_path / "bag"
    with launched(SLOW, "forward:=0.0", "record:=true", f"bag:={bag}") as launch:
        driver.wait_until(lambda: driver.is_heard() and driver.time >= 0.1, "the walker")
        # begins slowly, hastens in mid-stride, goes back in a curve, stops
        for duration, velocity in ((0.6, (0.1,)), (3.8, (0.22,)), (1.6, (-0.2, 0.06)), (1.8, (0.0,))):
            driver.drive_for(duration, *velocity)
        launch.end()

    found = recorded(bag)
    np.testing.assert_array_equal(np.diff(found.stamps), 8_000_000)  # the recorder answers: no state is missing
    assert found.stamps[-1] >= 1e9 * (found.asked[3][0] + 1.7)
    assert [velocity[1:] for velocity in found.asked] == [(0.1, 0, 0), (0.22, 0, 0), (-0.2, 0.06, 0), (0, 0, 0)]
    walked = walk_without_ros(found)
    assert first_difference(found, walked) == ""
    keeps_its_criteria(walked, back=found.asked[2][0])

    (report,) = replay(bag)  # from the commands of the motors
    assert (report.is_same, report.tolerance, report.notes) == (True, 0.0, [])

    again = tmp_path / "again"  # from the velocities, over ROS
    end = found.asked[1][0] + 0.8
    with launched(SLOW, f"duration:={end:.3f}", "record:=true", f"bag:={again}", f"velocities:={bag}") as launch:
        launch.wait()
    for topic in TOPICS:
        first, second = messages(bag, topic), messages(again, topic)
        assert len(second) >= 125 * end - 1
        assert first[: len(second)] == second, topic
    assert recorded(again).asked == found.asked[:2]


def keeps_its_criteria(walked, back):
    """Of the flat walk: until `back` [s] it goes forward, then backward to the left, then it stops."""
    row, before = walked.row(back), walked.row(back - 3.2)  # two whole cycles
    speed = (walked.q[row, 0] - walked.q[before, 0]) / (walked.t[row] - walked.t[before])
    angles = walked.angles
    assert speed >= 0.20
    assert abs(walked.q[row, 1]) <= 0.02 * walked.q[row, 0]
    assert np.abs(angles[:, :2]).max() <= 0.01  # roll and pitch
    assert min(walked.clearance) >= 0.040
    assert walked.q[-1, 0] < walked.q[row, 0] - 0.05
    assert angles[-1, 2] > 0.05
    assert not walked.gait.is_walking
    assert np.abs(walked.v[-1]).max() < 0.02


def messages(bag, topic):
    """Times and bytes; a command that was given twice counts once."""
    found = [(message.time, message.data) for message in BagReader(bag).messages([f"/walker/{topic}"])]
    return found if topic in STATES else list(dict.fromkeys(found))


COUPLINGS = ("turn", "hold", "femurs_reversed", "nonsense", *(f"{leg}_released" for leg in LEGS))
REQUESTS = 100
LAST = "no_such_coupling"  # a request whose answer says that all before it have theirs


@pytest.fixture
def client(fast_discovery):
    client = ClutchClient()
    yield client
    client.close()


def test_random_clutch_requests_over_ros(client):
    """Nothing drops it, refusals have reasons, losses are in the ledger of physics, and it still walks."""
    rng = np.random.default_rng(5)
    with launched(SLOW, "forward:=0.22") as launch:
        client.wait_until(lambda: client.time > 0.3 and client.is_connected(), "the walker to walk")
        for _ in range(REQUESTS):
            name = "normal" if rng.random() < 0.5 else str(rng.choice(COUPLINGS))
            client.ask(f"{name} {rng.choice(['soft', 'hard'])}")
            begin = client.time
            client.wait_until(lambda begin=begin: client.time > begin + 0.02, "time to go on", between=0.002)
        answered = lambda: any(event["coupling"] == LAST for event in client.events)  # noqa: E731
        client.wait_until(lambda: answered() or client.ask_again(LAST), "everything to be decided")
        answer = client.call("hold", soft=True)
        assert answer.success, answer.message  # both frames stand with every step, at rest: then speeds match
        client.wait_until(lambda: client.coupling == "hold", "all brakes to be on")
        client.wait_until(lambda: client.coupling == "normal" or client.ask_again("normal hard"), "the normal coupling")
        begin, place = client.time, client.q[0]
        client.wait_until(lambda: client.time > begin + 3.2, "two cycles")
        assert client.q[0] - place > 0.15 * (client.time - begin)
        client.wait_until(lambda: client.booked is not None and client.booked[0] > begin, "the ledger")
        written = launch.end()
    assert "Traceback" not in written and "refused a command" not in written.replace("not a participant", "")

    poses = np.array(client.poses)
    tilts = np.array([roll_pitch_yaw(q)[:2] for q in poses])
    assert np.isfinite(poses).all()
    assert np.abs(tilts).max() <= 0.01
    assert poses[:, 2].min() > 0.38
    outcomes = [event["outcome"] for event in client.events]
    assert min(outcomes.count(ENGAGED), outcomes.count(REFUSED)) > 10
    assert all(event["reason"] for event in client.events if event["outcome"] == REFUSED)
    assert {e["outcome"] for e in client.events if e["coupling"] == "nonsense"} <= {REFUSED}
    losses = [event["total_loss"] for event in client.events]
    assert losses == sorted(losses) and losses[-1] > 0.0
    assert client.booked[1] == pytest.approx(losses[-1], rel=1e-5)  # as many digits as diagnostics tell
