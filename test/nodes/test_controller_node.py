# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controller nodes in processes of their own, answering a robot that this process plays over real DDS."""

from __future__ import annotations

import contextlib
import signal
import time

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from physics_process import LATCHED, ns, start_node, stop
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control import ComputedTorque, ComputedTorqueParameters, RobotState
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.urdf.writer import to_urdf

PATIENCE = 240.0  # s, for a cold start on a busy machine: the kernels are compiled
QUIET = 0.7  # s of silence after which nothing is taken to come
MILLISECOND = 1_000_000


def arm_builder(root="world"):
    builder = ModelBuilder("arm").link(root, **({} if root == "world" else {"mass": 2.0, "box": (0.2, 0.2, 0.2)}))
    for name, parent, z in (("lift", root, 0.1), ("bend", "lift_rod", 0.4)):
        builder.link(f"{name}_rod", mass=1.0, com=(0, 0, 0.2), box=(0.05, 0.05, 0.4))
        builder.joint(name, "continuous", parent, f"{name}_rod", xyz=(0, 0, z), axis=(0, 1, 0), damping=0.1)
    return builder


class Robot(Node):
    """Plays a robot: publishes its description and states, hears the commands."""

    def __init__(self, builder):
        self._own = Context()
        rclpy.init(context=self._own)
        super().__init__("robot", namespace="/r", context=self._own)
        self._serving = SingleThreadedExecutor(context=self._own)
        self._serving.add_node(self)
        self.model = builder.build()
        self._text = to_urdf(builder.description())
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._states = self.create_publisher(JointState, "joint_states", LATCHED)
        self._odom = self.create_publisher(Odometry, "odom", LATCHED)
        self.commands: list[JointState] = []
        self.diagnoses: list[DiagnosticStatus] = []
        self._heard = self.create_subscription(JointState, "joint_commands", self.commands.append, 1000)
        self.create_subscription(DiagnosticArray, "/diagnostics", lambda m: self.diagnoses.extend(m.status), 100)

    def describe(self, text=None, at_once=False):
        """To a controller that is there, and whose commands are heard here: none of them goes where nobody listens."""
        if not at_once:
            self.until(lambda: self._heard.get_publisher_count() and self._states.get_subscription_count(), "anybody")
        self._description.publish(String(data=self._text if text is None else text))

    def publish_joints(self, time_ns, position, velocity=None, names=None):
        names = [joint.name for joint in self.model.joints] if names is None else names
        message = JointState(name=names, position=[float(x) for x in position])
        message.velocity = [0.0] * len(position) if velocity is None else [float(x) for x in velocity]
        _set_stamp(message, time_ns)
        self._states.publish(message)

    def publish_odometry(self, time_ns):
        message = Odometry()
        message.pose.pose.orientation.w = 1.0
        _set_stamp(message, time_ns)
        self._odom.publish(message)

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
            self._serving.spin_once(timeout_sec=0.05)

    def answer(self, number):
        """The command of this number, counted from 0, once it is there."""
        self.until(lambda: len(self.commands) > number, f"command {number}, got {self.commands}")
        return self.commands[number]

    def stays_quiet(self):
        """Whether no command comes for a while."""
        count, end = len(self.commands), time.monotonic() + QUIET
        while time.monotonic() < end:
            self._serving.spin_once(timeout_sec=0.05)
        return len(self.commands) == count

    def call(self, kind, name, **request):
        client = self.create_client(kind, name)
        self.until(client.service_is_ready, name)
        future = client.call_async(kind.Request(**request))
        self.until(future.done, f"the answer of {name}")
        return future.result()

    def set(self, node, name, value):
        change = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, f"/r/{node}/set_parameters", parameters=[change]).results[0]

    def close(self):
        self._serving.shutdown()
        self.destroy_node()
        rclpy.shutdown(context=self._own)


def _set_stamp(message, time_ns):
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time_ns, 1_000_000_000)


@contextlib.contextmanager
def robot(builder):
    made = Robot(builder)
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def controller(name, *parameters):
    process = start_node(name, *parameters, namespace="/r")
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def stamps(commands):
    return [ns(command.header.stamp) for command in commands]


