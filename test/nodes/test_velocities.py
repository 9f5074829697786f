# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""cmd_vel as people send it: which velocities act at which state, from either type, stamped by whatever clock."""

from __future__ import annotations

import time

import pytest
from geometry_msgs.msg import Twist, TwistStamped
from walker_processes import Driver, launched

from mbsim_ros.nodes.controllers.velocity_queue import FAR, MOST, STOP, VelocityQueue
from mbsim_ros.nodes.stamps import stamp_of

SECOND = 1_000_000_000
PERIOD = 4_000_000  # ns between two states
AHEAD, BACK = (0.2, 0.0, 0.0), (-0.1, 0.0, 0.0)


@pytest.fixture
def said():
    return []


@pytest.fixture
def queue(said):
    return VelocityQueue(1.0, said.append)


def test_a_velocity_acts_at_the_first_state_at_or_after_its_stamp(queue, said):
    queue.add(2 * PERIOD, BACK)
    queue.add(2 * PERIOD - 1, AHEAD)  # earlier, though it came later
    assert [queue.due(k * PERIOD) for k in range(4)] == [[], [], [AHEAD, BACK], []]
    queue.add(0, STOP)  # not stamped
    queue.add(PERIOD, AHEAD)  # late: it was meant for a state before this one
    assert queue.due(4 * PERIOD) == [AHEAD, STOP]
    assert said == []


@pytest.mark.parametrize("stamp", [1_790_000_000 * SECOND, 100 * SECOND + FAR + 1, SECOND])
def test_stamps_of_another_clock_act_at_once_with_one_warning(queue, said, stamp):
    now = 100 * SECOND
    queue.add(now + FAR, BACK)  # as far ahead as one may plan
    queue.add(stamp, AHEAD)
    assert queue.due(now) == [AHEAD]
    queue.add(stamp + PERIOD, STOP)
    assert queue.due(now + PERIOD) == [STOP]
    (warning,) = said
    assert f"stamped {stamp / SECOND:.3f} s" in warning and "simulated time is 100.000 s" in warning
    assert queue.due(now + FAR) == [BACK]


def test_it_stops_when_no_more_velocities_come(queue, said):
    queue.add(0, AHEAD)
    assert queue.due(0) == [AHEAD]
    queue.add(0, AHEAD)
    assert queue.due(SECOND // 2) == []  # in force, and in force for longer
    assert queue.due(3 * SECOND // 2) == []
    assert queue.due(3 * SECOND // 2 + 1) == [STOP]
    assert queue.due(3 * SECOND) == []
    queue.add(0, AHEAD)
    assert queue.due(4 * SECOND) == [AHEAD]
    assert queue.due(6 * SECOND) == [STOP]
    assert len(said) == 1 and "no velocity for 1 s" in said[0]
    queue.add(0, AHEAD)
    assert queue.due(0) == [AHEAD]  # another run, from the beginning
    assert [queue.due(SECOND), queue.due(SECOND + 1)] == [[], [STOP]]


def test_what_stands_needs_no_stop_and_without_a_timeout_nothing_ends(queue):
    queue.add(0, (0.0, 0.0, -1.0))
    assert [queue.due(0), queue.due(9 * SECOND)] == [[(0.0, 0.0, -1.0)], []]
    for_ever = VelocityQueue(0.0, print)
    for_ever.add(0, AHEAD)
    assert [for_ever.due(0), for_ever.due(999 * SECOND)] == [[AHEAD], []]


def test_the_newest_stay_when_too_many_wait(queue):
    for k in range(2 * MOST):
        queue.add(k + 1, (float(k), 0.0, 0.0))
    queue.add(0, STOP)
    found = queue.due(SECOND)
    assert len(found) == MOST
    assert found[-2:] == [(2.0 * MOST - 1, 0.0, 0.0), STOP]


@pytest.fixture
def driver(fast_discovery):
    driver = Driver()
    yield driver
    driver.close()


def test_a_walker_is_driven_by_either_type_and_by_the_wall_clock(driver):
    """teleop_twist_keyboard sends Twist, or TwistStamped with the stamps of the wall clock."""
    other = Driver("teleop")  # a participant has one type for each topic
    plain = other.create_publisher(Twist, "cmd_vel", 10)
    ahead = Twist()
    ahead.linear.x = 0.15

    def stamped_by_the_wall():
        message = TwistStamped()
        message.header.stamp = stamp_of(time.time_ns())
        message.twist.linear.x = -0.1
        driver.velocities.publish(message)

    with launched("control_period:=0.008", "forward:=0.0", "real_time_factor:=0.0") as launch:
        driver.wait_until(lambda: plain.publish(ahead) or driver.speeds[-1:] == [0.15], "a Twist to be taken", 0.02)
        driver.wait_until(lambda: driver.speeds[-1] == 0.0, "the stop after the last of them")
        driver.wait_until(lambda: stamped_by_the_wall() or driver.speeds[-1] == -0.1, "the other to be taken", 0.02)
        driver.wait_until(lambda: driver.speeds[-1] == 0.0, "its end")
        written = launch.end()
    other.close()
    # On a busy machine the walker stops between two that come late, and takes the next.
    assert driver.speeds[0::2] == sorted(driver.speeds[0::2], reverse=True)
    assert set(driver.speeds[0::2]) == {0.15, -0.1}
    assert set(driver.speeds[1::2]) == {0.0}
    assert written.count("stamps are of another clock") == 1
    assert written.count("no velocity for 1 s") == 1
    assert "Traceback" not in written and "incompatible" not in written
