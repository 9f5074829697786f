# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an experiment found, as a table: our value beside the printed one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from mbsim_ros.cli.plain_table import print_table
from mbsim_ros.experiments.experiment import Experiment, Outcome


def show(console: Console, experiment: Experiment, outcome: Outcome, files: Sequence[Path]) -> None:
    """Print metrics, notes and the files that were written."""
    rows = [([key, brief(value), brief(outcome.printed.get(key, ""))], "") for key, value in outcome.metrics.items()]
    title = f"{experiment.name}: {experiment.title} ({experiment.source})"
    print_table(console, title, ("", ">computed", ">printed"), rows, names=(0,))
    for note in outcome.notes:
        console.print(f"note: {escape(note)}")
    console.print(f"{files[0]}" + (f" and {len(files) - 1} figures" if len(files) > 1 else ""))


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
