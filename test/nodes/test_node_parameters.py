# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters of nodes as people write them: a whole number does where a float is meant."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from mbsim_ros.nodes.parameters import BadParameter, Parameter, declare

DOUBLES = RosParameter.Type.DOUBLE_ARRAY
FIRST = (
    Parameter("dt", 0.001, "A float with a range.", 0.0, 10.0, live=True),
    Parameter("gravity", [0.0, 0.0, -9.81], "Floats.", live=True),
    Parameter("order", 2, "A whole number.", 2, 4, live=True),
)
SECOND = (Parameter("gains", DOUBLES, "Floats without a default.", live=True),)


@pytest.fixture
def make_node(ros_domain):
    """Makes a node with these overrides, as `name:=value`."""
    made = []

    def make(*overrides):
        context = rclpy.Context()
        rclpy.init(args=["--ros-args", *(word for each in overrides for word in ("-p", each))], context=context)
        node = Node("parameters", context=context)
        made.append((node, context))
        return node

    yield make
    for node, context in made:
        node.destroy_node()
        context.try_shutdown()


def test_whole_numbers_are_taken_for_floats(make_node):
    """Where the node starts and where a parameter is set later, of a node that declares its parameters in parts."""
    node = make_node("dt:=1", "gravity:=[0, 0, -9]", "order:=4", "gains:=[1, 2]")
    values = {**declare(node, FIRST), **declare(node, SECOND)}
    assert values == {"dt": 1.0, "gravity": [0.0, 0.0, -9.0], "order": 4, "gains": [1.0, 2.0]}
    assert [type(values[name]) for name in ("dt", "order")] == [float, int]
    assert [node.get_parameter(name).type_ for name in ("gravity", "gains")] == [DOUBLES, DOUBLES]

    changes = [RosParameter("dt", value=2), RosParameter("gravity", value=[0, 0, 0]), RosParameter("gains", value=[3])]
    assert [(result.successful, result.reason) for result in node.set_parameters(changes)] == [(True, "")] * 3
    assert node.set_parameters_atomically([RosParameter("order", value=2), changes[0]]).successful
    found = [node.get_parameter(name).value for name in ("dt", "gravity", "order", "gains")]
    assert [each if isinstance(each, int | float) else list(each) for each in found] == [2.0, [0.0] * 3, 2, [3.0]]
    assert type(found[0]) is float


def test_anything_else_is_refused_as_ever(make_node):
    with pytest.raises(BadParameter, match="(?s)dt:.*order:.*gains:") as refused:
        node = make_node("dt:=soon", "order:=2.5", "gains:=[a, b]")
        declare(node, (*FIRST, *SECOND))
    assert len(str(refused.value).splitlines()) >= 3
    node = make_node("dt:=1")
    declare(node, FIRST)
    (result,) = node.set_parameters([RosParameter("dt", value=11)])
    assert not result.successful and "dt" in result.reason
    (result,) = node.set_parameters([RosParameter("order", value=2.0)])
    assert not result.successful and "Wrong parameter type" in result.reason
