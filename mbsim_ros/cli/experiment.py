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
runs all of them. DIR/index.html shows all that have been run into DIR.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mbsim_ros.experiments.experiment import available, find


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim experiment``."""
    parser.add_argument("names", metavar="NAME", nargs="+", help="experiments, or: all, list")
    parser.add_argument(
        "--out", type=Path, default=Path("experiments"), metavar="DIR", help="where to write (%(default)s)"
    )
    options = parser.parse_args(arguments)
    names = available() if options.names == ["all"] else tuple(options.names)
    if names == ("list",):
        width = max(map(len, available()), default=0)
        print("\n".join(f"{name:<{width}}  {find(name).title}" for name in available()))
        return 0
    unknown = [name for name in names if name not in available()]
    if unknown:
        parser.error(f"no experiment named {', '.join(unknown)}; there are: {', '.join(available())}")
    return _run_all(names, options.out)


def _run_all(names: Sequence[str], folder: Path) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    from mbsim_ros.cli.parts.experiment_table import show
    from mbsim_ros.experiments.report import write_report
    from mbsim_ros.experiments.writing import write

    console = Console(highlight=False)
    columns = (TextColumn("{task.fields[name]}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    for name in names:
        experiment = find(name)
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=1.0, name=name)

            def progress(share: float, what: str, bar: Progress = bar, task: TaskID = task) -> None:
                bar.update(task, completed=share, description=what)

            outcome = experiment.run(progress)
            files = write(folder, experiment, outcome)
        show(console, experiment, outcome, files)
    run_by_now = [name for name in available() if (folder / f"{name}.json").is_file()]
    console.print(f"report: {write_report(folder, run_by_now)}", soft_wrap=True)
    return 0
