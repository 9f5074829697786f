# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The tags of a launch file, one function each. They change the context or add a node to the plan."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mbsim_ros.launcher import node_tag
from mbsim_ros.launcher.context import Context
from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.functions import expand
from mbsim_ros.launcher.node_spec import NodeSpec
from mbsim_ros.launcher.schema import check_launch_file
from mbsim_ros.launcher.substitutions import unescaped
from mbsim_ros.launcher.values import parse_bool, parse_condition, parse_parameter
from mbsim_ros.launcher.xml_source import Element, read_launch_file


@dataclass(frozen=True)
class Argument:
    """An argument that a launch file declares."""

    name: str
    default: str | None
    description: str
    choices: tuple[str, ...]


@dataclass
class Evaluation:
    """A launch file on its way to a plan."""

    context: Context
    nodes: list[NodeSpec] = field(default_factory=list)
    arguments: dict[str, Argument] = field(default_factory=dict)
    passed_on: set[str] | None = None  # arguments given by the include that is being evaluated

    def file(self, path: Path) -> None:
        """Evaluate a launch file in the present context."""
        root = read_launch_file(path)
        check_launch_file(root)
        with self.context.inside(path):
            self.elements(root.children)

    def include(self, path: Path, given: set[str]) -> None:
        """Evaluate an included launch file that was given these arguments."""
        outer, self.passed_on = self.passed_on, given
        self.file(path)
        self.passed_on = outer

    def elements(self, elements: list[Element]) -> None:
        """Evaluate elements in order."""
        for element in elements:
            self.element(element)

    def element(self, element: Element) -> None:
        """Evaluate one element if its condition holds."""
        try:
            if self._condition(element):
                TAG_FUNCTIONS[element.tag](element, self)
        except SubstitutionError as error:
            raise element.error(f"<{element.tag}>: {error}") from None

    def _condition(self, element: Element) -> bool:
        positive, negative = element.attribute("if"), element.attribute("unless")
        if positive is not None:
            return parse_condition(expand(self.context, positive))
        return negative is None or not parse_condition(expand(self.context, negative))


def absolute(path: Path) -> Path:
    """The path from the root, without `..`: what $(dirname) shows under ros2 launch, too."""
    return Path(os.path.abspath(path))


def read_argument(element: Element) -> Argument:
    """Declaration ``<arg>``; the default is still a template."""
    return Argument(
        name=unescaped(element.required("name")),
        default=element.attribute("default"),
        description=element.attribute("description") or "",
        choices=tuple(unescaped(child.required("value")) for child in element.children),
    )


def _arg(element: Element, evaluation: Evaluation) -> None:
    argument = read_argument(element)
    context = evaluation.context
    evaluation.arguments.setdefault(argument.name, argument)
    must_be_passed_on = evaluation.passed_on is not None and argument.name not in evaluation.passed_on
    if argument.default is None and must_be_passed_on:
        raise element.error(f"argument '{argument.name}' must be given by the <include>, as a child <arg>")
    if argument.name not in context.variables:
        if argument.default is None:
            says = f" ({argument.description})" if argument.description else ""
            raise element.error(f"argument '{argument.name}'{says} must be given: {argument.name}:=value")
        context.variables[argument.name] = expand(context, argument.default)
    value = context.variables[argument.name]
    if argument.choices and value not in argument.choices:
        raise element.error(f"argument '{argument.name}' is one of {', '.join(argument.choices)}, not '{value}'")


def _let(element: Element, evaluation: Evaluation) -> None:
    context = evaluation.context
    context.variables[expand(context, element.required("name"))] = expand(context, element.required("value"))


def _group(element: Element, evaluation: Evaluation) -> None:
    if not parse_bool(element.attribute("scoped") or "true"):
        evaluation.elements(element.children)
        return
    with evaluation.context.scope():
        evaluation.elements(element.children)


def _include(element: Element, evaluation: Evaluation) -> None:
    context = evaluation.context
    path = absolute(Path(expand(context, element.required("file"))))
    if not path.is_file():
        raise element.error(f"there is no launch file {path}")
    if path.resolve() in [file.resolve() for file in context.files]:
        chain = " → ".join(file.name for file in [*context.files, path])
        raise element.error(f"the include is cyclic: {chain}")
    given = set()
    with context.inside(path):  # $(dirname) in the arguments is already the included file's, as under ros2 launch
        for child in element.children:
            # Arguments of an include stay set after it; put it in a <group> to keep them to it.
            name = expand(context, child.required("name"))
            context.variables[name] = expand(context, child.required("value"))
            given.add(name)
    evaluation.include(path, given)


def _node(element: Element, evaluation: Evaluation) -> None:
    evaluation.nodes.append(node_tag.plan_node(element, evaluation.context))


def _push_ros_namespace(element: Element, evaluation: Evaluation) -> None:
    context = evaluation.context
    context.namespace = node_tag.join_namespaces(context.namespace, expand(context, element.required("namespace")))


def _set_env(element: Element, evaluation: Evaluation) -> None:
    context = evaluation.context
    context.environment[expand(context, element.required("name"))] = expand(context, element.required("value"))


def _set_parameter(element: Element, evaluation: Evaluation) -> None:
    context = evaluation.context
    name = expand(context, element.required("name"))
    value = parse_parameter(expand(context, element.required("value")))
    if isinstance(value, list) or value == "":
        raise element.error("<set_parameter> takes a single value that is not empty; use <param> in each node")
    if context.has_outer_parameters:
        # ros2 launch keeps one list for all scopes once it exists, and the group's parameter would leak out of it.
        raise element.error("<set_parameter> in a group cannot follow one outside of it; use <param> in each node")
    context.parameters = (*context.parameters, (name, str(value)))


def _set_use_sim_time(element: Element, evaluation: Evaluation) -> None:
    # In ROS 2 this is about the clock of the launcher's own timers and reaches no node. This launcher has no
    # timers, so checking the value is all there is to do; nodes are told by <set_parameter name="use_sim_time" …/>.
    parse_bool(expand(evaluation.context, element.required("value")))


TAG_FUNCTIONS: dict[str, Callable[[Element, Evaluation], None]] = {
    "arg": _arg,
    "let": _let,
    "group": _group,
    "include": _include,
    "node": _node,
    "push_ros_namespace": _push_ros_namespace,
    "set_env": _set_env,
    "set_parameter": _set_parameter,
    "set_use_sim_time": _set_use_sim_time,
}
