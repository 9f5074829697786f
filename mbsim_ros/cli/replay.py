# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Compute a recorded run again from its commands and compare every state, bit for bit.

Where this machine computes with another CPU, numba or LLVM than the recording, equal bits cannot be expected and the
comparison has a tolerance. Exit code 0 if all states are the same, 1 at the first that is not, 2 if the bag cannot be
replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mbsim_ros.cli.parts.package_option import add_package_option


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim replay``."""
    parser.add_argument("bag", metavar="BAG", help="folder of a recording, or an .mcap file")
    parser.add_argument(
        "--tolerance", type=float, metavar="X", help="compare to this, relative to 1 + |value|, instead of bit for bit"
    )
    add_package_option(parser)
    options = parser.parse_args(arguments)
    if options.tolerance is not None and not options.tolerance > 0.0:
        parser.error("--tolerance must be above 0")

    from mbsim_ros.bags.replay import replay

    try:
        reports = replay(options.bag, options.tolerance, options.package_dir)
    except ValueError as error:
        print(f"mbsim replay: {error}", file=sys.stderr)
        return 2
    for report in reports:
        resets = f", {report.resets} resets" if report.resets else ""
        print(f"{report.namespace}: {report.joints} joints, {report.states} states, {report.seconds:g} s{resets}")
        for note in report.notes:
            print(f"  note: {note}")
        if not report.is_same:
            print(f"  DIFFERENT: {report.difference}")
        elif report.tolerance:
            print(f"  same within {report.tolerance:g} (largest difference {report.largest:.2g})")
        else:
            print("  same: every number, bit for bit")
    return 0 if all(report.is_same for report in reports) else 1
