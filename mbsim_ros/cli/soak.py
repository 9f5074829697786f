"""Kill the controller of a simulated arm at random moments, start it again, and see that the simulation does not mind.

Physics and a computed-torque controller run in lockstep, each in a process of its own. At random moments the controller
is killed (kill -9). Physics has to say who is missing, hold the arm, and go on when the next controller is there; no
stamp may go back, no number may be NaN, no process may hang. Exit code 0 only if all of that held.
The nodes talk by UDP, unless FASTDDS_BUILTIN_TRANSPORTS says otherwise: a process that is killed while it writes to
Fast DDS's shared memory can stop all others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mbsim_ros.cli.network import become_environment_of_node
from mbsim_ros.launcher.discovery import TRANSPORTS


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim soak``."""
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="how often it is killed (100)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the moments (0)")
    options = parser.parse_args(arguments)
    if options.kills < 1:
        parser.error(f"--kills: expected 1 or more, got {options.kills}")
    os.environ.setdefault(TRANSPORTS, "UDPv4")  # without the shared memory that a killed process may leave locked
    become_environment_of_node(parser)
    command = [sys.executable, "-m", "mbsim_ros.nodes.soak", str(options.kills), str(options.seed)]
    return os.execv(sys.executable, command)  # its processes are ended by the one that Ctrl-C reaches
