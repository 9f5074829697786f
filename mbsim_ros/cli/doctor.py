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

    from mbsim_ros.cli import machine_checks

    checks = machine_checks.all_checks()
    try:
        from mbsim_ros.cli.round_trip_check import check_round_trips

        checks += check_round_trips(options.round_trips)
    except ModuleNotFoundError as error:
        checks.append(machine_checks.Check("two nodes", f"not started: {error.name} is missing", "missing"))
    return machine_checks.report(checks)
