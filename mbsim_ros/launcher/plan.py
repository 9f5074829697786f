# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a launch file and its arguments to the processes it asks for."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mbsim_ros.launcher import packages
from mbsim_ros.launcher.context import Context
from mbsim_ros.launcher.discovery import discovery
from mbsim_ros.launcher.errors import LaunchError, SubstitutionError
from mbsim_ros.launcher.functions import expand
from mbsim_ros.launcher.node_spec import NodeSpec
from mbsim_ros.launcher.schema import check_launch_file
from mbsim_ros.launcher.tags import Argument, Evaluation, absolute, read_argument
from mbsim_ros.launcher.xml_source import Element, read_launch_file


@dataclass(frozen=True)
class LaunchPlan:
    """Everything a launch file asks for, evaluated: nothing can be wrong with the file any more."""

    file: Path
    nodes: tuple[NodeSpec, ...]
    warnings: tuple[str, ...] = ()


def plan_launch(file: Path, arguments: Mapping[str, str], environment: Mapping[str, str] | None = None) -> LaunchPlan:
    """Evaluate a launch file with the arguments given to it.

    Raises LaunchError, with file and line, for anything that ros2 launch would not do the same way.
    """
    context = Context(variables=dict(arguments), environment=dict(os.environ if environment is None else environment))
    evaluation = Evaluation(context)
    evaluation.file(absolute(file))
    _refuse_unknown_arguments(file, arguments, evaluation)
    nodes, warnings = _kept_to_this_host(_with_unique_labels(evaluation.nodes))
    return LaunchPlan(file, nodes, (*context.warnings, *warnings))


def list_arguments(file: Path) -> list[Argument]:
    """Arguments declared by a launch file and by what it includes, as far as that is known without running it."""
    found: dict[str, Argument] = {}
    context = Context(environment=dict(os.environ))
    _collect_arguments(absolute(file), context, found)
    return list(found.values())


def find_launch_file(name: str, package: str = "mbsim_ros") -> Path:
    """A launch file by path, or by name in the package's launch folder (``walker`` is walker.launch.xml)."""
    if "/" in name or name.endswith(".xml"):
        path = Path(name)
        if path.is_file():
            return path
        if "/" in name:
            raise LaunchError(f"there is no launch file {name}")
    try:
        folder = packages.share_directory(package) / "launch"
    except SubstitutionError as error:
        raise LaunchError(str(error)) from None
    for candidate in (name, f"{name}.launch.xml"):
        if (folder / candidate).is_file():
            return folder / candidate
    names = launch_names(folder)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise LaunchError(f"there is no launch file '{name}'{hint} (there are: {', '.join(names)})")


def launch_names(folder: Path) -> list[str]:
    """Names under which the launch files of a folder can be started."""
    return sorted(path.name.removesuffix(".launch.xml") for path in folder.glob("*.launch.xml"))


def _kept_to_this_host(nodes: tuple[NodeSpec, ...]) -> tuple[tuple[NodeSpec, ...], list[str]]:
    """The nodes, reachable from this host alone unless the user or the file asks for more; and what to say of that."""
    try:
        found = [discovery(node.environment) for node in nodes]
    except SubstitutionError as error:
        raise LaunchError(str(error)) from None
    kept = tuple(replace(node, environment=each.environment) for node, each in zip(nodes, found, strict=True))
    return kept, list(dict.fromkeys(each.warning for each in found if each.warning))


def _refuse_unknown_arguments(file: Path, arguments: Mapping[str, str], evaluation: Evaluation) -> None:
    known = set(evaluation.arguments) | evaluation.context.variables_read
    for name in arguments:
        if name not in known:
            declared = sorted(evaluation.arguments)
            close = difflib.get_close_matches(name, declared, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise LaunchError(f"has no argument '{name}'{hint} (it has: {', '.join(declared) or 'none'})", file)


def _with_unique_labels(nodes: list[NodeSpec]) -> tuple[NodeSpec, ...]:
    """Number the labels that occur more than once, so that every output line says whose it is."""
    total = Counter(node.label for node in nodes)
    seen: Counter[str] = Counter()
    labelled = []
    for node in nodes:
        seen[node.label] += 1
        numbered = f"{node.label}-{seen[node.label]}" if total[node.label] > 1 else node.label
        labelled.append(replace(node, label=numbered))
    return tuple(labelled)


def _collect_arguments(file: Path, context: Context, found: dict[str, Argument]) -> None:
    if file in context.files:
        return
    root = read_launch_file(file)
    check_launch_file(root)
    with context.inside(file):
        _collect_from(root.children, context, found)


def _collect_from(elements: list[Element], context: Context, found: dict[str, Argument]) -> None:
    for element in elements:
        if element.tag == "arg":
            argument = read_argument(element)
            found.setdefault(argument.name, argument)
            if argument.default is not None:
                context.variables.setdefault(argument.name, _expand_or_keep(context, argument.default))
        elif element.tag == "group":
            _collect_from(element.children, context, found)
        elif element.tag == "include":
            path = Path(_expand_or_keep(context, element.required("file")))
            if path.is_file():
                _collect_arguments(absolute(path), context, found)
        elif element.tag == "let":
            name = _expand_or_keep(context, element.required("name"))
            context.variables[name] = _expand_or_keep(context, element.required("value"))


def _expand_or_keep(context: Context, text: str) -> str:
    if "$(command" in text:
        return text  # to show arguments is no reason to run anything
    try:
        return expand(context, text)
    except SubstitutionError:
        return text
