# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a launch file may consist of: tags, their attributes and their children.

A file is checked against this as a whole before any of it is evaluated, also where a condition is false:
under ros2 launch, too, a mistake in a branch that is not taken is a mistake.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.functions import check_template
from mbsim_ros.launcher.substitutions import parse_template
from mbsim_ros.launcher.xml_source import Element


@dataclass(frozen=True)
class ElementShape:
    """Attributes and children that an element can have."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    literal: tuple[str, ...] = ()  # optional or required attributes that are not templates
    children: dict[str, ElementShape] = field(default_factory=dict)
    has_tags: bool = False  # are the children tags of a launch file themselves?
    has_condition: bool = True  # can it have if and unless?

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that the element can have."""
        condition = ("if", "unless") if self.has_condition else ()
        return (*self.required, *self.optional, *condition)


def _inner(
    required: tuple[str, ...] = (), optional: tuple[str, ...] = (), literal: tuple[str, ...] = ()
) -> ElementShape:
    return ElementShape(required, optional, literal, has_condition=False)


NODE_CHILDREN = {
    "param": _inner((), ("name", "value", "type", "from"), literal=("type",)),
    "remap": _inner(("from", "to")),
    "env": _inner(("name", "value")),
}

TAGS = {
    "arg": ElementShape(
        ("name",), ("default", "description"), literal=("name", "description"),
        children={"choice": _inner(("value",), literal=("value",))},
    ),
    "let": ElementShape(("name", "value")),
    "group": ElementShape((), ("scoped",), literal=("scoped",), has_tags=True),
    "include": ElementShape(("file",), children={"arg": _inner(("name", "value"))}),
    "node": ElementShape(
        ("exec",), ("pkg", "name", "namespace", "args", "ros_args", "output", "on_exit"), literal=("on_exit",),
        children=NODE_CHILDREN,
    ),
    "push_ros_namespace": ElementShape(("namespace",)),
    "set_env": ElementShape(("name", "value")),
    "set_parameter": ElementShape(("name", "value")),
    "set_use_sim_time": ElementShape(("value",)),
}  # fmt: skip
LAUNCH = ElementShape(has_tags=True, has_condition=False)


def check_launch_file(root: Element) -> None:
    """Refuse a launch file whose elements, attributes or substitutions are not of the subset."""
    _check(root, LAUNCH)


def _check(element: Element, shape: ElementShape) -> None:
    _check_attributes(element, shape)
    for child in element.children:
        known = TAGS if shape.has_tags else shape.children
        if child.tag not in known:
            raise child.error(_no_such_child(element, child, sorted(known), shape.has_tags))
        _check(child, known[child.tag])


def _check_attributes(element: Element, shape: ElementShape) -> None:
    for name in element.attribute_names:
        if name not in shape.attributes:
            has = ", ".join(sorted(shape.attributes)) or "none"
            raise element.error(f"<{element.tag}> has no attribute '{name}' (it has: {has})")
    for name in shape.required:
        element.required(name)
    if element.attribute("if") is not None and element.attribute("unless") is not None:
        raise element.error(f"<{element.tag}> has if or unless, not both")
    for name in element.attribute_names:
        if name not in shape.literal:
            try:
                check_template(parse_template(element.required(name)))
            except SubstitutionError as error:
                raise element.error(f"<{element.tag}>: {error}") from None


def _no_such_child(parent: Element, child: Element, known: list[str], are_tags: bool) -> str:
    if are_tags:
        return f"there is no tag <{child.tag}> (there are: {', '.join(known)})"
    has = f"it has: {', '.join(known)}" if known else "it has none"
    return f"<{parent.tag}> has no child <{child.tag}> ({has})"
