# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Check this machine: versions, tools, message packages, and two real nodes that exchange messages.

The two nodes run in two processes, started by doctor.launch.xml. Exit code 0 only if all is well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mbsim_ros import __version__


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim doctor``."""
    parser.add_argument("--round-trips", type=int, default=1000, metavar="N", help="messages to exchange (1000)")
    options = parser.parse_args(arguments)
    if options.round_trips < 1:
        parser.error("--round-trips must be at least 1")
    print(f"mbsim_ros {__version__}: checking this machine …", flush=True)

    from mbsim_ros.cli.parts import machine_checks

    checks = machine_checks.all_checks()
    try:
        from mbsim_ros.cli.parts.round_trip_check import check_round_trips

        checks += check_round_trips(options.round_trips)
    except ModuleNotFoundError as error:
        checks.append(machine_checks.Check("two nodes", f"not started: {error.name} is missing", "missing"))
    return machine_checks.report(checks)
