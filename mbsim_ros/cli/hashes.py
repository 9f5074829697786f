# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hash every bit of a table of runs, to see that a change of the code changed no behaviour.

`mbsim hashes --json before.json` ahead of the change and `mbsim hashes --compare before.json` after it: boxes dropped
with both integrators, the arm, clutches that close in motion, robots launched over ROS, and the numbers of every
experiment. A hash holds on the machine that made it. Exit code 1 if a hash of the file is another one now.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim hashes``."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the hashes there")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with hashes that were written before")
    parser.add_argument("--short", action="store_true", help="half a second of each robot, no ROS, no experiments")
    parser.add_argument("--only", metavar="WORDS", help="only the runs whose names have these words in them")
    options = parser.parse_args(arguments)
    before = {} if options.compare is None else _read(parser, options.compare)

    from rich.console import Console
    from rich.table import Table

    from mbsim_ros.cli.parts.run_hashes import all_runs, runs

    chosen = runs(0.5, with_ros=False, experiments=()) if options.short else all_runs()
    chosen = {name: each for name, each in chosen.items() if (options.only or "") in name}
    console, table, found = Console(highlight=False), Table("run", "hash", "compared"), {}
    for name, each in chosen.items():
        with console.status(name):
            found[name] = each()
        table.add_row(name, found[name][:16], _compared(found[name], before.get(name)))
    console.print(table)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    changed = [name for name in found if name in before and before[name] != found[name]]
    if before:
        console.print(f"{len(changed)} of {sum(name in before for name in found)} changed", *changed, sep="\n  ")
    return 1 if changed else 0


def _read(parser: argparse.ArgumentParser, file: Path) -> dict[str, str]:
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        parser.error(f"--compare: {file} is not a file of `mbsim hashes --json`: {error}")
    if not isinstance(before, dict) or not all(isinstance(value, str) for value in before.values()):
        parser.error(f"--compare: {file} is not a file of `mbsim hashes --json`")
    return before


def _compared(now: str, before: str | None) -> str:
    return "" if before is None else "same" if before == now else "CHANGED"
