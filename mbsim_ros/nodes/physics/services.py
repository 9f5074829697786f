# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Services of the physics node: pause, resume, reset, step, and the standard simulation_interfaces where they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from mbsim_ros.nodes.stamps import seconds_text

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics


class Services:
    """Triggers by everybody; a reply to `step` comes when the step has been taken, nothing waits in a callback."""

    def __init__(self, physics: Physics):
        self._physics = physics
        group = ReentrantCallbackGroup()  # a step that is under way must not keep others from asking
        for name, handler in (
            ("pause", self._on_pause), ("resume", self._on_resume), ("reset", self._on_reset), ("step", self._on_step),
        ):  # fmt: skip
            physics.create_service(Trigger, name, handler, callback_group=group)
        try:
            from mbsim_ros.nodes.physics.standard_services import StandardServices
        except ImportError:
            physics.get_logger().info("simulation_interfaces is not installed: its services are not offered")
        else:
            StandardServices(physics, group)

    def _on_pause(self, _: object, response: Trigger.Response) -> Trigger.Response:
        physics = self._physics
        response.success = True
        response.message = "was paused already" if physics.paused else f"paused at {seconds_text(physics.stamp)}"
        physics.paused = True
        return response

    def _on_resume(self, _: object, response: Trigger.Response) -> Trigger.Response:
        physics = self._physics
        response.success = True
        response.message = "goes on" if physics.paused else "was not paused"
        physics.paused = False
        physics.pace.restart(physics.stamp)
        return response

    def _on_reset(self, _: object, response: Trigger.Response) -> Trigger.Response:
        physics = self._physics
        physics.reset()
        response.success = True
        response.message = (
            f"in state '{physics.values['initial_state']}' at {seconds_text(physics.stamp)}; time goes on forward"
        )
        return response

    async def _on_step(self, _: object, response: Trigger.Response) -> Trigger.Response:
        physics = self._physics
        if not physics.paused:
            response.success, response.message = False, "not paused: call pause first"
            return response
        try:
            await physics.wanted_step()
        except ValueError as error:
            response.success, response.message = False, str(error)
        else:
            response.success, response.message = True, f"at {seconds_text(physics.stamp)}"
        return response
