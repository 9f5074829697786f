# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What can be varied of an experiment: its module declares it, `mbsim experiment NAME --set h=0.01` says it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Number = int | float
Value = Number | tuple[Number, ...]


class SettingError(ValueError):
    """A value that an experiment cannot be computed with: says which, what was expected, and what was given."""


@dataclass(frozen=True)
class ExperimentParameter:
    """One thing to vary, by the name that `--set` takes and that is an argument of the module's `run`.

    default: what the document has, a whole number, a number, or several of either. lower, upper: of each of them.
    is_free: whether printed values hold at other values, too, as they do for the number of random samples.
    """

    name: str
    default: Value
    unit: str
    lower: float
    upper: float
    meaning: str
    is_free: bool = False

    @property
    def key(self) -> str:
        """Its name with its unit, as results have it."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def read(self, text: str) -> Value:
        """The value that a text says; SettingError with what was expected."""
        several = isinstance(self.default, tuple)
        parts = text.split(",") if several else [text]
        values = tuple(self._one(part.strip()) for part in parts)
        return values if several else values[0]

    def _one(self, text: str) -> Number:
        first = self.default[0] if isinstance(self.default, tuple) else self.default
        kind = int if isinstance(first, int) else float
        try:
            value = kind(text)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise SettingError(f"{self.name}: expected {what}, got '{text}'") from None
        if not (math.isfinite(value) and self.lower <= value <= self.upper):
            raise SettingError(
                f"{self.name}: expected {self.lower:g} to {self.upper:g} {self.unit}, got {text}".rstrip()
            )
        return value

    def words(self) -> str:
        """One line: its default, its unit, its range and what it is."""
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        default = ",".join(f"{value:g}" for value in values)
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name}={default}{unit}  ({self.lower:g} to {self.upper:g}{unit})  {self.meaning}"


def read_settings(parameters: Sequence[ExperimentParameter], settings: Sequence[str]) -> dict[str, Value]:
    """Values by name from texts such as "h=0.01"; SettingError with all that is wrong with them, and what there is."""
    known = {each.name: each for each in parameters}
    found: dict[str, Value] = {}
    problems = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            problems.append(f"'{setting}': expected NAME=VALUE, as in h=0.01")
        elif name not in known:
            problems.append(f"no parameter named '{name}'")
        else:
            try:
                found[name] = known[name].read(text)
            except SettingError as error:
                problems.append(str(error))
    if problems:
        raise SettingError("; ".join(problems))
    return found
