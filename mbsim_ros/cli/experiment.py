# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Compute an experiment of the documents again: a JSON file and figures, printed values beside ours.

`mbsim experiment list` names them, `mbsim experiment wendlandt-biped-1 --out DIR` runs one, `mbsim experiment all`
runs all of them. DIR/index.html shows all that have been run into DIR. `mbsim experiment list kobilarov-chain` says
what can be varied of one, `mbsim experiment kobilarov-chain --set h=0.05` varies it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from mbsim_ros.experiments.experiment import Outcome, available, find
from mbsim_ros.experiments.parameters import SettingError, Value, read_settings
from mbsim_ros.experiments.writing import write

if TYPE_CHECKING:
    from rich.console import Console

# Those that take longest, which begin first where several run at a time.
LONGEST = ("wendlandt-biped-1", "nelson-clutch", "kobilarov-chain", "wendlandt-table-2-1")


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim experiment``."""
    parser.add_argument("names", metavar="NAME", nargs="+", help="experiments, or: all, list")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", dest="settings",
        help="vary what the document varies; several values with commas",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("experiments"), metavar="DIR", help="where to write (%(default)s)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="how many run at a time (%(default)s)"
    )
    options = parser.parse_args(arguments)
    listed = options.names[0] == "list"
    names = available() if options.names == ["all"] else tuple(options.names[listed:])
    unknown = [name for name in names if name not in available()]
    if unknown:
        parser.error(f"no experiment named {', '.join(unknown)}; there are: {', '.join(available())}")
    if options.jobs < 1:
        parser.error(f"--jobs: expected at least 1, got {options.jobs}")
    if listed:
        print("\n".join(map(_parameters, names)) if names else _titles())
        return 0
    settings = {name: _settings(parser, name, options.settings) for name in names}
    try:
        return _run_all(settings, options.out, min(options.jobs, len(names)))
    except SettingError as error:
        parser.error(str(error))


def _titles() -> str:
    width = max(map(len, available()), default=0)
    return "\n".join(f"{name:<{width}}  {find(name).title}" for name in available())


def _parameters(name: str) -> str:
    """What can be varied of an experiment, a line each."""
    lines = [f"  {each.words()}" for each in find(name).parameters]
    return "\n".join([f"{name}: {'nothing to vary' if not lines else 'to vary with --set'}", *lines])


def _settings(parser: argparse.ArgumentParser, name: str, settings: Sequence[str]) -> Mapping[str, Value]:
    try:
        return read_settings(find(name).parameters, settings)
    except SettingError as error:
        parser.error(f"{name}: {error}\n{_parameters(name)}")


def _run_all(settings: Mapping[str, Mapping[str, Value]], folder: Path, jobs: int) -> int:
    from rich.console import Console

    from mbsim_ros.cli.parts.experiment_table import show
    from mbsim_ros.experiments.report import write_report

    console = Console(highlight=False)
    for name, outcome, files in _at_once(settings, folder, jobs, console) if jobs > 1 else _in_turn(settings, folder):
        show(console, find(name), outcome, files)
    run_by_now = [name for name in available() if (folder / f"{name}.json").is_file()]
    console.print(f"report: {write_report(folder, run_by_now)}", soft_wrap=True)
    return 0


Result = tuple[str, Outcome, list[Path]]


def _in_turn(settings: Mapping[str, Mapping[str, Value]], folder: Path) -> Iterator[Result]:
    """One after the other in this process, with a bar for each."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    console = Console(highlight=False)
    columns = (TextColumn("{task.fields[name]}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    for name, chosen in settings.items():
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=1.0, name=name)

            def progress(share: float, what: str, bar: Progress = bar, task: TaskID = task) -> None:
                bar.update(task, completed=share, description=what)

            outcome = find(name).compute(progress, chosen)
            files = write(folder, find(name), outcome)
        yield name, outcome, files


def _at_once(
    settings: Mapping[str, Mapping[str, Value]], folder: Path, jobs: int, console: Console
) -> Iterator[Result]:
    """Some at a time, each in a process of its own; as they come to their ends."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("experiments"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    first = [name for name in LONGEST if name in settings]
    with (
        Progress(*columns, console=console, transient=True) as bar,
        ProcessPoolExecutor(jobs, get_context("spawn")) as pool,
    ):
        task = bar.add_task("", total=len(settings))
        order = [*first, *(name for name in settings if name not in first)]
        for future in as_completed([pool.submit(_one, name, dict(settings[name]), folder) for name in order]):
            bar.advance(task)
            yield future.result()


def _one(name: str, settings: Mapping[str, Value], folder: Path) -> Result:
    """In its own process: its figures are files, and nobody needs them twice."""
    outcome = find(name).compute(lambda share, what: None, settings)
    files = write(folder, find(name), outcome)
    return name, replace(outcome, figures={}), files
