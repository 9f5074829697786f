# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node that owns the walker's coupling: takes requests, refuses what would drop it, answers every state in lockstep."""

from __future__ import annotations

import functools
import json
import sys
from typing import Any

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import QoSProfile
from rclpy.task import Future
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool

from mbsim_ros.control.command import Command
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.clutch_logic import (
    REFUSED,
    WAITING,
    ClutchEvent,
    ClutchLogic,
    ClutchRequest,
    parse_request,
)
from mbsim_ros.nodes.controllers.controller_node import LATCHED
from mbsim_ros.nodes.controllers.foot_forces import FootForces
from mbsim_ros.nodes.controllers.motor_state_node import MotorStateNode
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.transport.answer_topic import AnswerTopic, string_bytes

REQUESTS = QoSProfile(depth=1000)
STALE = SECOND // 5  # ns after which forces under the feet are no longer known


class ClutchManager(MotorStateNode):
    """Takes clutch_request (String: name, then soft, hard, force) and services clutch/<name> (SetBool, true: soft).

    Publishes coupling_command `name@stamp` to every state, clutch_state (String, JSON) and clutch_loss (Float64) when
    something happened. Forces under the feet come from contact_wrench/<leg>_tibia.
    """

    def __init__(self) -> None:
        self._feet: FootForces | None = None
        self._promised: list[tuple[ClutchRequest, Future[ClutchEvent]]] = []
        self.decided = ""  # the last answer
        super().__init__("clutch_manager", ClutchLogic)
        self._state = self.create_publisher(String, "clutch_state", LATCHED)
        self._loss = self.create_publisher(Float64, "clutch_loss", LATCHED)
        self._has_services = False
        self._commands: Any = CouplingPublisher(self)

    def _slack_handlers(self) -> list[Any]:
        self._feet = FootForces(self, self._complain, lambda: None)
        requests = self.create_subscription(String, "clutch_request", lambda _: None, REQUESTS)
        return [*self._feet.handlers, (requests, self._on_request)]

    @property
    def logic(self) -> ClutchLogic | None:
        """The logic, once there is a robot."""
        return self._controller if isinstance(self._controller, ClutchLogic) else None

    def coupling_in_force(self, told: str) -> str:
        """What was decided is in force: this node owns the coupling."""
        return self.decided or told

    def foot_forces(self, now: int) -> np.ndarray | None:
        """The last forces, if all feet have one that is fresh."""
        return None if self._feet is None else self._feet.between(max(0, now - STALE), now)

    def _on_request(self, message: String) -> None:
        try:
            request = parse_request(message.data)
            if self.logic is None:
                raise ValueError(f"'{request.coupling}': there is no robot yet")
            self.logic.request(request)
        except ValueError as error:
            self._complain("request refused", str(error))

    def before_answer(self, state: RobotState) -> None:
        """Offer the services once the couplings are known."""
        if self._has_services or self.logic is None:
            return
        self._has_services = True
        # A request that waits must not keep others, or the services of parameters, from being answered.
        group = ReentrantCallbackGroup()
        for name in self.logic.couplings:
            handler = functools.partial(self._on_service, name)
            self.create_service(SetBool, f"clutch/{name}", handler, callback_group=group)

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

    def tell(self, event: ClutchEvent) -> None:
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


class CouplingPublisher:
    """Answers every state with the coupling that is to be in force."""

    def __init__(self, node: ClutchManager):
        self._node = node
        self._topic = AnswerTopic(node, String, "coupling_command", node._on_listener)

    def publish(self, stamp: int, command: Command) -> None:
        """Answer the state of this stamp [ns]."""
        self._node.decided = command.coupling or ""
        self._topic.publish(string_bytes(f"{self._node.decided}@{stamp}"))
        logic = self._node.logic
        if logic is not None:
            events, logic.events = logic.events, []
            for event in events:
                self._node.tell(event)


def main() -> int:
    """The node's process."""
    return run_node(ClutchManager, ClutchManager.run)


if __name__ == "__main__":
    sys.exit(main())
