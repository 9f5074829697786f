# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""ROS parameters as a table: name, default, what it is, its range, and whether it may change while the node runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

_INTEGER_FOR = {  # what people write for a float, as in `real_time_factor:=0`
    RosParameter.Type.DOUBLE: RosParameter.Type.INTEGER,
    RosParameter.Type.DOUBLE_ARRAY: RosParameter.Type.INTEGER_ARRAY,
}
_lenient: WeakSet[Node] = WeakSet()  # nodes that take integers for floats; rclpy wants one such callback for each


@dataclass(frozen=True)
class Parameter:
    """One parameter of a node.

    choices: the words that a string may be; lower, upper: of numbers, both included; constraints: of other values, in
    words; live: whether it may change while the node runs.
    """

    name: str
    default: Any
    description: str
    lower: float | None = None
    upper: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False
    constraints: str = ""

    def descriptor(self) -> ParameterDescriptor:
        """As ROS shows it to users."""
        choices = f"One of: {', '.join(self.choices)}." if self.choices else ""
        found = ParameterDescriptor(
            description=f"{self.description} {choices}".rstrip(),
            additional_constraints=self.constraints or choices or self._of_each(), read_only=not self.live,
        )  # fmt: skip
        if isinstance(self.default, RosParameter.Type):  # an array that is declared without a value
            return found
        if self.lower is not None and isinstance(self.default, float):
            upper = float("inf") if self.upper is None else self.upper
            found.floating_point_range = [FloatingPointRange(from_value=self.lower, to_value=upper)]
        elif self.lower is not None and isinstance(self.default, int):
            largest = 2**62 if self.upper is None else int(self.upper)
            found.integer_range = [IntegerRange(from_value=int(self.lower), to_value=largest)]
        return found

    def _of_each(self) -> str:
        """Bounds of the numbers of an array, for which ROS has no range."""
        if self.lower is None or not isinstance(self.default, list | RosParameter.Type):
            return ""
        return f"Each {self.lower:g} or more." if self.upper is None else f"Each {self.lower:g} to {self.upper:g}."

    def problem(self, value: object) -> str:
        """Why a value of the right type is refused, or ""."""
        if self.choices and value not in self.choices:
            return f"{self.name}: expected one of {', '.join(map(repr, self.choices))}, got {value!r}"
        return ""


class BadParameter(ValueError):
    """A parameter that the node cannot start with; the text says which, and what would do."""


def declare(node: Node, table: Sequence[Parameter]) -> dict[str, Any]:
    """Declare all parameters and return their values; raises BadParameter with every problem.

    A whole number does for a float, at the start and later on.
    """
    if node not in _lenient:
        _lenient.add(node)
        node.add_pre_set_parameters_callback(lambda changes: [_as_declared(node, change) for change in changes])
    values: dict[str, Any] = {}
    problems = []
    for entry in table:
        given = node._parameter_overrides.get(entry.name)
        if given is not None:
            node._parameter_overrides[entry.name] = _as_type(given, _type_of(entry.default))
        try:
            values[entry.name] = node.declare_parameter(entry.name, entry.default, entry.descriptor()).value
        except Exception as error:  # rclpy has a dozen kinds, each of which says what is wrong
            problems.append(f"{entry.name}: {error}")
            continue
        problem = entry.problem(values[entry.name])
        problems += [problem] if problem else []
    if problems:
        raise BadParameter("\n".join(problems))
    return values


def _as_declared(node: Node, change: RosParameter) -> RosParameter:
    """A change with the type that its parameter has."""
    if not node.has_parameter(change.name):
        return change
    return _as_type(change, RosParameter.Type(node.describe_parameter(change.name).type))


def _as_type(given: RosParameter, wanted: RosParameter.Type) -> RosParameter:
    """The same with floats for whole numbers where floats are wanted; anything else is left to rclpy to judge."""
    if given.type_ != _INTEGER_FOR.get(wanted):
        return given
    numbers = given.value
    return RosParameter(given.name, wanted, float(numbers) if isinstance(numbers, int) else list(map(float, numbers)))


def _type_of(default: Any) -> RosParameter.Type:
    if isinstance(default, RosParameter.Type):
        return default
    return RosParameter.Type.from_parameter_value(default)
