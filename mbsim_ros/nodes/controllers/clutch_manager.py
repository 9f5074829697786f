# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node that owns a robot's coupling: takes requests, refuses what its sidecar's rules forbid, answers every state."""

from __future__ import annotations

import functools
import json
import sys

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import QoSProfile
from rclpy.task import Future
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool

from mbsim_ros.control.clutches.logic import (
    REFUSED,
    WAITING,
    ClutchEvent,
    ClutchLogic,
    ClutchRequest,
    parse_request,
)
from mbsim_ros.control.command import Command
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.motor_states import MotorStates
from mbsim_ros.nodes.controllers.state_sources import LATCHED
from mbsim_ros.nodes.stamps import SECOND

REQUESTS = QoSProfile(depth=1000)
STALE = SECOND // 5  # ns after which forces under the feet are no longer known


class ClutchRequests(Extension):
    """Takes clutch_request (String: name, then soft, hard, force) and services clutch/<name> (SetBool, true: soft).

    Publishes clutch_state (String, JSON) and clutch_loss (Float64) when something happened; the answer to every state,
    coupling_command `name@stamp`, is the node's. Forces under the feet come from contact_wrench/<foot>.
    """

    def __init__(self, node: ControllerNode):
        self._node = node
        self.logic: ClutchLogic | None = None  # once there is a robot
        self._decided = ""  # the last answer
        self._promised: list[tuple[ClutchRequest, Future[ClutchEvent]]] = []
        self._state = node.create_publisher(String, "clutch_state", LATCHED)
        self._loss = node.create_publisher(Float64, "clutch_loss", LATCHED)
        self._has_services = False
        # what was decided is in force: this node owns the coupling
        self._motor_states = MotorStates(
            node, node.values["whole_state"], node.on_state, node.complain, oldest_forces=STALE,
            in_force=lambda told: self._decided or told,
        )  # fmt: skip
        self.states = self._motor_states
        requests = node.create_subscription(String, "clutch_request", lambda _: None, REQUESTS)
        self.slack_handlers = [(requests, self._on_request)]

    def on_robot(self, controller: Controller) -> None:
        """Requests are for this logic from now on; the services are offered once the couplings are known."""
        assert isinstance(controller, ClutchLogic)
        self.logic, self._decided = controller, ""
        self._motor_states.watch_feet(controller.feet)
        if self._has_services:
            return
        self._has_services = True
        # A request that waits must not keep others, or the services of parameters, from being answered.
        group = ReentrantCallbackGroup()
        for name in self.logic.couplings:
            handler = functools.partial(self._on_service, name)
            self._node.create_service(SetBool, f"clutch/{name}", handler, callback_group=group)

    def after_answer(self, state: RobotState, command: Command) -> None:
        """Tell what became of requests."""
        assert self.logic is not None
        self._decided = command.coupling or ""
        events, self.logic.events = self.logic.events, []
        for event in events:
            self._tell(event)

    def _on_request(self, message: String) -> None:
        try:
            request = parse_request(message.data)
            if self.logic is None:
                raise ValueError(f"'{request.coupling}': there is no robot yet")
            self.logic.request(request)
        except ValueError as error:
            self._node.complain("request refused", str(error))

    async def _on_service(self, name: str, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Answer when the request has been decided: a soft one may take a while."""
        assert self.logic is not None
        wanted = ClutchRequest(name, soft=request.data)
        decided: Future[ClutchEvent] = Future()
        try:
            self.logic.request(wanted)
        except ValueError as error:
            response.success, response.message = False, str(error)
            return response
        self._promised.append((wanted, decided))
        event = await decided
        assert event is not None
        response.success = event.outcome != REFUSED
        response.message = event.reason or f"{event.outcome}, {event.loss:.3g} J lost"
        return response

    def _tell(self, event: ClutchEvent) -> None:
        """Publish what became of a request, and answer the service that brought it."""
        assert self.logic is not None
        request = event.request
        entries = {
            "time": event.t, "coupling": request.coupling, "soft": request.soft, "forced": request.forced,
            "outcome": event.outcome, "reason": event.reason, "loss": event.loss, "total_loss": self.logic.total_loss,
            "impulses": dict(event.impulses),
        }  # fmt: skip
        self._state.publish(String(data=json.dumps(entries)))
        self._loss.publish(Float64(data=self.logic.total_loss))
        if event.outcome == WAITING:
            return
        for k, (wanted, decided) in enumerate(self._promised):
            if wanted is request:
                decided.set_result(event)
                del self._promised[k]
                break


def main() -> int:
    """The node's process."""
    return run_controller("clutch_manager", ClutchLogic, ClutchRequests)


if __name__ == "__main__":
    sys.exit(main())
