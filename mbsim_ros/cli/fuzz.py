# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""``mbsim soak --fuzz``: runs the cases, shows how far it is, and what came of them."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich import progress as rich_progress
from rich.console import Console

from mbsim_ros.cli.parts.network import become_environment_of_node
from mbsim_ros.cli.parts.plain_table import print_table
from mbsim_ros.fuzz.families import FAMILIES, Family, case, family, makers, numbers_of
from mbsim_ros.fuzz.runner import GROWTH, Findings, fuzz
from mbsim_ros.fuzz.verdict import FAILED, judged
from mbsim_ros.launcher.discovery import TRANSPORTS

SHOWN = 10  # failures of a family
MIB = 1 << 20
HEADER = ("family", ">cases", ">per s", ">accepted", ">failed", ">memory [MiB]")


def run_fuzz(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run what was asked for; the exit code is 0 if nothing failed."""
    if not 0.0 < options.scale <= 1000.0 or options.processes < 1:
        parser.error("--scale and --processes: expected numbers above 0")
    name, _, number = (options.only or "").partition(":")
    try:
        chosen = (family(name),) if name else FAMILIES
        single = int(number) if number else None
    except ValueError as error:
        parser.error(f"--only: {error}")
    console = Console(highlight=False)
    if single is not None and family(name).home:
        return _run_one(console, name, options.seed, single)
    os.environ.setdefault(TRANSPORTS, "UDPv4")  # a walker is killed where it hangs, and must leave nothing locked
    become_environment_of_node(parser)
    found = [_run_family(console, each, options, single) for each in chosen]
    _show(console, found, options.seed)
    return 0 if all(each.is_well for each in found) else 1


def _run_one(console: Console, name: str, seed: int, number: int) -> int:
    """A single case, with all that there is to see."""
    with tempfile.TemporaryDirectory(prefix="mbsim_fuzz_") as folder:
        made = case(makers(name, Path(folder)), name, seed, number)
        console.print(made.given, markup=False, soft_wrap=True)
        verdict = judged(made.run)
    console.print(f"\n{verdict.kind}: {verdict.text}".rstrip(": "), markup=False, soft_wrap=True)
    return 1 if verdict.kind == FAILED else 0


def _run_family(console: Console, each: Family, options: argparse.Namespace, single: int | None) -> Findings:
    numbers = numbers_of(each, options.scale) if single is None else range(single, single + 1)
    processes = options.processes if each.home else 1
    columns = (
        rich_progress.TextColumn(each.about), rich_progress.BarColumn(), rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(), rich_progress.TimeRemainingColumn(),
    )  # fmt: skip
    with rich_progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=len(numbers))
        progress = lambda done: bar.update(task, completed=done)  # noqa: E731
        return fuzz(each.name, options.seed, numbers, processes, progress)


def _show(console: Console, found: Sequence[Findings], seed: int) -> None:
    rows = []
    for each in found:
        first = max((memory for memory, _ in each.memory), default=0) // MIB
        last = max((memory for _, memory in each.memory), default=0) // MIB
        cells = (
            each.name, f"{each.cases:,}", f"{each.cases / max(each.seconds, 1e-9):.0f}", f"{each.accepted:,}",
            str(len(each.failures)), f"{first} → {last}",
        )  # fmt: skip
        rows.append((cells, "" if each.is_well else "red"))
    print_table(console, f"fuzz, seed {seed}", HEADER, rows)
    for each in found:
        for number, text in each.failures[:SHOWN]:
            again = f"mbsim soak --fuzz --seed {seed} --only {each.name}:{number}"
            console.print(f"\n{text.strip().splitlines()[-1]}\n  {again}", markup=False, soft_wrap=True)
        if each.growth > GROWTH:
            console.print(f"\n{each.name}: a process grew by {each.growth // MIB} MiB", markup=False)
    if all(each.is_well for each in found):
        console.print("\n[green]All is well.[/]")
