# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Asks a running node for its parameters, and puts them into words."""

from __future__ import annotations

import json
from array import array
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy.parameter import Parameter as RosParameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from mbsim_ros.nodes.interface.reports import ParameterReport
from mbsim_ros.nodes.physics.parameters import GAINS

# What every node of rclpy has, which the page says once, and what depends on the robot, which it says in words: all
# that begin so.
COMMON_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides.", GAINS)
TYPES = {
    getattr(ParameterType, f"PARAMETER_{name}"): words
    for name, words in (
        ("BOOL", "bool"), ("INTEGER", "integer"), ("DOUBLE", "double"), ("STRING", "string"),
        ("BOOL_ARRAY", "bool[]"), ("INTEGER_ARRAY", "integer[]"), ("DOUBLE_ARRAY", "double[]"),
        ("STRING_ARRAY", "string[]"),
    )
}  # fmt: skip
ASK_AGAIN = 100  # looks, after a question without an answer
ENDLESS = 2.0**62  # as an upper bound


class ParameterQuestions:
    """Asks a node for its parameters, one question after the other; nothing here waits."""

    def __init__(self, client: AsyncParameterClient):
        self._client = client
        self._names: list[str] = []
        self._futures: list[Any] = []
        self._looks = 0
        self._answers: list[tuple[ParameterDescriptor, Any]] | None = None

    def answers(self) -> list[tuple[ParameterDescriptor, Any]] | None:
        """Descriptors and values, use_sim_time first; None while they are not all there."""
        self._looks += 1
        if self._answers is not None or not self._client.services_are_ready():
            return self._answers
        if not self._futures or self._looks % ASK_AGAIN == 0:
            self._names, self._futures = [], [self._client.list_parameters()]
        if not all(future.done() for future in self._futures):
            return None
        if not self._names:
            listed = self._futures[0].result().result.names
            self._names = ["use_sim_time", *(name for name in listed if not name.startswith(COMMON_PARAMETERS))]
            self._futures = [
                self._client.describe_parameters(self._names), self._client.get_parameters(self._names)
            ]  # fmt: skip
            return None
        described, values = (future.result() for future in self._futures)
        self._answers = list(zip(described.descriptors, map(parameter_value_to_python, values.values), strict=True))
        return self._answers


def in_words(about: ParameterDescriptor, default: str | None) -> ParameterReport:
    """A parameter in words. What it may be is said once: a description that ends with it loses it."""
    limits = about.additional_constraints
    for entry in (*about.floating_point_range, *about.integer_range):
        lower, upper = entry.from_value, entry.to_value
        limits = f"{_short(lower)} or more" if upper >= ENDLESS else f"{_short(lower)} to {_short(upper)}"
    description = about.description.removesuffix(about.additional_constraints).strip()
    return ParameterReport(about.name, TYPES[about.type], default, limits, not about.read_only, description)


def _short(number: float) -> str:
    return f"{number:g}".replace("e+0", "e").replace("e-0", "e-")


def default_in_words(value: object) -> str:
    """As `ros2 param set` takes it."""
    if value is RosParameter.Type.DOUBLE_ARRAY:  # declared without a value
        return "[]"
    return json.dumps(list(value) if isinstance(value, array) else value, ensure_ascii=False)
