# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Showing a benchmark: progress while it runs, tables when it is done, a file to keep."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from rich import progress as rich_progress
from rich.console import Console
from rich.table import Table as RichTable

from mbsim_ros import __version__
from mbsim_ros.bench import machine
from mbsim_ros.bench.result import BenchGoal, SuiteResult, Table

SCHEMA = 1


class ProgressBar:
    """A bar on the terminal while a suite runs; it goes away when the suite is done."""

    def __init__(self, console: Console, suite: str):
        columns = (
            rich_progress.TextColumn(f"{suite}: {{task.description}}"),
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
        )
        self._bar = rich_progress.Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("…", total=None)
        self._started = False

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def begin(self, steps: int) -> None:
        """Say how many steps there will be."""
        self._bar.update(self._task, total=steps)

    def step(self, what: str) -> None:
        """Say what is done next."""
        self._bar.update(self._task, description=what, advance=1 if self._started else 0)
        self._started = True


def show(console: Console, result: SuiteResult) -> None:
    """Print tables, goals and notes of a suite."""
    for table in result.tables:
        console.print(_rich_table(table))
    if result.goals:
        console.print(_rich_goals(result.goals))
    for note in result.notes:
        console.print(f"[dim]note: {note}[/]")


def as_json(results: dict[str, SuiteResult]) -> dict[str, object]:
    """Everything as plain data, with what it was measured on."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "commit": machine.commit(),
        "date": machine.now(),
        "machine": machine.facts(),
        "suites": {name: result.as_json() for name, result in results.items()},
    }


def write_json(file: Path, results: dict[str, SuiteResult]) -> None:
    """Write the results file."""
    file.write_text(json.dumps(as_json(results), indent=1, ensure_ascii=False) + "\n")


def _rich_table(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left", show_edge=False)
    for number, column in enumerate(table.columns):
        shown.add_column(column, justify="left" if number == 0 else "right")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def _rich_goals(goals: list[BenchGoal]) -> RichTable:
    shown = RichTable("goal", "limit", "measured", "", title="goals", title_justify="left", show_edge=False)
    for goal in goals:
        limit = f"{'≥' if goal.at_least else '≤'} {goal.limit:g} {goal.unit}"
        mark = "[green]✓[/]" if goal.is_met else "[red]✗[/]"
        shown.add_row(goal.what, limit, f"{goal.measured:.3g} {goal.unit}", mark)
    return shown
