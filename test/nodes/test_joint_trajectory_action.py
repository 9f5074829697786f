# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""FollowJointTrajectory of the arm, in lockstep, by an action client in another process than the nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from physics_process import Client, stop
from rclpy.action import ActionClient
from test_own_controller import launch
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
JOINTS = ["elbow", "wrist_bend"]
Result = FollowJointTrajectory.Result


@pytest.fixture(scope="module")
def arm(shared_domain, tmp_path_factory):
    """A client of an arm whose controller offers the action; afterwards `arm.said` is what the launch wrote."""
    client = Client("/arm")
    process = launch("controller:=joint_trajectory_controller", cwd=tmp_path_factory.mktemp("arm"))
    client.goals = ActionClient(client, FollowJointTrajectory, ACTION)
    client.end = lambda: stop(process)
    client.spin_until(client.goals.server_is_ready, "the action")
    yield client
    stop(process)
    client.close()


def goal(times=(0.5, 1.0), positions=((1.0, 0.4), (0.9, 0.6)), names=JOINTS, **more):
    points = [
        JointTrajectoryPoint(
            positions=list(row), velocities=[0.0] * len(row),
            time_from_start=Duration(sec=int(t), nanosec=round(1e9 * (t - int(t)))),
        )
        for t, row in zip(times, positions, strict=True)
    ]  # fmt: skip
    return FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(names), points=points), **more)


def sent(arm, wanted, feedback=None):
    """The handle of a goal, once it is accepted or not."""
    future = arm.goals.send_goal_async(wanted, feedback_callback=feedback)
    arm.spin_until(future.done, "an answer to the goal")
    return future.result()


def result_of(arm, handle):
    future = handle.get_result_async()
    arm.spin_until(future.done, "the result")
    return future.result().status, future.result().result


def positions(arm):
    """Where the joints are in the next state that comes."""
    count = len(arm.states)
    arm.spin_until(lambda: len(arm.states) > count, "a state")
    state = arm.states[-1]
    return [state.position[state.name.index(name)] for name in JOINTS]


def test_a_goal_is_accepted_followed_and_reached(arm):
    seen = []
    handle = sent(arm, goal(), lambda message: seen.append(message.feedback))
    assert handle.accepted
    status, result = result_of(arm, handle)
    assert (status, result.error_code, result.error_string) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL, "")
    np.testing.assert_allclose(positions(arm), [0.9, 0.6], atol=2e-3)
    assert len(seen) > 10 and seen[0].joint_names == JOINTS
    assert max(abs(error) for feedback in seen for error in feedback.error.positions) < 0.01
    assert {feedback.index for feedback in seen} == {0, 1}


def test_one_that_is_cancelled_stops_where_it_is(arm):
    seen = []
    handle = sent(arm, goal(times=(1000.0,), positions=((0.5, 0.2),)), lambda message: seen.append(message.feedback))
    arm.spin_until(lambda: len(seen) > 2, "some feedback")
    cancelled = handle.cancel_goal_async()
    arm.spin_until(cancelled.done, "an answer to the cancel request")
    assert len(cancelled.result().goals_canceling) == 1
    status, result = result_of(arm, handle)
    assert status == GoalStatus.STATUS_CANCELED and "hold where they were wanted" in result.error_string
    there = positions(arm)
    count = len(arm.states)
    arm.spin_until(lambda: len(arm.states) > count + 20, "more states")
    np.testing.assert_allclose(positions(arm), there, atol=1e-3)


def test_a_new_goal_takes_the_place_of_another(arm):
    first = sent(arm, goal(times=(1000.0,), positions=((0.5, 0.2),)))
    second = sent(arm, goal(times=(0.2,), positions=((0.95, 0.55),)))
    status, result = result_of(arm, first)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "another goal has taken its place")
    assert result_of(arm, second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_tolerance_that_is_violated_aborts(arm):
    handle = sent(
        arm, goal(times=(0.1,), path_tolerance=[JointTolerance(name="elbow", position=1e-9)], positions=((0.5, 0.2),))
    )
    status, result = result_of(arm, handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "joint 'elbow' is" in result.error_string


def test_what_cannot_be_followed_is_refused_with_the_reason(arm):
    """An action's refusal has no words: they are in the log."""
    wrong = {
        "no joint named 'elbw': did you mean 'elbow'?": goal(names=["elbw", "wrist_bend"]),
        "time_from_start: expected times that increase": goal(times=(1.0, 1.0)),
        "positions: not finite": goal(positions=((math.nan, 0.0), (0.0, 0.0))),
        "points[1].positions: expected 2 numbers": goal(positions=((0.0, 0.0), (0.0,))),
    }
    for bad in wrong.values():
        assert not sent(arm, bad).accepted
    said = arm.end()
    for reason in wrong:
        assert f"refused a trajectory: {'joint_names: ' if 'named' in reason else ''}{reason}" in said
