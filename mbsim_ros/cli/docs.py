# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Build the documentation of this source checkout as a site of HTML pages that needs no network to be read.

A link that leads nowhere and every other warning is an error.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import mbsim_ros

NEEDED = ("sphinx", "myst_parser", "furo")


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim docs``."""
    root = Path(mbsim_ros.__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the site (build/docs of the checkout)")
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    options = parser.parse_args(arguments)
    source, out = root / "docs", (options.out or root / "build" / "docs").absolute()
    if not (source / "conf.py").is_file():
        print("mbsim docs: the pages are in the source checkout, not in an installed package", file=sys.stderr)
        return 2
    if out.exists() and not out.is_dir():
        parser.error(f"--out: expected a folder, got the file {out}")
    try:
        for name in NEEDED:
            importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(
            f"mbsim docs: the Python package '{error.name}' is missing; install what the site is made with: "
            "pip install -e '.[docs]'",
            file=sys.stderr,
        )
        return 2
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory(prefix="mbsim_docs_") as parsed:
        # Read anew every time: pages that have not changed would not be warned about again.
        words = ["-b", "html", "-q", "-n", "-W", "--keep-going", "-E", "-d", parsed, str(source), str(out)]
        if build_main(words) != 0:
            print("mbsim docs: the site has mistakes, see above", file=sys.stderr)
            return 1
    page = out / "index.html"
    print(f"the site is in {out}: open {page}")
    if options.open:
        from mbsim_ros.viewer.page.web_server import open_browser

        if not open_browser(page.as_uri()):
            print("mbsim docs: there is no screen here to open a browser on", file=sys.stderr)
    return 0
