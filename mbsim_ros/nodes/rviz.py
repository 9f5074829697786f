"""Starts RViz in the namespace of a robot where it is installed, and says so where it is not.

A file of its own because the launch files must work without RViz: nothing else stops where it is missing.
"""

from __future__ import annotations

import os
import shutil
import sys

import rclpy
from rclpy.node import Node

PROGRAM = "rviz2"


def command(config: str, namespace: str) -> list[str]:
    """The command line of RViz with a file of displays, whose topics are relative to the namespace."""
    words = [PROGRAM, *(["-d", config] if config else []), "--ros-args", "-p", "use_sim_time:=true"]
    return [*words, "-r", f"__ns:={namespace}"] if namespace != "/" else words


def main() -> int:
    """Become RViz; 0 where there is none, since the simulation does not need it."""
    rclpy.init()
    node = Node("rviz")
    config = str(node.declare_parameter("config", "").value)
    namespace, log = node.get_namespace(), node.get_logger()
    found = shutil.which(PROGRAM)
    if found is None:
        log.warning(f"{PROGRAM} is not installed here: the web view (view:=true) shows the robot, too")
    node.destroy_node()
    rclpy.try_shutdown()
    if found is None:
        return 0
    return os.execv(found, command(config, namespace))


if __name__ == "__main__":
    sys.exit(main())
