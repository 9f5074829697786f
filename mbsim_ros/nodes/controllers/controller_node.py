# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The node around every controller: waits for a robot, answers each of its states with a command of the same stamp."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ROSClock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.time import Time
from std_msgs.msg import String

from mbsim_ros.control.command import Command, command_from, listed
from mbsim_ros.control.controller import P, TunableController, driven_joints
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.nodes.controllers.controller_parameters import ControllerParameters
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.state_sources import LATCHED, JointStates, StateSource, WholeStates, unused
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.publishers.command_publisher import CommandPublisher
from mbsim_ros.nodes.robust_node import RobustNode
from mbsim_ros.nodes.run_node import BAD_INPUT, run_node
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.transport.fast_loop import FastLoop, Handler
from mbsim_ros.nodes.transport.whole_state import TOPIC as WHOLE_STATE
from mbsim_ros.nodes.waiting import Waiting

RESET_GAP = SECOND // 2  # ns: a gap this long between two stamps is a reset
LISTENER_WAITS = (
    0.05  # s of wall time without a new state, after which somebody who began to listen gets the last answer
)

PARAMETERS = (
    Parameter("robot_description", "", "URDF text of the robot; empty: from the topic robot_description."),
    Parameter("sidecar", "", "Path of the robot's .mbsim.yaml, for what the URDF does not say."),
    Parameter("base", "auto", "Whether the base is fixed.", choices=("auto", "floating", "fixed")),
    Parameter(
        "whole_state",
        False,
        "Whether to read whole_state, which the physics node of this package offers and which is faster, in place of "
        "joint_states, odom and motor_states.",
    ),
    Parameter("rate", 0.0, "Answers per simulated second; 0: to every state, as lockstep needs. [Hz]", lower=0.0),
)


