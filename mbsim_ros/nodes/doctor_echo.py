"""Node of ``mbsim doctor``: sends every JointState back as it came."""

import sys

from rclpy.node import Node
from sensor_msgs.msg import JointState

from mbsim_ros.nodes.run_node import run_node


class DoctorEcho(Node):
    """Answers ``ping`` with ``pong``."""

    def __init__(self) -> None:
        super().__init__("doctor_echo")
        pong = self.create_publisher(JointState, "pong", 10)
        self.create_subscription(JointState, "ping", pong.publish, 10)


if __name__ == "__main__":
    sys.exit(run_node(DoctorEcho))
