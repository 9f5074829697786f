# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of ``mbsim soak``: runs it, shows how far it is, and what came of it."""

from __future__ import annotations

import json
import signal
import sys

from rich import progress as rich_progress
from rich.console import Console

from mbsim_ros.cli.parts.plain_table import print_table
from mbsim_ros.nodes.checks.soak_run import SoakFindings, soak

LAST_WORDS = 15  # lines of physics that are shown when something is wrong


def main() -> int:
    """Arguments: how many kills, and the seed of their moments. The exit code is 0 if all is well."""
    kills, seed = (json.loads(word) for word in sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its processes end with it
    console = Console(highlight=False)
    columns = (
        rich_progress.TextColumn("killing the controller"), rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(), rich_progress.TimeElapsedColumn(), rich_progress.TimeRemainingColumn(),
    )  # fmt: skip
    with rich_progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=kills)
        try:
            found = soak(kills, seed, lambda done: bar.update(task, completed=done))
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    problems = found.problems(kills)
    _show(console, found)
    if problems:
        console.print("\nphysics said last:\n" + "\n".join(found.written.splitlines()[-LAST_WORDS:]), markup=False)
        console.print(f"\n[red]Not well: {'; '.join(problems)}.[/]")
        return 1
    console.print("\n[green]All is well.[/]")
    return 0


def _show(console: Console, found: SoakFindings) -> None:
    rows = (
        ("kills", str(found.kills)),
        ("times physics named the missing one", str(found.named)),
        ("times the controller was at work (again)", str(found.resumed)),
        ("states seen", str(found.states)),
        ("states with a NaN or an infinity", str(found.not_finite)),
        ("stamps that went back", str(found.backward)),
        ("furthest a joint moved while it was held [rad]", f"{found.moved:.3f}"),
        ("simulated time [s]", f"{found.simulated:.1f}"),
        ("stuck processes", str(len(found.stuck))),
    )
    print_table(console, "soak", ("", ">"), [(row, "") for row in rows])


if __name__ == "__main__":
    sys.exit(main())