def test_each_state_gets_one_answer_with_its_stamp_and_the_efforts_of_the_library():
    with robot(arm_builder()) as arm, controller("computed_torque", "trajectory:=sine", "ramp:=0.01") as process:
        arm.describe()
        expected = ComputedTorque(arm.model, ComputedTorqueParameters(trajectory="sine", ramp=0.01))
        rng = np.random.default_rng(1)
        for k in range(50):
            time_ns = 123_456_789 + k * 2 * MILLISECOND
            q, v = rng.normal(size=2), rng.normal(size=2)
            # by name, whatever the order, and more joints than the robot has
            arm.publish_joints(time_ns, [q[1], 9.9, q[0]], [v[1], 9.9, v[0]], ["bend", "unknown", "lift"])
            command = arm.answer(k)
            assert ns(command.header.stamp) == time_ns
            assert command.header.frame_id == "/r/computed_torque"
            assert list(command.name) == ["lift", "bend"]
            wanted = expected.update(time_ns / 1e9, RobotState(time_ns, q, v)).effort
            assert list(command.effort) == wanted.tolist()
            assert not command.position
            assert not command.velocity
        assert arm.stays_quiet()
        written = stop(process)
        assert process.returncode == 0, written
        assert "controls 'arm': 2 dofs, fixed base" in written


def test_a_floating_robot_is_answered_when_both_messages_of_a_stamp_are_there():
    with robot(arm_builder("body")) as arm, controller("joint_hold"):
        arm.describe()
        arm.publish_joints(0, [0.1, 0.2])
        arm.publish_odometry(5 * MILLISECOND)
        arm.until(lambda: any("waits for joint_states" in d.message for d in arm.diagnoses), "the controller")
        assert arm.stays_quiet()
        arm.publish_joints(5 * MILLISECOND, [0.3, 0.4])
        assert list(arm.answer(0).position) == [0.3, 0.4]
        arm.publish_joints(10 * MILLISECOND, [0.5, 0.6])
        assert arm.stays_quiet()
        arm.publish_odometry(10 * MILLISECOND)
        assert list(arm.answer(1).position) == [0.3, 0.4]
        arm.publish_odometry(10 * MILLISECOND)  # alone it is no new state
        assert arm.stays_quiet()
        arm.publish_joints(10 * MILLISECOND, [0.5, 0.6])  # a state that comes again is answered again
        assert arm.answer(2) == arm.answer(1)
        assert arm.stays_quiet()
        assert stamps(arm.commands) == [5 * MILLISECOND, 10 * MILLISECOND, 10 * MILLISECOND]


def test_a_gap_or_a_step_back_in_time_is_a_reset():
    with robot(arm_builder()) as arm, controller("joint_hold"):
        arm.publish_joints(0, [0.0, 0.0])  # the state is there long before the description
        assert arm.stays_quiet()
        arm.describe()
        held = []
        times = [0, 2, 501, 1001, 1003, 500, 502]  # ms; gaps of 499 and 500 ms, then back
        for k, time_ms in enumerate(times):
            arm.publish_joints(time_ms * MILLISECOND, [0.1 * k, 0.0])
            held.append(round(arm.answer(k).position[0] / 0.1))
        assert held == [0, 0, 0, 3, 3, 5, 5]


def test_a_controller_that_was_killed_goes_on_from_the_latched_state():
    with robot(arm_builder()) as arm:
        with controller("joint_hold") as process:
            arm.describe()
            arm.publish_joints(0, [0.1, 0.2])
            arm.answer(0)
            process.send_signal(signal.SIGKILL)
            process.wait()
        arm.publish_joints(2 * MILLISECOND, [0.3, 0.4])
        assert arm.stays_quiet()
        with controller("joint_hold"):
            assert list(arm.answer(1).position) == [0.3, 0.4]
            assert sorted(set(stamps(arm.commands))) == [0, 2 * MILLISECOND]
            # who begins to listen late gets the answer that it missed
            late: list[JointState] = []
            arm.create_subscription(JointState, "joint_commands", late.append, 10)
            arm.until(lambda: late, "the answer for who came late")
            assert late[0] == arm.commands[1]