class ControllerNode(RobustNode):
    """A node named `name` around a controller of this class. `run` is its main loop.

    What one controller has beside that is an Extension, made by `extend` with the node: see there.
    """

    def __init__(
        self, name: str, controller_class: type[TunableController[P]],
        extend: Callable[[ControllerNode], Extension] | None = None,
    ) -> None:  # fmt: skip
        self._extension = Extension()  # here: a node that cannot be made is destroyed, too
        super().__init__(name)
        if "use_sim_time" not in self._parameter_overrides:
            self.set_parameters([RosParameter("use_sim_time", value=True)])
        self.exit_code = 0
        self._class = controller_class
        whole = getattr(controller_class, "reads_whole_state", False)
        self.values = declare(
            self, [replace(each, default=whole) if each.name == WHOLE_STATE else each for each in PARAMETERS]
        )
        self.tuning = ControllerParameters(self, controller_class.Parameters)
        self._description = ""
        self._is_new_robot = False
        self._controller: TunableController[P] | None = None
        self._names: tuple[str, ...] = ()  # of the joints that are driven
        self._last: RobotState | None = None  # the last state that was answered, and the answer
        self._command = Command()
        self._due = 0  # ns: stamp from which on the next answer is wanted
        self._counts: Counter[str] = Counter()
        self._spent = 0.0  # s in the controller since the last diagnosis
        self._answered = 0
        self._waiting = Waiting(self)
        self._listener: tuple[float, int] | None = (
            None  # when somebody began to listen, and to which stamp we were then
        )
        self._sim_time: ROSClock | None = None
        if extend is not None:
            self._extension = extend(self)
        commands = self._extension.commands or getattr(controller_class, "commands", None)
        self._commands = CommandPublisher(self, self._on_listener, commands)
        self._source = self._extension.states or self._plain_states()
        # Who else reads the states works at the same time as this node, and so does who makes them.
        self._about_robot = self._description_handlers()
        self._heard = self._handlers()
        self._loop = FastLoop(
            self, *self._heard,
            lambda: 1 + self.count_subscribers(self._source.topic), self.outlive,
        )  # fmt: skip
        self._sim_time = _take_over_clock(self) if self.values["whole_state"] else None
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(1.0, self._diagnose, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if self.values["robot_description"]:
            self._take_robot(self.values["robot_description"])

    def run(self) -> None:
        """Until the node is shut down."""
        while True:
            self._loop.wait(None if self._listener is None else LISTENER_WAITS)
            self._after_wait()

    def turn(self) -> bool:
        """Do what there is to do now, without waiting, in a process of several nodes; whether there was anything."""
        done = self._loop.wait(0.0)
        self._after_wait()
        return done

    def leave(self) -> None:
        """End it in a process that goes on."""
        self._loop.close()
        self.destroy_node()

    def _after_wait(self) -> None:
        if self._is_new_robot:
            self._listen_to_new_topics()
        if self._listener is not None:
            self._repeat_for_listener()

    def destroy_node(self) -> None:
        """End it with what belongs to it."""
        self._extension.close()
        super().destroy_node()

    def on_state(self, state: RobotState) -> None:
        """Answer a state that is complete. One that comes again gets the same answer again."""
        if self._sim_time is not None:
            self._sim_time.set_ros_time_override(Time(nanoseconds=state.time, clock_type=ClockType.ROS_TIME))
        self._extension.before_answer(state, self._last is None or self._last.time != state.time)
        is_answered = self._last is not None and _same(self._last, state)
        if not (is_answered or self._ask(state)):
            return
        self._commands.publish(state.time, self._command, state.coupling)
        self._extension.after_answer(state, self._command)

    def complain(self, cause: str, detail: str) -> None:
        """Count a problem; the first of a cause is logged."""
        self._counts[cause] += 1
        if self._counts[cause] == 1:
            self.get_logger().error(f"{cause}: {detail}; further ones are counted in /diagnostics")

    def tell(self, status: DiagnosticStatus) -> None:
        """Publish a status on /diagnostics."""
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)

    def _plain_states(self) -> StateSource:
        kind = WholeStates if self.values["whole_state"] else JointStates
        return kind(self, self.on_state, self.complain)

    def _handlers(self) -> tuple[list[Handler], list[Handler]]:
        """Those that an answer waits for, and those that may wait."""
        hot = [*self._about_robot, *self._extension.handlers, *self._source.handlers]
        return hot, [*self._extension.slack_handlers, *self._source.slack_handlers]

    def _listen_to_new_topics(self) -> None:
        """Some topics have the names of a robot's links: they are known with the robot."""
        self._is_new_robot = False
        heard = self._handlers()
        if heard != self._heard:
            self._heard = heard
            self._loop.listen_to(*heard)

    def _description_handlers(self) -> list[Handler]:
        if self.values["robot_description"]:
            return []
        return [(self.create_subscription(String, "robot_description", unused, LATCHED), self._on_description)]

    def _take_robot(self, description: str) -> None:
        """Make the controller for a robot; ValueError if it cannot control it."""
        if description == self._description:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UrdfWarning)  # physics tells of them
            model = load_urdf(description, self.values["base"], sidecar=self.values["sidecar"] or None, found_meshes={})
        controller, failure = warmed_up(lambda: self._class(model, self.tuning.current), model)
        if failure is not None:
            self.get_logger().debug(f"update with a made-up state: {type(failure).__name__}: {failure}")
        begin_states = self._source.prepared(model, getattr(controller, "needed_joints", None))
        self._description, self._controller = description, controller
        self._names = tuple(joint.name for joint in driven_joints(model))
        self.tuning.apply = controller.configure
        self._last = None
        self._extension.on_robot(controller)
        self._is_new_robot = True
        begin_states()
        base = "floating" if model.is_floating else "fixed"
        self.get_logger().info(f"controls '{model.name}': {model.nv} dofs, {base} base")

    def _on_description(self, message: String) -> None:
        try:
            self._take_robot(message.data)
        except ValueError as error:
            for line in str(error).splitlines():
                self.get_logger().fatal(line)
            self.exit_code = BAD_INPUT
            rclpy.try_shutdown()
        except Exception as error:
            if self._controller is None:  # there is nothing to go on with
                self._end_with("the controller cannot be made", error)
            else:
                raise

    def _ask(self, state: RobotState) -> bool:
        """Ask the controller for the command to a state; whether there is one."""
        assert self._controller is not None
        if self._last is not None and not 0 <= state.time - self._last.time < RESET_GAP:
            self._controller.reset()
            self._counts["resets"] += 1
            self._due = 0
            self._extension.on_reset()
        elif state.time < self._due:
            return False
        if self.values["rate"] > 0.0:
            self._due = state.time + round(SECOND / self.values["rate"])
        begin = time.perf_counter()
        try:
            returned = self._controller.update(state.time / SECOND, state)
            command = listed(command_from(returned, self._names), self._names)
            self._commands.check(command)
        except ValueError as error:  # no answer: the robot is held, as physics does where a controller is missing
            self.complain("controller failed", str(error))
            return False
        except Exception as error:  # a mistake in its code: whoever launched it has to see it
            self._end_with(f"the controller failed at t = {state.time / SECOND:.9g} s", error)
            return False
        self._spent += time.perf_counter() - begin
        self._last, self._command = state, command
        self._answered += 1
        return True

    def _end_with(self, what: str, error: Exception) -> None:
        """End the node; its last line is the reason, which a launch repeats."""
        log, place = self.get_logger(), traceback.extract_tb(error.__traceback__)[-1]
        log.fatal("".join(traceback.format_exception(error)).rstrip())
        where = f"{Path(place.filename).name}:{place.lineno}"
        log.fatal(f"{what}: {type(error).__name__}: {error} ({where})")
        self.exit_code = 1
        rclpy.try_shutdown()

    def _on_listener(self) -> None:
        if self._last is not None:
            self._listener = time.monotonic(), self._last.time

    def _repeat_for_listener(self) -> None:
        """Somebody new listens. If that is the robot, it has not heard the answer that it waits for: say it again."""
        if self._listener is None or self._last is None:
            return
        since, stamp = self._listener
        if self._last.time != stamp:  # it goes on: nobody waits
            self._listener = None
        elif time.monotonic() - since >= LISTENER_WAITS:
            self._listener = None
            self._commands.publish(stamp, self._command, self._last.coupling)

    def _diagnose(self) -> None:
        waits_for = "" if self._last is not None else self._source.topic
        waits_for = "robot_description" if self._controller is None else waits_for
        self._waiting.look(self.resolve_topic_name(waits_for) if waits_for else "")
        trouble = sum(count for cause, count in self._counts.items() if cause != "resets") + self.failures.total()
        entries: dict[str, object] = {
            "time [s]": 0.0 if self._last is None else self._last.time / SECOND,
            "answers in the last second": self._answered,
            "time per update [us]": round(1e6 * self._spent / max(1, self._answered), 1),
            **self._counts,
            **{f"failed: {what}": number for what, number in self.failures.items()},
        }
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if waits_for or trouble else DiagnosticStatus.OK,
            name=f"{self.get_fully_qualified_name()}: controller",
            message=f"waits for {waits_for}" if waits_for else "answers",
            values=[KeyValue(key=key, value=str(value)) for key, value in entries.items()],
        )
        self.tell(status)
        self._spent, self._answered = 0.0, 0
        self._extension.diagnose()


