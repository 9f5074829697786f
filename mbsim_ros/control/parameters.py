# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters of controllers: fields of a frozen dataclass that say what they are, in which unit, and in which range.

Nodes declare them as ROS parameters from the same fields. A field is a float, int, bool or str, or a tuple of floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import TypeVar

T = TypeVar("T")


def parameter(
    default: T, description: str, unit: str = "", *, lower: float | None = None, upper: float | None = None,
    choices: tuple[str, ...] = (),
) -> T:  # fmt: skip
    """A field of a dataclass of parameters. lower, upper: of the number or of each number, both included."""
    about = {"description": description, "unit": unit, "lower": lower, "upper": upper, "choices": choices}
    return field(default=default, metadata=about)


class ValidatedParameters:
    """Base of the dataclasses: making one with a value out of its range raises a ValueError that names every such."""

    def __post_init__(self) -> None:
        found = [problem(entry, getattr(self, entry.name)) for entry in fields(self)]  # type: ignore[arg-type]
        if any(found):
            raise ValueError("\n".join(filter(None, found)))


Checked = ValidatedParameters  # as controllers have called it


def problem(entry: Field, value: object) -> str:
    """Why a value is none for this field, or ""."""
    about, name = entry.metadata, entry.name
    if isinstance(entry.default, tuple):
        if not isinstance(value, tuple):
            return f"{name}: expected a tuple of numbers, got {value!r}"
        return next(filter(None, (_number_problem(f"{name}[{i}]", x, about) for i, x in enumerate(value))), "")
    if isinstance(entry.default, bool | str):
        if not isinstance(value, type(entry.default)):
            return f"{name}: expected a {type(entry.default).__name__}, got {value!r}"
        if about["choices"] and value not in about["choices"]:
            return f"{name}: expected one of {', '.join(map(repr, about['choices']))}, got {value!r}"
        return ""
    return _number_problem(name, value, about)


def _number_problem(name: str, value: object, about: Mapping) -> str:
    if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
        return f"{name}: expected a finite number, got {value!r}"
    lower, upper = about["lower"], about["upper"]
    if lower is not None and value < lower:
        return f"{name}: expected {lower:g} or more, got {value:g}"
    if upper is not None and value > upper:
        return f"{name}: expected {upper:g} or less, got {value:g}"
    return ""
