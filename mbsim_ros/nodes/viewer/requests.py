# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a viewer asks of the simulation: services, pushes, parameters. Nothing here waits for an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from std_srvs.srv import Trigger

from mbsim_ros.nodes.frames import frame_name
from mbsim_ros.viewer.page.controls import PAUSE, RESUME, TRIGGERS, Controls, ParameterPanel
from mbsim_ros.viewer.page.dragging import Pull
from mbsim_ros.viewer.page.markdown import code, plain

NUMBERS = {ParameterType.PARAMETER_DOUBLE: False, ParameterType.PARAMETER_INTEGER: True}  # whether they are whole
MOST_FRICTION = 2.0
TOO_WIDE = 1e4  # a range wider than this says nothing


class Requests:
    """Calls services by name and pushes links; answers go to `say`, whether time stands still to `on_time`."""

    def __init__(self, node: Node, say: Callable[[str], None], on_time: Callable[[bool], None]):
        self._node, self._say, self._on_time = node, say, on_time
        self._triggers: dict[str, Client] = {name: node.create_client(Trigger, name) for name in TRIGGERS}
        self._wrenches = node.create_publisher(WrenchStamped, "wrench", 10)

    def call(self, name: str) -> None:
        """Call one of the simulation's services."""
        client = self._triggers[name]
        if not client.service_is_ready():
            self._say(f"⚠ there is no service `{client.srv_name}`: does the simulation run?")
            return
        client.call_async(Trigger.Request()).add_done_callback(partial(self._on_answer, name))

    def push(self, link: str, prefix: str, force: np.ndarray) -> None:
        """Push a link for 0.1 s of simulated time; force (3,) in the link's axes [N]."""
        self._publish(link, prefix, force, np.zeros(3))
        self._say(f"`push`: {np.linalg.norm(force):.3g} N on {plain(link)}")

    def pull(self, pull: Pull, prefix: str) -> None:
        """Let the mouse act on a link for 0.1 s of simulated time, or until the next."""
        self._publish(pull.link, prefix, pull.force, pull.torque)
        self._say(f"`drag`: {np.linalg.norm(pull.force):.3g} N on {plain(pull.link)}")

    def _publish(self, link: str, prefix: str, force: np.ndarray, torque: np.ndarray) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame_name(link, prefix)
        f, t = message.wrench.force, message.wrench.torque
        f.x, f.y, f.z = force.tolist()
        t.x, t.y, t.z = torque.tolist()
        self._wrenches.publish(message)

    def _on_answer(self, name: str, future: Any) -> None:
        answer = future.result()
        if answer.success and name in (PAUSE, RESUME):
            self._on_time(name == PAUSE)
        self._say(f"`{name}`: {'' if answer.success else '⚠ '}{plain(answer.message)}")


class ParametersOfNodes:
    """Finds the parameters of the nodes beside this one that are numbers and may change, and changes them."""

    def __init__(self, node: Node, panel: ParameterPanel, controls: Controls, friction: float | None):
        """friction: of the contacts when nobody has set it; None for a robot that touches nothing."""
        self._node, self._panel, self._controls, self._friction = node, panel, controls, friction
        self._say = controls.show_answer
        self._clients: dict[str, AsyncParameterClient] = {}

    def look_for_nodes(self) -> None:
        """Ask the nodes of this namespace that were not known yet."""
        space = self._node.get_namespace()
        for name, namespace in self._node.get_node_names_and_namespaces():
            if namespace == space and name not in self._clients and name not in (self._node.get_name(), "record"):
                client = AsyncParameterClient(self._node, f"{space.rstrip('/')}/{name}")
                if client.services_are_ready():
                    self._clients[name] = client
                    client.list_parameters().add_done_callback(partial(self._on_names, name))

    def change(self, node: str, name: str, value: object) -> None:
        """Set a parameter; what the node says to it is shown."""
        if node not in self._clients:
            self._say(f"⚠ the node {code(node)} has not answered yet")
            return
        future = self._clients[node].set_parameters([Parameter(name, value=value)])
        future.add_done_callback(partial(self._on_set, node, name, value))

    def _on_names(self, node: str, future: Any) -> None:
        names = [name for name in future.result().result.names if not name.startswith("qos_overrides")]
        described = self._clients[node].describe_parameters(names)
        described.add_done_callback(partial(self._on_descriptions, node))

    def _on_descriptions(self, node: str, future: Any) -> None:
        found = [d for d in future.result().descriptors if not d.read_only and d.type in NUMBERS]
        names = [descriptor.name for descriptor in found]
        if names:
            self._clients[node].get_parameters(names).add_done_callback(partial(self._on_values, node, found))

    def _on_values(self, node: str, descriptors: list[ParameterDescriptor], future: Any) -> None:
        for descriptor, given in zip(descriptors, future.result().values, strict=True):
            value: Any = parameter_value_to_python(given)
            if (node, descriptor.name) == ("physics", "real_time_factor"):
                self._controls.show_speed(value)
            elif (node, descriptor.name) == ("physics", "friction"):
                self._add_friction(node, value, descriptor.description)
            elif value is not None:
                lower, upper = _range(descriptor, value)
                whole = NUMBERS[descriptor.type]
                self._panel.add(node, descriptor.name, value, lower, upper, descriptor.description, whole)

    def _add_friction(self, node: str, value: float, about: str) -> None:
        """A coefficient begins at 0: what is below stands for the sidecar's."""
        if self._friction is not None:
            value = self._friction if value < 0.0 else value
            self._panel.add(node, "friction", value, 0.0, max(MOST_FRICTION, value), about, whole=False)

    def _on_set(self, node: str, name: str, value: object, future: Any) -> None:
        result = future.result().results[0]
        shown = f"{value:.6g}" if isinstance(value, float) else plain(value)
        said = f"is {shown}" if result.successful else f"⚠ {plain(result.reason)}"
        self._say(f"{code(node)} {code(name)}: {said}")


def _range(descriptor: ParameterDescriptor, value: float) -> tuple[float, float]:
    """Ends of what may be set: the range the node tells, narrowed around the value where it is without bounds."""
    found = [*descriptor.floating_point_range, *descriptor.integer_range]
    lower, upper = (found[0].from_value, found[0].to_value) if found else (-TOO_WIDE, TOO_WIDE)
    around = 10.0 * max(abs(value), 1.0)
    if upper - lower > TOO_WIDE:
        lower, upper = max(lower, -around if lower < 0 else lower), min(upper, around)
    kind = type(value)
    return kind(lower), kind(upper)
