"""Node of the controller that holds a posture."""

import sys

from mbsim_ros.control.joint_hold import JointHold
from mbsim_ros.nodes.controller_node import run_controller


def main() -> int:
    """The node's process."""
    return run_controller("joint_hold", JointHold)


if __name__ == "__main__":
    sys.exit(main())
