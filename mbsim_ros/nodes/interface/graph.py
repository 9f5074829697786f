# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Asks running nodes, over DDS, for their topics, services and parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from mbsim_ros.nodes.controllers.state_sources import LATCHED
from mbsim_ros.nodes.interface.parameter_questions import ParameterQuestions, default_in_words, in_words
from mbsim_ros.nodes.interface.processes import Start, ended, running, starts
from mbsim_ros.nodes.interface.reports import (
    CALLS,
    OFFERS,
    PUBLISHES,
    SUBSCRIBES,
    Endpoint,
    NodeReport,
    ParameterReport,
    union,
)

# What every node of rclpy has; the page says so once.
COMMON_TOPICS = ("/rosout", "/parameter_events")
COMMON_SERVICES = (
    "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
    "set_parameters", "set_parameters_atomically",
)  # fmt: skip
LOOK = 0.2  # s of wall time between two looks at the graph
# In looks: a machine that stands still for a minute is no reason to give up.
SETTLED = 10  # without a change, after which nothing unexpected will come
SILENT = 100  # without a change, after which nothing will come that is expected
PATIENCE = 500  # for a cold start on a busy machine
ROBOT = """<robot name="stone"><link name="stone"><inertial>
  <mass value="1.0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0.0" ixz="0.0" iyz="0.0"/>
</inertial></link></robot>"""  # for who needs one, whichever it is


class Observer:
    """A node of its own that asks the others."""

    def __init__(self) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("interface", context=self._context, use_global_arguments=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._asked: dict[str, ParameterQuestions] = {}
        self._latched: list[object] = []

    def publish_robot(self, space: str, description: str) -> None:
        """Say, for as long as this observes, which robot there is."""
        publisher = self._node.create_publisher(String, f"{space}/robot_description", LATCHED)
        publisher.publish(String(data=description))
        self._latched.append(publisher)

    def close(self) -> None:
        """Leave."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def endpoints(self, start: Start) -> frozenset[Endpoint]:
        """The topics and services of a process, as far as they are known by now."""
        node, place = self._node, (start.node, start.space)
        found: set[Endpoint] = set()
        try:
            published = node.get_publisher_names_and_types_by_node(*place)
            subscribed = node.get_subscriber_names_and_types_by_node(*place)
            offered = node.get_service_names_and_types_by_node(*place)
            called = node.get_client_names_and_types_by_node(*place)
        except NodeNameNonExistentError:
            return frozenset()
        for direction, names, ask in (
            (PUBLISHES, published, node.get_publishers_info_by_topic),
            (SUBSCRIBES, subscribed, node.get_subscriptions_info_by_topic),
        ):
            for topic in (topic for topic, _ in names if topic not in COMMON_TOPICS):
                own = [entry for entry in ask(topic) if (entry.node_name, entry.node_namespace) == place]
                for entry in own:
                    quality = _quality(entry.qos_profile)
                    if direction == PUBLISHES and len(own) > 1:  # somebody forgot one of them: no page says this
                        quality += f", {len(own)} times"
                    found.add(Endpoint(direction, _relative(topic, start.space), entry.topic_type, quality))
        common = {f"{start.space}/{start.node}/{service}" for service in COMMON_SERVICES}
        for direction, names in ((OFFERS, offered), (CALLS, called)):
            for service, types in names:
                if service not in common:
                    found.add(Endpoint(direction, _relative(service, start.space), types[0]))
        return frozenset(found)

    def parameters(self, start: Start) -> tuple[list[ParameterReport], bool] | None:
        """The parameters of a process, and whether it uses simulated time; None while it has not answered."""
        full_name = f"{start.space}/{start.node}"
        if full_name not in self._asked:
            self._asked[full_name] = ParameterQuestions(AsyncParameterClient(self._node, full_name))
        answers = self._asked[full_name].answers()
        if answers is None:
            return None
        (_, uses_sim_time), *others = answers
        declared = {entry.name: entry.default for entry in start.declared}
        found = []
        for about, value in others:
            is_default = about.name not in start.given
            default = value if is_default else declared.get(about.name)
            found.append(in_words(about, default_in_words(default) if is_default or about.name in declared else None))
        return found, bool(uses_sim_time)

    def has_all_answers(self, wanted: Sequence[Start]) -> bool:
        """Whether all processes have told their parameters."""
        return all(self.parameters(start) is not None for start in wanted)

    def spin(self, seconds: float) -> None:
        """Let answers come."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)


def read_nodes(is_complete: Callable[[dict[str, NodeReport]], bool]) -> dict[str, NodeReport]:
    """Start every node and ask it; by node, in the order in which they are started.

    is_complete: whether the reports have all that is expected. Discovery takes its time, so what is not there yet is
    waited for; what is there beyond it shows in the moment of silence that follows. RuntimeError if a node ends.
    """
    observer = Observer()
    try:
        with TemporaryDirectory(prefix="mbsim_interface_") as name:
            wanted = starts(Path(name))
            for start in wanted:
                if start.needs_robot:
                    observer.publish_robot(start.space, ROBOT)
            with running(wanted, Path(name)) as processes:
                last_words = partial(ended, wanted, processes, Path(name))
                return _wait_and_read(observer, wanted, is_complete, last_words)
    finally:
        observer.close()


def _wait_and_read(
    observer: Observer, wanted: Sequence[Start], is_complete: Callable[[dict[str, NodeReport]], bool],
    last_words: Callable[[], list[str]],
) -> dict[str, NodeReport]:  # fmt: skip
    found: dict[str, NodeReport] = {}
    silent = 0
    for _ in range(PATIENCE):
        observer.spin(LOOK)
        if words := last_words():
            raise RuntimeError("\n".join(words))
        before, found = found, _look(observer, wanted)
        silent = silent + 1 if found == before else 0
        if (silent >= SETTLED and is_complete(found)) or (silent >= SILENT and observer.has_all_answers(wanted)):
            break
    return found


def _look(observer: Observer, wanted: Sequence[Start]) -> dict[str, NodeReport]:
    """What is known by now. A node that has not told its parameters is still starting, and tells nothing yet."""
    reports: dict[str, list[NodeReport]] = {start.report: [] for start in wanted}
    for start in wanted:
        answer = observer.parameters(start)
        if answer is None:
            continue
        parameters, uses_sim_time = answer
        endpoints = observer.endpoints(start)
        if uses_sim_time:
            endpoints = frozenset(e for e in endpoints if (e.direction, e.name) != (SUBSCRIBES, "/clock"))
        reports[start.report].append(NodeReport(endpoints, tuple(parameters)))
    return {node: union(parts) for node, parts in reports.items()}


def _relative(name: str, space: str) -> str:
    return name.removeprefix(f"{space}/")


def _quality(profile: QoSProfile) -> str:
    """Reliability and durability; depth and history are no part of what DDS announces."""
    return f"{profile.reliability.name}, {profile.durability.name}".lower().replace("_", " ")
