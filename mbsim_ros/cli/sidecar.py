# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Write a sidecar to start from: feet, contact, a posture, gains, each with a word of why.

FILE is a .urdf or .xacro, or a name of `mbsim robots`. The posture comes from an SRDF that lies by it, gains from
masses and effort limits, feet from what reaches the lowest. Without -o it is printed. Arguments of a xacro file follow
as name:=value. A sidecar that is there is never written over.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from mbsim_ros.cli.parts.package_option import add_package_option


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim sidecar``."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=".urdf, .xacro, or a name of `mbsim robots`")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the file to write, NAME.mbsim.yaml")
    parser.add_argument("--base", choices=("auto", "floating", "fixed"), default="auto", help="what its root is (auto)")
    add_package_option(parser)
    options = parser.parse_args(arguments)
    files = [text for text in options.files if ":=" not in text]
    if len(files) != 1:
        parser.error("one FILE is expected")
    if options.out is not None and options.out.exists():
        print(f"mbsim sidecar: {options.out} is there already, and stays as it is: name another file", file=sys.stderr)
        return 2
    from mbsim_ros.model.assembly.assemble import make_model
    from mbsim_ros.model.catalogue import is_name, ready_robot
    from mbsim_ros.model.urdf.parser import parse_urdf
    from mbsim_ros.sim.sidecar_draft import draft_sidecar

    xacro_args = dict(text.split(":=", 1) for text in options.files if ":=" in text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `mbsim check` tells of them
            file = ready_robot(files[0]).file if is_name(files[0]) else files[0]
            robot = parse_urdf(str(file), package_dirs=options.package_dir, xacro_args=xacro_args or None)
        text = draft_sidecar(make_model(robot, options.base))
        if options.out is None:
            print(text, end="")
        else:
            options.out.write_text(text, encoding="utf-8")
            print(f"{options.out}: written; mbsim check {files[0]} --sidecar {options.out} reads it")
    except (ValueError, OSError) as error:
        print(f"mbsim sidecar: {error}", file=sys.stderr)
        return 1
    return 0
