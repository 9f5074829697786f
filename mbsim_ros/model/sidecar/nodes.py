# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Strict reading of YAML nodes: types, numbers, keys, each with its line.

Values are read from the node tree, not from loaded objects: only nodes know their lines, show a key given twice, and
keep names such as `on` or `1e3` as they were written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import yaml

from mbsim_ros.model.description import Vector3
from mbsim_ros.model.problems import Problem, SidecarError, did_you_mean, shortened

# PyYAML takes 1e-3 for text and 1:30 for ninety; this is what people mean by a number.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BOOLEAN = "tag:yaml.org,2002:bool"
_NULL = "tag:yaml.org,2002:null"
# Aliases can repeat a node a billion times; a settings file is read after a few hundred.
MAX_NODES = 200_000


@dataclass
class _Budget:
    left: int = MAX_NODES


@dataclass(frozen=True)
class NodeReader:
    """Reads the nodes of one entry (`section 'name'` in messages) and collects what is wrong."""

    file: str
    problems: list[Problem]
    section: str = "file"
    name: str = ""
    budget: _Budget = field(default_factory=_Budget)

    def within(self, section: str, name: str = "") -> NodeReader:
        """Return a reader whose problems belong to this entry."""
        return replace(self, section=section, name=name)

    def error(self, node: yaml.Node, rule: str, value: str = "", hint: str = "") -> None:
        """Note a problem at a node."""
        line = node.start_mark.line + 1
        self.problems.append(Problem(self.file, line, self.section, self.name, rule, value, hint))

    def entries(self, node: yaml.Node, known: Iterable[str] | None = None) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Key and value nodes of a mapping by key; `known` are the only keys allowed. Nothing at all is empty."""
        self._spend(node)
        if is_empty(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.error(node, "not a mapping", _shown(node), "write key: value")
            return {}
        allowed = None if known is None else tuple(known)
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            name = self.text(key)
            if name is None:
                continue
            if allowed is not None and name not in allowed:
                hint = did_you_mean(name, allowed, "one of " + ", ".join(allowed), len(self.problems))
                self.error(key, "unknown key", f"'{shortened(name)}'", hint)
            elif name in found:
                first = found[name][0].start_mark.line + 1
                self.error(key, "key given twice", f"'{shortened(name)}'", f"first in line {first}")
            else:
                found[name] = (key, value)
        return found

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        """Nodes of a list."""
        self._spend(node)
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self.error(node, "not a list", _shown(node), "write [a, b, …]")
        return []

    def text(self, node: yaml.Node) -> str | None:
        """A name, as it was written."""
        self._spend(node)
        if isinstance(node, yaml.ScalarNode) and node.value.strip():
            return str(node.value)
        self.error(node, "not a name", _shown(node), "write one word")
        return None

    def number(
        self, node: yaml.Node, what: str, *, least: float = -math.inf, above: float = -math.inf, below: float = math.inf
    ) -> float | None:
        """A finite number ≥ `least`, > `above` and < `below`."""
        self._spend(node)
        plain = isinstance(node, yaml.ScalarNode) and node.style is None and len(node.value) < 400
        value = float(node.value) if plain and _NUMBER.fullmatch(node.value) else math.nan
        if not math.isfinite(value):
            self.error(node, "not a finite number", f"{what}: {_shown(node)}", _number_hint(node))
            return None
        if value < least or value <= above or value >= below:
            bounds = [(f"≥ {least:g}", least), (f"> {above:g}", above), (f"< {below:g}", below)]
            wanted = " and ".join(text for text, bound in bounds if math.isfinite(bound))
            self.error(node, "number out of range", f"{what}: {value:g}", f"it must be {wanted}")
            return None
        return value

    def vector(self, node: yaml.Node, what: str) -> Vector3 | None:
        """Three finite numbers."""
        values = self.numbers(node, what, 3)
        return None if values is None else (values[0], values[1], values[2])

    def numbers(self, node: yaml.Node, what: str, count: int | None = None) -> tuple[float, ...] | None:
        """A list of `count` finite numbers."""
        before = len(self.problems)
        items = self.items(node)
        if len(self.problems) == before and count is not None and len(items) != count:
            self.error(node, "wrong count of numbers", f"{what}: {len(items)}", f"{count} numbers are expected")
        values = [self.number(item, what) for item in items]
        return None if len(self.problems) > before else tuple(value for value in values if value is not None)

    def boolean(self, node: yaml.Node, what: str) -> bool | None:
        """True or false."""
        self._spend(node)
        if isinstance(node, yaml.ScalarNode) and node.tag == _BOOLEAN:
            return str(node.value).lower() in ("true", "yes", "on")
        self.error(node, "not true or false", f"{what}: {_shown(node)}", "write true or false")
        return None

    def _spend(self, node: yaml.Node) -> None:
        self.budget.left -= 1
        if self.budget.left < 0:
            self.error(node, "too many values", f"more than {MAX_NODES}", "aliases may not multiply")
            raise SidecarError(self.problems)


def compose(text: str | bytes, file: str) -> yaml.Node | None:
    """Return the node tree of a YAML document, None if it is empty. Raises SidecarError."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        reason = str(error.problem or error.context)
        raise _refusal(file, line, "not YAML", reason, "check indentation and brackets") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise _refusal(file, 1, "not text", shortened(str(error), 100), "save the file as UTF-8") from None
    except RecursionError:
        raise _refusal(file, 1, "nested too deeply", "", "no settings need this") from None


def is_empty(node: yaml.Node) -> bool:
    """Whether a node says nothing: null or an empty mapping."""
    null = isinstance(node, yaml.ScalarNode) and node.tag == _NULL
    return null or (isinstance(node, yaml.MappingNode) and not node.value)


def _refusal(file: str, line: int, rule: str, value: str, hint: str) -> SidecarError:
    return SidecarError([Problem(file, line, "file", "", rule, value, hint)])


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return f"'{shortened(node.value, 40)}'" if node.value else "nothing"
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"


def _number_hint(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        if node.style is not None:
            return "write it without quotes"
        if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", node.value):
            return "write a decimal point, not a comma"
    return "write one number"
