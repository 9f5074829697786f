# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Check robots: every problem at once with its line, masses and inertias, tags, links and joints.

A .urdf or .xacro is checked with its sidecar <robot>.mbsim.yaml, if there is one beside it or in config/; a sidecar
alone is checked against the robot beside it. Arguments of a xacro file follow as name:=value.
The exit code is 0 if every file can be used, 1 if one cannot (with --strict: if it has warnings), 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from mbsim_ros.cli.parts.package_option import add_package_option


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim check``."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=".urdf, .xacro or .mbsim.yaml")
    parser.add_argument("--strict", action="store_true", help="take warnings as problems")
    parser.add_argument(
        "--base", choices=("auto", "floating", "fixed"), default="auto", help="what the root link is (auto)"
    )
    parser.add_argument("--sidecar", metavar="F", help="the sidecar to use, in place of the one that is found")
    add_package_option(parser)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--brief", action="store_true", help="leave out the tables")
    options = parser.parse_args(arguments)
    files = [text for text in options.files if ":=" not in text]
    xacro_args = dict(text.split(":=", 1) for text in options.files if ":=" in text)
    if not files:
        parser.error("no FILE given")
    if options.sidecar is not None and len(files) > 1:
        parser.error("--sidecar goes with one FILE")
    for stream in (sys.stdout, sys.stderr):  # names of files need not be text, and terminals not UTF-8
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    from mbsim_ros.model.assembly.checking import check_file

    checks = [
        check_file(
            file, base=options.base, package_dirs=options.package_dir, sidecar=options.sidecar, xacro_args=xacro_args
        )
        for file in files
    ]
    try:
        _show(checks, options)
        sys.stdout.flush()
    except BrokenPipeError:  # `mbsim check … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(check.is_fine(options.strict) for check in checks) else 1


def _show(checks: list, options: argparse.Namespace) -> None:
    if options.json:
        from mbsim_ros.cli.parts.check_json import as_json

        fine = all(check.is_fine(options.strict) for check in checks)
        data = {"ok": fine, "files": [as_json(check, options.strict) for check in checks]}
        print(json.dumps(data, indent=2, allow_nan=False))
        return
    from mbsim_ros.cli.parts.check_report import report

    for check in checks:
        report(check, strict=options.strict, brief=options.brief)
