"""The tags of a launch file, one function each. They change the context or add a node to the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mbsim_ros.launcher import node_tag
from mbsim_ros.launcher.context import Context
from mbsim_ros.launcher.errors import LaunchError, SubstitutionError
from mbsim_ros.launcher.functions import expand
from mbsim_ros.launcher.node_spec import NodeSpec
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

    def file(self, path: Path) -> None:
        """Evaluate a launch file in the present context."""
        root = read_launch_file(path)
        root.check_attributes(())
        with self.context.inside(path):
            self.elements(root.children)

    def elements(self, elements: list[Element]) -> None:
        """Evaluate elements in order."""
        for element in elements:
            self.element(element)

    def element(self, element: Element) -> None:
        """Evaluate one element if its condition holds."""
        tag = TAGS.get(element.tag)
        if tag is None:
            raise element.error(f"there is no tag <{element.tag}> (there are: {', '.join(sorted(TAGS))})")
        element.check_attributes((*tag.attributes, "if", "unless"))
        try:
            if self._condition(element):
                tag.evaluate(element, self)
        except SubstitutionError as error:
            raise element.error(f"<{element.tag}>: {error}") from None

    def _condition(self, element: Element) -> bool:
        positive, negative = element.attribute("if"), element.attribute("unless")
        if positive is not None and negative is not None:
            raise element.error(f"<{element.tag}> has if or unless, not both")
        if positive is not None:
            return parse_condition(expand(self.context, positive))
        return negative is None or not parse_condition(expand(self.context, negative))


def read_argument(element: Element) -> Argument:
    """Declaration ``<arg>``; the default is still a template."""
    element.check_children(("choice",))
    choices = []
    for child in element.children:
        child.check_attributes(("value",))
        choices.append(child.required("value"))
    return Argument(
        name=element.required("name"),
        default=element.attribute("default"),
        description=element.attribute("description") or "",
        choices=tuple(choices),
    )


def _arg(element: Element, evaluation: Evaluation) -> None:
    argument = read_argument(element)
    context = evaluation.context
    evaluation.arguments.setdefault(argument.name, argument)
    if argument.name not in context.variables:
        if argument.default is None:
            says = f" ({argument.description})" if argument.description else ""
            raise element.error(f"argument '{argument.name}'{says} must be given: {argument.name}:=value")
        context.variables[argument.name] = expand(context, argument.default)
    value = context.variables[argument.name]
    if argument.choices and value not in argument.choices:
        raise element.error(f"argument '{argument.name}' is one of {', '.join(argument.choices)}, not '{value}'")


def _let(element: Element, evaluation: Evaluation) -> None:
    element.check_children(())
    context = evaluation.context
    context.variables[expand(context, element.required("name"))] = expand(context, element.required("value"))


def _group(element: Element, evaluation: Evaluation) -> None:
    if not parse_bool(element.attribute("scoped") or "true"):
        evaluation.elements(element.children)
        return
    with evaluation.context.scope():
        evaluation.elements(element.children)


def _include(element: Element, evaluation: Evaluation) -> None:
    element.check_children(("arg",))
    context = evaluation.context
    path = Path(expand(context, element.required("file"))).absolute()
    if not path.is_file():
        raise element.error(f"there is no launch file {path}")
    if path.resolve() in [file.resolve() for file in context.files]:
        chain = " → ".join(file.name for file in [*context.files, path])
        raise element.error(f"the include is cyclic: {chain}")
    for child in element.children:
        child.check_attributes(("name", "value"))
        # As in ROS 2, the arguments of an include stay set after it; put it in a <group> to keep them to it.
        context.variables[expand(context, child.required("name"))] = expand(context, child.required("value"))
    evaluation.file(path)


def _node(element: Element, evaluation: Evaluation) -> None:
    evaluation.nodes.append(node_tag.plan_node(element, evaluation.context))


def _push_ros_namespace(element: Element, evaluation: Evaluation) -> None:
    element.check_children(())
    context = evaluation.context
    context.namespace = node_tag.join_namespaces(context.namespace, expand(context, element.required("namespace")))


def _set_env(element: Element, evaluation: Evaluation) -> None:
    element.check_children(())
    context = evaluation.context
    context.environment[expand(context, element.required("name"))] = expand(context, element.required("value"))


def _set_parameter(element: Element, evaluation: Evaluation) -> None:
    element.check_children(())
    context = evaluation.context
    name = expand(context, element.required("name"))
    value = parse_parameter(expand(context, element.required("value")))
    if isinstance(value, list):
        raise element.error("<set_parameter> takes a single value; give a list to each node with <param>")
    context.parameters = (*context.parameters, (name, str(value)))


def _set_use_sim_time(element: Element, evaluation: Evaluation) -> None:
    # In ROS 2 this is about the clock of the launcher's own timers and reaches no node. This launcher has
    # no timers, so checking the value is all there is to do; nodes are told by <set_parameter>.
    element.check_children(())
    parse_bool(expand(evaluation.context, element.required("value")))


@dataclass(frozen=True)
class _Tag:
    evaluate: Callable[[Element, Evaluation], None]
    attributes: tuple[str, ...]


TAGS = {
    "arg": _Tag(_arg, ("name", "default", "description")),
    "let": _Tag(_let, ("name", "value")),
    "group": _Tag(_group, ("scoped",)),
    "include": _Tag(_include, ("file",)),
    "node": _Tag(_node, node_tag.ATTRIBUTES),
    "push_ros_namespace": _Tag(_push_ros_namespace, ("namespace",)),
    "set_env": _Tag(_set_env, ("name", "value")),
    "set_parameter": _Tag(_set_parameter, ("name", "value")),
    "set_use_sim_time": _Tag(_set_use_sim_time, ("value",)),
}

__all__ = ["TAGS", "Argument", "Evaluation", "LaunchError", "read_argument"]
