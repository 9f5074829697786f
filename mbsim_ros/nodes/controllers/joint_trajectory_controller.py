# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that offers the action FollowJointTrajectory, under the name that ros2_control gives it."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectoryPoint

from mbsim_ros.control.command import Command
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.joints.joint_trajectory import Goal, GoalProgress, JointTrajectoryController
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.trajectory_messages import joint_goal, seconds
from mbsim_ros.nodes.stamps import SECOND, stamp_of

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
FEEDBACK_PERIOD = SECOND // 20  # ns of simulated time, as ros2_control has it


class TrajectoryAction(Extension):
    """The action: goals act from the next state on."""

    def __init__(self, node: ControllerNode):
        self._node = node
        self._controller: JointTrajectoryController | None = None
        self._goal: tuple[ServerGoalHandle, Future] | None = None  # the one that is followed, and its end
        self._next_feedback = 0
        self._server: ActionServer | None = None

    def on_robot(self, controller: Controller) -> None:
        """Offer the action as soon as there is a robot: who finds it may send a goal at once."""
        assert isinstance(controller, JointTrajectoryController)
        self._controller = controller
        if self._server is None:
            self._server = ActionServer(
                self._node, FollowJointTrajectory, ACTION, self._execute, goal_callback=self._on_goal,
                cancel_callback=self._on_cancel,
            )  # fmt: skip

    def _on_goal(self, request: FollowJointTrajectory.Goal) -> GoalResponse:
        """Accept what can be followed; the action has no word for why not, so the log has."""
        try:
            self._following().check(goal_of(request))
        except ValueError as error:
            self._node.get_logger().error(f"refused a trajectory: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._goal is not None and self._goal[0] is handle:
            self._following().stop()
            self._end(FollowJointTrajectory.Result(error_string="cancelled: the joints hold where they were wanted"))
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        self._end(_result(FollowJointTrajectory.Result.INVALID_GOAL, "another goal has taken its place"))
        end: Future = Future()
        self._goal, self._next_feedback = (handle, end), 0
        self._following().follow(goal_of(handle.request))
        result: FollowJointTrajectory.Result = await end
        if handle.is_cancel_requested:
            handle.canceled()
        elif result.error_code == FollowJointTrajectory.Result.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return result

    def on_reset(self) -> None:
        """A goal of the run before is over."""
        self._end(_result(FollowJointTrajectory.Result.INVALID_GOAL, "the simulation has started again"))

    def after_answer(self, state: RobotState, command: Command) -> None:
        """Tell how far the goal is, or that it is over."""
        if self._goal is None:
            return
        progress = self._following().progress
        if progress is None:
            return
        if progress.outcome is not None:
            self._end(_result(progress.outcome, progress.reason))
        elif state.time >= self._next_feedback:
            self._next_feedback = state.time + FEEDBACK_PERIOD
            handle = self._goal[0]
            handle.publish_feedback(feedback_of(handle.request.trajectory.joint_names, state, progress))

    def _end(self, result: FollowJointTrajectory.Result) -> None:
        """End the goal that is followed, if there is one."""
        if self._goal is not None:
            self._goal[1].set_result(result)
            self._goal = None

    def _following(self) -> JointTrajectoryController:
        assert self._controller is not None
        return self._controller


def goal_of(request: FollowJointTrajectory.Goal) -> Goal:
    """The goal of a request; ValueError says what no joint controller can do."""
    trajectory = request.trajectory
    if request.multi_dof_trajectory.points or request.component_path_tolerance or request.component_goal_tolerance:
        raise ValueError("multi_dof_trajectory: expected none: joints of several dofs have no drives")
    return replace(
        joint_goal(trajectory),
        path_tolerance={entry.name: entry.position for entry in request.path_tolerance},
        goal_tolerance={entry.name: entry.position for entry in request.goal_tolerance},
        goal_time=seconds(request.goal_time_tolerance),
    )


def feedback_of(names: list[str], state: RobotState, progress: GoalProgress) -> FollowJointTrajectory.Feedback:
    """What was wanted at a state, what was measured, and the difference."""
    desired = progress.desired
    message = FollowJointTrajectory.Feedback(joint_names=names, index=progress.index)
    message.header.stamp = stamp_of(state.time)
    message.desired = _point(desired.position, desired.velocity, desired.acceleration)
    message.actual = _point(progress.position, progress.velocity)
    message.error = _point(desired.position - progress.position, desired.velocity - progress.velocity)
    return message


def _result(code: int, reason: str) -> FollowJointTrajectory.Result:
    return FollowJointTrajectory.Result(error_code=code, error_string=reason)


def _point(*parts: np.ndarray) -> JointTrajectoryPoint:
    names = ("positions", "velocities", "accelerations")
    return JointTrajectoryPoint(**{name: part.tolist() for name, part in zip(names, parts, strict=False)})


def main() -> int:
    """The node's process."""
    return run_controller("joint_trajectory_controller", JointTrajectoryController, TrajectoryAction)


if __name__ == "__main__":
    sys.exit(main())
