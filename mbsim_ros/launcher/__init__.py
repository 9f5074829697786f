"""Runs the package's XML launch files without ROS's own launch packages.

A small, exact subset: what a file means here it also means under ``ros2 launch``.
``plan`` evaluates a file completely (every mistake is reported before a process exists),
``run`` starts the planned processes and looks after them.
"""

from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.launcher.plan import Argument, LaunchPlan, plan_launch
from mbsim_ros.launcher.runner import run

__all__ = ["Argument", "LaunchError", "LaunchPlan", "plan_launch", "run"]
