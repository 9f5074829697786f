# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an experiment found, as a table: our value beside the printed one, and whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mbsim_ros.experiments.comparing import MARKS, MET, NEAR_IT, NOT_MET, verdict
from mbsim_ros.experiments.experiment import Experiment, Outcome
from mbsim_ros.experiments.timing import is_time
from mbsim_ros.experiments.writing import plain

STYLES = {MET: "green", NEAR_IT: "yellow", NOT_MET: "red", "": ""}


def show(console: Console, experiment: Experiment, outcome: Outcome, files: Sequence[Path]) -> None:
    """Print metrics, notes and the files that were written."""
    title = f"{experiment.name}: {experiment.title} ({experiment.source})"
    table = Table(box=None, title=title, title_justify="left", title_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", ratio=1, overflow="fold")  # the words: they go on in the next line where they are too long
    for head in ("computed", "printed", ""):
        table.add_column(head, justify="right" if head else "left", overflow="fold")
    printed = plain(outcome.printed)
    for key, value in plain(outcome.metrics).items():
        found = verdict(value, printed[key]) if key in printed and not is_time(key) else ""
        mark = Text(f"{MARKS[found]} {found}".strip(), STYLES[found], no_wrap=True)
        table.add_row(Text(key), Text(brief(value)), Text(brief(printed.get(key, ""))), mark)
    console.print()
    console.print(table)
    for note in outcome.notes:
        console.print(f"note: {escape(note)}")
    figures = len(files) - 1
    beside = f" and {figures} figure{'s' if figures > 1 else ''}" if figures else ""
    console.print(f"{files[0]}{beside}", soft_wrap=True)


def brief(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, dict | list | tuple) or hasattr(value, "shape"):
        flat = list(value.values()) if isinstance(value, dict) else list(value)
        if len(flat) > 12:
            return f"{len(flat)} values"  # a curve: it is in the file
        return ", ".join(brief(each) for each in flat[:4]) + (" …" if len(flat) > 4 else "")
    return str(value)
