# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Kill the controller of a simulated arm at random moments, start it again, and see that the simulation does not mind.

Physics and a computed-torque controller run in lockstep, each in a process of its own. At random moments the controller
is killed (kill -9). Physics has to say who is missing, hold the arm, and go on when the next controller is there; no
stamp may go back, no number may be NaN, no process may hang. Exit code 0 only if all of that held.
With --chaos, recorded runs of the walker in which every kind of process is stopped, killed and started again: each bag
has to replay bit for bit. With --walk, the walker walks while its controllers are killed: it has to walk on, its energy
ledger has to close, and physics may not grow. With --spawn, entities come to a scene and leave it: physics may not
grow, and what the others do has to be the same in every bit as without them.
The nodes talk by UDP, unless FASTDDS_BUILTIN_TRANSPORTS says otherwise: a process that is killed while it writes to
Fast DDS's shared memory can stop all others.

With --fuzz it puts hostile input into everything that reads: URDFs, sidecars, terrains, launch files, calls of the API,
bags, snapshots, messages and service calls. Whatever comes, the answer is a result of finite numbers or a documented
error, in time and in bounded memory. The same seed gives the same cases; --only FAMILY:NUMBER runs a single one again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from mbsim_ros.cli.fuzz import run_fuzz
from mbsim_ros.cli.parts.network import become_environment_of_node
from mbsim_ros.launcher.discovery import TRANSPORTS


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim soak``."""
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="how often it is killed (100)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the moments, or of the cases (0)")
    parser.add_argument("--chaos", type=int, metavar="N", help="this many recorded runs of the walker instead")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="runs of --chaos at a time (2)")
    parser.add_argument("--load", type=int, default=2, metavar="N", help="processes that compute beside --chaos (2)")
    parser.add_argument("--out", default="chaos", metavar="DIR", help="for bags of --chaos that do not replay (chaos)")
    parser.add_argument("--walk", type=float, metavar="SECONDS", help="this long a walk, simulated, instead")
    parser.add_argument("--kill-every", type=float, default=20.0, metavar="S", help="simulated, of --walk (20)")
    parser.add_argument("--spawn", type=int, metavar="N", help="entities come and go this often instead")
    parser.add_argument("--fuzz", action="store_true", help="put hostile input into everything that reads")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="with --fuzz: this part of the cases (1)")
    parser.add_argument("--only", metavar="FAMILY[:NUMBER]", help="with --fuzz: these cases, or this single one")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="with --fuzz (all cores)"
    )
    options = parser.parse_args(arguments)
    if options.fuzz:
        return run_fuzz(parser, options)
    if options.only or options.scale != 1.0:
        parser.error("--only and --scale go with --fuzz")
    for name in ("kills", "chaos", "at_once", "walk", "kill_every", "spawn"):
        value = getattr(options, name)
        if value is not None and not value >= 1:
            parser.error(f"--{name.replace('_', '-')}: expected 1 or more, got {value}")
    os.environ.setdefault(TRANSPORTS, "UDPv4")  # without the shared memory that a killed process may leave locked
    become_environment_of_node(parser)
    module, given = "soak", [options.kills, options.seed]
    if options.chaos is not None:
        folder = os.path.abspath(options.out)
        module, given = "soak_many", [options.chaos, options.seed, folder, options.at_once, options.load]
    elif options.walk is not None:
        module, given = "soak_walk", [options.walk, options.kill_every]
    elif options.spawn is not None:
        module, given = "soak_spawn", [options.spawn]
    command = [sys.executable, "-m", f"mbsim_ros.nodes.checks.{module}", *map(json.dumps, given)]
    return os.execv(sys.executable, command)  # its processes are ended by the one that Ctrl-C reaches
