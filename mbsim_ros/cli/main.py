# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""``mbsim VERB …``: finds the verb's module and runs it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from mbsim_ros import __version__
from mbsim_ros.launcher.packages import add_own_prefix
from mbsim_ros.model.problems import show_warnings_plainly

# Verb → what it does, in the order of the help. Its module is mbsim_ros.cli.<verb>, imported when it is used,
# so that no verb pays for the imports of another.
VERBS = {
    "launch": "run a launch file: the nodes of a simulation, each in its own process",
    "drive": "drive a robot that runs from the keyboard",
    "test": "run the test suite of a source checkout",
    "check": "check a URDF, xacro or sidecar file and show what is in it",
    "robots": "list the robots that can be named in place of a file",
    "sidecar": "write a sidecar to start from: feet, a posture, gains",
    "view": "look at a robot, a recording or a running simulation in a browser",
    "record": "record a running simulation into a bag, at simulated times",
    "replay": "compute a recorded run again and compare every state",
    "plot": "draw a recording or the result of an experiment, as PNG or HTML",
    "experiment": "compute an experiment of the documents again, with figures",
    "soak": "kill and stop processes, or put in hostile input, and see that simulations do not mind",
    "bench": "measure speed, beside peers in the same run",
    "hashes": "hash every bit of a table of runs, to see that a change changed no behaviour",
    "docs": "build the documentation as a site of HTML pages",
    "interface": "write the reference of topics, services and parameters from the running nodes",
    "doctor": "check this machine and exchange messages between two real nodes",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in VERBS:
        _overview().parse_args(given)  # ends here for --help, --version and unknown verbs
        _overview().print_help()
        return 2
    show_warnings_plainly()
    add_own_prefix()
    try:
        verb = importlib.import_module(f"mbsim_ros.cli.{given[0]}")
        parser = argparse.ArgumentParser(
            prog=f"mbsim {given[0]}", description=verb.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        return int(verb.run(parser, given[1:]))
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("mbsim_ros"):
            raise
        print(f"mbsim: the Python package '{error.name}' is missing; `mbsim doctor` says what to do", file=sys.stderr)
        return 1


def _overview() -> argparse.ArgumentParser:
    width = max(len(verb) for verb in VERBS)
    verbs = "\n".join(f"  {verb:<{width}}  {says}" for verb, says in VERBS.items())
    parser = argparse.ArgumentParser(
        prog="mbsim",
        description="Simulate URDF robots with structure-preserving integrators in a ROS 2 graph.",
        epilog=f"verbs:\n{verbs}\n\n`mbsim VERB --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mbsim_ros {__version__}")
    parser.add_argument("verb", metavar="VERB", nargs="?", choices=list(VERBS), help="one of the verbs below")
    return parser
