# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a running node reports of itself, without what every ROS node has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

PUBLISHES, SUBSCRIBES, OFFERS, CALLS = "publishes", "subscribes", "offers", "calls"
DIRECTIONS = (PUBLISHES, SUBSCRIBES, OFFERS, CALLS)


@dataclass(frozen=True, order=True)
class Endpoint:
    """A topic or service of a node.

    direction: one of DIRECTIONS; name: relative to the node's namespace, or absolute; quality: reliability and
    durability of a topic, as DDS announces them, "" of a service.
    """

    direction: str
    name: str
    type: str
    quality: str = ""


@dataclass(frozen=True)
class ParameterReport:
    """A parameter of a node, in words. default: None where the node was started with another value."""

    name: str
    type: str
    default: str | None
    limits: str
    live: bool
    description: str


@dataclass(frozen=True)
class NodeReport:
    """Everything that one process of a node has shown, or several with different parameters together."""

    endpoints: frozenset[Endpoint]
    parameters: tuple[ParameterReport, ...]


def union(reports: Iterable[NodeReport]) -> NodeReport:
    """What the processes of one node showed together; a default is that of one which was started with it."""
    endpoints: frozenset[Endpoint] = frozenset()
    parameters: dict[str, ParameterReport] = {}
    for report in reports:
        endpoints |= report.endpoints
        for entry in report.parameters:
            if entry.name not in parameters or parameters[entry.name].default is None:
                parameters[entry.name] = entry
    return NodeReport(endpoints, tuple(parameters.values()))


def matches(pattern: str, name: str) -> bool:
    """Whether a name is one of a pattern such as `contact_wrench/<link>`; without brackets, whether it is the same."""
    return re.fullmatch(re.sub(r"<[^>]*>", r"\\w+", pattern), name) is not None
