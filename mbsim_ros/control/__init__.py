"""Controllers as plain classes: `update(t, state)` returns a command, `reset()` clears what was remembered. No ROS."""

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.computed_torque import ComputedTorque, ComputedTorqueParameters
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.joint_hold import JointHold, JointHoldParameters
from mbsim_ros.control.robot_state import MeasuredState, RobotState

__all__ = [
    "ComputedTorque",
    "ComputedTorqueParameters",
    "Controller",
    "JointCommand",
    "JointHold",
    "JointHoldParameters",
    "MeasuredState",
    "RobotState",
]
