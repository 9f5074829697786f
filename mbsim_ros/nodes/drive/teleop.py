# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node that drives a robot from the keyboard: keys in, cmd_vel (TwistStamped) out. `mbsim drive` runs it."""

from __future__ import annotations

import math
import sys
import time

import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from mbsim_ros.nodes.drive.keys import HELP, HELP_TEXT, QUIT, KeyDrive, KeyLimits, read_keys
from mbsim_ros.nodes.drive.terminal import Terminal
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import BAD_INPUT

PERIOD = 0.05  # s of wall time between two velocities; one that is not repeated ends
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LAST_WORD = 1.0  # s of wall time for the last velocity to arrive

PARAMETERS = (
    Parameter("forward", 0.45, "Largest velocity [m/s].", 0.0, 10.0),
    Parameter("turn", 0.14, "Largest turn [rad/s].", 0.0, 10.0),
    Parameter("notches", 9, "Key presses from zero to the largest.", 1, 100),
    Parameter("ramp", 1.0, "Time from zero to the largest [s].", 0.05, 100.0),
)


class DriveTeleop(Node):
    """Publishes cmd_vel, stamped with the time of odom: it acts as soon as it comes. Shows what odom says."""

    def __init__(self) -> None:
        super().__init__("drive_teleop")
        values = declare(self, PARAMETERS)
        self.keys = KeyDrive(KeyLimits(values["forward"], values["turn"], values["notches"], values["ramp"]))
        self._velocities = self.create_publisher(TwistStamped, "cmd_vel", 10)
        self._odometry: Odometry | None = None
        self.create_subscription(Odometry, "odom", self._on_odometry, NEWEST)

    def _on_odometry(self, message: Odometry) -> None:
        self._odometry = message

    def advance(self, dt: float) -> None:
        """Send the velocity of now, dt [s] after the last: one that changes, or keeps the robot moving."""
        velocity = self.keys.advance(dt)
        if velocity is not None:
            self.send(*velocity)
        elif any(self.keys.sent):
            self.send(*self.keys.sent)

    def send(self, forward: float, turn: float, rise: float = 0.0) -> None:
        """Ask for a velocity."""
        message = TwistStamped()
        if self._odometry is not None:
            message.header.stamp = self._odometry.header.stamp
        message.twist.linear.x, message.twist.angular.z, message.twist.linear.z = forward, turn, rise
        self._velocities.publish(message)

    def stop(self) -> None:
        """Ask for a stop, and see to it that it arrives."""
        self.send(0.0, 0.0)
        if self._velocities.get_subscription_count():
            self._velocities.wait_for_all_acked(rclpy.duration.Duration(seconds=LAST_WORD))

    def line(self) -> str:
        """One line about what is asked for and what the robot does."""
        (forward, turn), topic = self.keys.wanted, self._velocities.topic_name
        asked = f"asked {forward:+.2f} m/s {turn:+.3f} rad/s"
        if not self._velocities.get_subscription_count():
            return f"{asked} | nobody listens to {topic} yet"
        if self._odometry is None:
            return f"{asked} | no odometry yet"
        p, twist = self._odometry.pose.pose, self._odometry.twist.twist
        o, stamp = p.orientation, self._odometry.header.stamp
        yaw = math.atan2(2.0 * (o.w * o.z + o.x * o.y), 1.0 - 2.0 * (o.y * o.y + o.z * o.z))
        does = f"moves {twist.linear.x:+.2f} m/s {twist.angular.z:+.3f} rad/s"
        time_now = stamp.sec + 1e-9 * stamp.nanosec
        return f"{asked} | {does} | x {p.position.x:.2f} y {p.position.y:.2f} m yaw {yaw:+.2f} | {time_now:.1f} s"


def drive(node: DriveTeleop, terminal: Terminal) -> None:
    """Until somebody quits or a signal ends it; the robot is told to stop at the end."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    terminal.write(f"Driving with {node.resolve_topic_name('cmd_vel')}\n{HELP_TEXT}")
    unfinished, last = "", time.monotonic()
    while not terminal.ended:
        meanings, unfinished = read_keys(unfinished + terminal.read(PERIOD))
        for meaning in meanings:
            node.keys.press(meaning)
            if meaning == HELP:
                terminal.write(HELP_TEXT)
        if QUIT in meanings:
            break
        now = time.monotonic()
        if now - last >= PERIOD:
            node.advance(now - last)
            last = now
            executor.spin_once(timeout_sec=0.0)
            terminal.show(node.line())
    node.stop()
    terminal.write("stopped")


def main() -> int:
    """The node's process."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)  # the terminal's handlers stop the robot first
    try:
        with Terminal() as terminal:
            drive(DriveTeleop(), terminal)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except ValueError as error:
        print(f"mbsim drive: {error}", file=sys.stderr)
        return BAD_INPUT
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
