"""Node of the controller that follows a trajectory with computed torque (W A.9)."""

import sys

from mbsim_ros.control.computed_torque import ComputedTorque
from mbsim_ros.nodes.controller_node import run_controller


def main() -> int:
    """The node's process."""
    return run_controller("computed_torque", ComputedTorque)


if __name__ == "__main__":
    sys.exit(main())
