# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Draw a recording (joint angles, torques, footfalls, energy ledger) or the result of an experiment (JSON).

The file to write ends with .png, or with .html for a page that can be zoomed. What a recording does not hold, such as
the modes of contacts, is computed again from its commands.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mbsim_ros.cli.parts.package_option import add_package_option

WHAT = ("angles", "torques", "footfalls", "ledger")


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim plot``."""
    parser.add_argument(
        "file", metavar="BAG|JSON", type=Path, help="folder of a recording, .mcap, or an experiment's .json"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="what to write: .png or .html (NAME.png)")
    parser.add_argument("--what", nargs="+", choices=WHAT, default=list(WHAT), help="of a recording (all)")
    parser.add_argument("--joints", nargs="+", default=[], metavar="NAME", help="of a recording (all)")
    parser.add_argument("--namespace", default="", metavar="NAME", help="of the robot, where a recording has several")
    add_package_option(parser)
    options = parser.parse_args(arguments)
    out = options.out or Path(f"{options.file.resolve().stem}.png")
    if out.suffix not in (".png", ".html"):
        parser.error(f"--out: expected a file that ends with .png or .html, got '{out}'")

    from mbsim_ros.plotting.page import write_page
    from mbsim_ros.plotting.png import write_png

    try:
        if options.file.suffix == ".json":
            from mbsim_ros.plotting.result_panels import result_panels

            panels, title, notes = result_panels(options.file), options.file.stem, []
        else:
            from mbsim_ros.bags.history import read_history
            from mbsim_ros.plotting.run_panels import run_panels

            history = read_history(options.file, options.namespace, package_dirs=options.package_dir)
            title = f"{history.model.name}: {options.file.resolve().name}"
            panels, notes = run_panels(history, options.what, options.joints), history.notes
    except (ValueError, OSError) as error:
        print(f"mbsim plot: {error}", file=sys.stderr)
        return 2
    if out.suffix == ".html":
        write_page(out, panels, title, notes)
    else:
        write_png(out, panels, title)
    for note in notes:
        print(f"note: {note}")
    print(f"{out}: {', '.join(panel.title for panel in panels)}")
    return 0
