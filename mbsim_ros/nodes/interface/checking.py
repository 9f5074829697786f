# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether reports of running nodes and their descriptions agree: no name without a text, no text without a name."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from mbsim_ros.nodes.interface.reports import DIRECTIONS, OFFERS, PUBLISHES, SUBSCRIBES, Endpoint, NodeReport, matches
from mbsim_ros.nodes.interface.texts import COMMON, CONTROLLERS, NODES, NodeText, Text


class InterfaceMismatch(ValueError):
    """Nodes and descriptions disagree; the text says where, all of it."""


def with_common_part(reports: Mapping[str, NodeReport]) -> dict[str, NodeReport]:
    """The same with what all controllers have taken out of each, as a report of its own.

    What any of them has with other parameters is reported by that name already.
    """
    of_controllers = [reports[name] for name in CONTROLLERS]
    endpoints = frozenset.intersection(*(report.endpoints for report in of_controllers)) | reports[COMMON].endpoints
    parameters = [p for p in of_controllers[0].parameters if all(p in report.parameters for report in of_controllers)]
    found = {**reports, COMMON: NodeReport(endpoints, tuple(parameters))}
    for name, report in zip(CONTROLLERS, of_controllers, strict=True):
        own = tuple(entry for entry in report.parameters if entry not in parameters)
        found[name] = NodeReport(report.endpoints - endpoints, own)
    return found


def rows(report: NodeReport, text: NodeText, direction: str) -> list[tuple[Endpoint, Text]]:
    """What a table shows of one direction, in the order of the texts; names with `<…>` stand for all they match."""
    found = []
    for pattern, about in text.of(direction).items():
        meant = _meant(report, direction, pattern)
        if meant:
            found.append((Endpoint(direction, pattern, meant[0].type, meant[0].quality), about))
    return found


def missing(reports: Mapping[str, NodeReport]) -> list[str]:
    """Descriptions of what no node shows."""
    found = [f"{name}: it was not started" for name in NODES if name not in reports]
    for name, report, text in _described(reports):
        for direction in DIRECTIONS:
            for pattern in text.of(direction):
                if not _meant(report, direction, pattern):
                    found.append(f"{name} {direction} no {pattern}, which texts.py describes")
    return found


def check(reports: Mapping[str, NodeReport]) -> None:
    """Raise InterfaceMismatch with everything that is wrong. reports: with the common part taken out."""
    problems = missing(reports) + [
        f"{name}: texts.py does not describe this node" for name in reports if name not in NODES
    ]
    shown = {e.name for _, report, _ in _described(reports) for e in report.endpoints if e.direction == PUBLISHES}
    for name, report, text in _described(reports):
        problems += [f"{name} {problem}" for problem in _endpoint_problems(report, text, shown)]
        problems += [f"{name} {problem}" for problem in _parameter_problems(report, text)]
    if problems:
        raise InterfaceMismatch("\n".join(problems))


def _described(reports: Mapping[str, NodeReport]) -> Iterator[tuple[str, NodeReport, NodeText]]:
    yield from ((name, reports[name], text) for name, text in NODES.items() if name in reports)


def _meant(report: NodeReport, direction: str, pattern: str) -> list[Endpoint]:
    return sorted(e for e in report.endpoints if e.direction == direction and matches(pattern, e.name))


def _endpoint_problems(report: NodeReport, text: NodeText, published: set[str]) -> Iterator[str]:
    for entry in sorted(report.endpoints):
        texts = [pattern for pattern in text.of(entry.direction) if matches(pattern, entry.name)]
        if len(texts) != 1:
            yield f"{entry.direction} {entry.name}: expected one description in texts.py, got {len(texts)}"
    for direction in DIRECTIONS:
        for pattern, about in text.of(direction).items():
            meant = _meant(report, direction, pattern)
            if len({(entry.type, entry.quality) for entry in meant}) > 1:
                yield f"{direction} {pattern}: expected one type and quality of service, got {meant}"
            if about.sample and about.sample not in [entry.name for entry in meant]:
                yield f"{direction} {pattern}: there is no {about.sample}"
            has_command = about.example or direction == PUBLISHES or any(matches(pattern, name) for name in published)
            if direction in (SUBSCRIBES, OFFERS) and not has_command:
                yield f"{direction} {pattern}: nobody publishes it, so its text needs an example"
            if about.example and meant:
                yield from (f"{direction} {pattern}: {problem}" for problem in _misfits(meant[0].type, about.example))


def _parameter_problems(report: NodeReport, text: NodeText) -> Iterator[str]:
    for entry in report.parameters:
        if not entry.description:
            yield f"has the parameter {entry.name} without a description"
        if entry.default is None:
            yield f"has the parameter {entry.name}, whose default processes.py does not tell"
    live = [entry.name for entry in report.parameters if entry.live]
    if text.live is not None and text.live[0] not in live:
        yield f"has no live parameter {text.live[0]}, which texts.py sets"


def _misfits(type_name: str, example: str) -> Iterator[str]:
    """Why a message or request of this type cannot be filled with an example."""
    package, kind, name = type_name.split("/")
    found = getattr(importlib.import_module(f"{package}.{kind}"), name)
    message = found.Request() if kind == "srv" else found()
    try:
        _fill(message, yaml.safe_load(example))
    except (AttributeError, AssertionError, TypeError, ValueError) as error:
        yield f"{example} is no {type_name}: {error}"


def _fill(message: Any, values: Mapping[str, object]) -> None:
    """Set the fields of a message; a name or type that it does not have raises."""
    if hasattr(message, "_check_fields"):  # since Kilted messages look at types only where they are told to
        message._check_fields = True
    for name, value in values.items():
        if isinstance(value, dict):
            _fill(getattr(message, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            setattr(message, name, [_filled(message, name, each) for each in value])
        else:
            setattr(message, name, value)


def _filled(message: Any, name: str, values: Mapping[str, object]) -> object:
    """One of the messages that a field is a sequence of."""
    kinds = re.fullmatch(r"sequence<(\w+)/(\w+)>", message.get_fields_and_field_types()[name])
    if kinds is None:
        raise TypeError(f"{name}: expected no list of messages")
    package, kind = kinds.groups()
    made = getattr(importlib.import_module(f"{package}.msg"), kind)()
    _fill(made, values)
    return made