def test_parameters_change_while_it_runs_or_are_refused_with_the_reason():
    with robot(arm_builder()) as arm, controller("computed_torque", "kp:=[50.0]"):
        arm.describe()
        arm.publish_joints(0, [0.1, 0.2])
        arm.answer(0)
        expected = ComputedTorque(arm.model, ComputedTorqueParameters(kp=(50.0,)))
        here, there = (RobotState(0, np.array(q), np.zeros(2)) for q in ([0.1, 0.2], [0.4, -0.4]))
        expected.update(0.0, here)

        def effort_there(number):
            arm.publish_joints(number * MILLISECOND, there.q)
            return list(arm.answer(number).effort)

        assert effort_there(1) == expected.update(0.001, there).effort.tolist()
        for name, value, reason in (
            ("kp", [1.0, 2.0, 3.0], "kp: expected 1 number for all joints or 2, one for each, got 3"),
            ("kp", [-1.0], "kp[0]: expected 0 or more, got -1"),
            ("kp", "stiff", "Wrong parameter type"),
            ("trajectory", "circle", "trajectory: expected one of 'hold', 'step', 'sine', 'waypoints', got 'circle'"),
            ("trajectory", "waypoints", "waypoints: expected 2 numbers for each of the 0 times"),
            ("gravity", 1000.0, "gravity"),
            ("base", "fixed", "base"),
        ):
            result = arm.set("computed_torque", name, value)
            assert not result.successful
            assert reason in result.reason
        assert effort_there(2) == expected.update(0.002, there).effort.tolist()
        assert arm.set("computed_torque", "kp", [80.0, 90.0]).successful
        expected.configure(ComputedTorqueParameters(kp=(80.0, 90.0)))
        assert effort_there(3) == expected.update(0.003, there).effort.tolist()
        names = ["kp", "gravity", "position", "use_sim_time", "trajectory"]
        found = arm.call(GetParameters, "/r/computed_torque/get_parameters", names=names).values
        assert list(found[0].double_array_value) == [80.0, 90.0]
        assert found[3].bool_value
        about = arm.call(DescribeParameters, "/r/computed_torque/describe_parameters", names=names).descriptors
        assert about[0].description == "K_p, of the position error. [1/s²]"
        assert about[1].floating_point_range[0].to_value == 100.0
        assert "One of: hold, step, sine, waypoints." in about[4].description
        assert arm.set("computed_torque", "position", [0.0, 0.0]).successful


def test_states_that_are_none_are_not_answered_and_counted():
    with robot(arm_builder()) as arm, controller("joint_hold", "rate:=100.0") as process:
        arm.until(lambda: any("waits for robot_description" in d.message for d in arm.diagnoses), "a diagnosis")
        assert all(d.level == DiagnosticStatus.WARN for d in arm.diagnoses)
        arm.describe()
        arm.publish_joints(0, [0.1, 0.2])
        arm.answer(0)

        def counted(number):
            return any({v.key: v.value for v in d.values}.get("bad state") == str(number) for d in arm.diagnoses)

        for number, bad in enumerate(
            (
                lambda: arm.publish_joints(20 * MILLISECOND, [float("nan"), 0.0]),
                lambda: arm.publish_joints(30 * MILLISECOND, [0.0], names=["lift"]),
                lambda: arm.publish_joints(40 * MILLISECOND, [0.0, 0.0], velocity=[0.0]),
            ),
            start=1,
        ):
            bad()  # the next one would take its place, were it not read yet
            arm.until(lambda number=number: counted(number), f"count {number}, got {arm.diagnoses}")
        arm.publish_joints(9 * MILLISECOND, [0.0, 0.0])  # right, but sooner than the rate wants
        assert arm.stays_quiet()
        assert len(arm.commands) == 1
        arm.publish_joints(10 * MILLISECOND, [0.5, 0.5])
        assert list(arm.answer(1).position) == [0.1, 0.2]
        assert arm.diagnoses[-1].name == "/r/joint_hold: controller"
        assert stop(process).count("bad state: ") == 1


@pytest.mark.parametrize(
    ("name", "parameters", "text", "says"),
    [
        ("computed_torque", ("feet:=toes",), None, "feet: no link named 'toes'; there are: "),
        ("computed_torque", ("trajectory:=circle", "kp:=[-1.0]"), "", "trajectory: expected one of"),
    ],
    ids=["feet that it has not", "wrong parameters"],
)  # fmt: skip
def test_what_it_cannot_work_with_ends_it_with_the_reason(name, parameters, text, says):
    with robot(arm_builder("body")) as arm, controller(name, *parameters) as process:
        arm.describe(text, at_once=True)
        written = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 2, written
        assert says in written
        assert "Traceback" not in written