def _take_over_clock(node: Node) -> ROSClock | None:
    """The node's clock, which shows the time of the last state from now on; None if it shows the wall's.

    The states tell the time that /clock tells, too: a subscription of that would only wake this process once more.
    """
    clock = node.get_clock()
    if not isinstance(clock, ROSClock) or not clock.ros_time_is_active:
        return None
    node._time_source.detach_node()
    return clock


def _same(a: RobotState, b: RobotState) -> bool:
    return a.time == b.time and bool((a.q == b.q).all() and (a.v == b.v).all())


def warmed_up(make: Callable[[], TunableController[P]], model: Model) -> tuple[TunableController[P], Exception | None]:
    """A controller after one update for nobody, which compiles what is to be compiled while no robot waits.

    The state is made up: a controller that fails with it may have wanted contacts or motors, and shall see a real one.
    Then it is made anew, so that nothing is left of it, and a mistake in its code comes again where it is told.
    """
    n = len(driven_joints(model))
    state = RobotState(
        0, model.neutral.copy(), np.zeros(model.nv), effort=np.zeros(n), is_floating=model.is_floating,
        contact_values=np.zeros((0, 6)),
    )  # fmt: skip
    controller = make()
    try:
        controller.update(0.0, state)
    except Exception as error:
        return make(), error
    controller.reset()
    return controller, None


def run_controller(
    name: str, controller_class: type[TunableController[P]], extend: Callable[[ControllerNode], Extension] | None = None
) -> int:
    """The process of a controller's node; returns its exit code. extend: makes what it has beside answering."""
    return run_node(lambda: ControllerNode(name, controller_class, extend), ControllerNode.run)
