# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a suite hands back: tables to read, numbers to keep, goals met or missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class BenchGoal:
    """A number held against its goal; `at_least` tells on which side of the limit it should be."""

    what: str
    measured: float
    limit: float
    at_least: bool
    unit: str = "×"

    @property
    def is_met(self) -> bool:
        """Whether the measured number is on the right side of the limit."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def as_json(self) -> dict[str, object]:
        """For the results file."""
        return {**asdict(self), "met": self.is_met}


@dataclass
class Table:
    """A table as text, so that a suite needs no library to make it."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)


@dataclass
class SuiteResult:
    """Everything a suite found. `measurements` are flat records for the results file."""

    tables: list[Table] = field(default_factory=list)
    measurements: list[dict[str, object]] = field(default_factory=list)
    goals: list[BenchGoal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """For the results file."""
        return {
            "measurements": self.measurements,
            "goals": [goal.as_json() for goal in self.goals],
            "notes": self.notes,
        }


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    peers: bool = False
    quick: bool = False
    bags: bool = False  # launch and replay, where a suite can


class Progress(Protocol):
    """Shows how far a suite is."""

    def begin(self, steps: int) -> None:
        """Say how many steps there will be."""

    def step(self, what: str) -> None:
        """Say what is done next."""


class NoProgress:
    """Shows nothing."""

    def begin(self, steps: int) -> None:
        """Nothing."""

    def step(self, what: str) -> None:
        """Nothing."""


Suite = Callable[[Options, Progress], SuiteResult]
