# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""List the robots that can be named in place of a file: `mbsim launch go2`, `mbsim view talos`, `Simulation("panda")`.

Ours come first, most of them from documents (W, K, G, H and N: docs/documents.md); the others are in the package
example-robot-data. Of these, those with a home state have gains, feet and a posture in which they stand or wait; the
others are as their files are.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim robots``."""
    parser.parse_args(arguments)
    from rich.console import Console

    from mbsim_ros.cli.parts.plain_table import print_table
    from mbsim_ros.model.catalogue import INSTALL, PACKAGE, catalogue

    found = list(catalogue())
    heads = ("name", "document", "base", ">dofs", ">mass [kg]", ">feet", "states")
    console = Console(highlight=False, markup=False)
    print_table(console, "robots", heads, [(_cells(robot), "bold" if robot.sidecar else "") for robot in found], (6,))
    if any(robot.file is None for robot in found):
        console.print(f"\n{PACKAGE} is missing: {INSTALL}")
        return 1
    console.print("\nmbsim launch go2 simulates it, mbsim view go2 shows it, mbsim check go2 tells of it")
    return 0


def _cells(robot) -> list[str]:  # type: ignore[no-untyped-def]
    from mbsim_ros.model.loading import load_urdf

    if robot.file is None:
        return [robot.name, robot.document, "", "", "", "", "not installed"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `mbsim check` tells of them
        model = load_urdf(robot.name)
    sidecar = model.sidecar
    feet, states = (len(sidecar.feet), ", ".join(sidecar.initial_states)) if sidecar is not None else (0, "")
    base = "floating" if model.is_floating else "fixed"
    return [robot.name, robot.document, base, str(model.nv), f"{model.mass:.3g}", str(feet or ""), states]
