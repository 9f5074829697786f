# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The fields of a controller's dataclass as ROS parameters: declared, ranged, and changed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from mbsim_ros.nodes.parameters import BadParameter, Parameter, declare


def table_of(kind: type) -> list[Parameter]:
    """The fields of a dataclass (see control/parameters.py) as parameters of a node."""
    table = []
    for entry in fields(kind):
        about = entry.metadata
        description = about["description"] + (f" [{about['unit']}]" if about["unit"] else "")
        default = list(entry.default) if isinstance(entry.default, tuple) else entry.default
        if default == []:  # ROS takes an empty list for bytes
            default = RosParameter.Type.DOUBLE_ARRAY
        table.append(
            Parameter(entry.name, default, description, about["lower"], about["upper"], about["choices"], live=True)
        )
    return table


class ControllerParameters:
    """The present parameters of a controller, and those who are to hear of changes."""

    def __init__(self, node: Node, kind: type):
        """Declare them; raises BadParameter with every problem."""
        self._names = {entry.name: entry for entry in fields(kind)}
        values = declare(node, table_of(kind))
        unset = [name for name, value in values.items() if value is None]  # without a value, `param dump` would fail
        node.set_parameters([RosParameter(name, RosParameter.Type.DOUBLE_ARRAY, []) for name in unset])
        try:
            self.current = kind(**{name: self._value(name, value) for name, value in values.items()})
        except ValueError as error:
            raise BadParameter(str(error)) from None
        self.apply: Callable[[Any], None] = lambda parameters: None
        node.add_on_set_parameters_callback(self._on_change)

    def _on_change(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        """Take over all of the changes, or none with the reason."""
        own = {change.name: self._value(change.name, change.value) for change in changes if change.name in self._names}
        if own:
            try:
                changed = replace(self.current, **own)
                self.apply(changed)
            except ValueError as error:
                return SetParametersResult(successful=False, reason=str(error))
            self.current = changed
        return SetParametersResult(successful=True)

    def _value(self, name: str, value: Any) -> Any:
        """As the dataclass has it: a tuple for an array, also for one that was never set."""
        if isinstance(self._names[name].default, tuple):
            return () if value is None else tuple(value)
        return value
