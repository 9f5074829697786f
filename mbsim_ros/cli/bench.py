# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Measure speed: time per call, how it grows with the robot, how long a start takes.

`mbsim bench` runs all suites, `mbsim bench dynamics --peers` one of them, with Pinocchio in the same process and in
turns. Times are CPU time of one thread; medians, with quartiles in the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mbsim_ros.bench.suite_table import SUITES


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim bench``."""
    parser.add_argument("suites", metavar="SUITE", nargs="*", help=f"what to measure: {', '.join(SUITES)} (all)")
    parser.add_argument("--peers", action="store_true", help="measure peers too, where they are installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results, with machine and commit")
    parser.add_argument("--quick", action="store_true", help="few short batches: to see that it runs, not how fast")
    parser.add_argument("--bags", action="store_true", help="robots: launch each, too, and replay its bag: minutes")
    parser.add_argument("--list", action="store_true", help="list the suites and end")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite named {', '.join(unknown)}; there are: {', '.join(SUITES)}")
    if options.json is not None and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.absolute().parent}")
    if options.list:
        width = max(len(name) for name in SUITES)
        print("\n".join(f"{name:<{width}}  {says}" for name, says in SUITES.items()))
        return 0
    return _measure(options)


def _measure(options: argparse.Namespace) -> int:
    from rich.console import Console

    from mbsim_ros.bench import report, suite_table as suites
    from mbsim_ros.bench.result import Options

    console = Console(highlight=False)
    results = {}
    for name in options.suites or SUITES:
        with report.ProgressBar(console, name) as progress:
            results[name] = suites.find(name)(Options(options.peers, options.quick, options.bags), progress)
        report.show(console, results[name])
    if options.json is not None:
        report.write_json(options.json, results)
        console.print(f"written to {options.json}")
    return 0
