# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Run the test suite of this source checkout; everything after `test` goes to pytest.

`mbsim test` runs all tests, four at a time, `mbsim test -k launch -x` some of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import mbsim_ros


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim test``."""
    parser.add_argument("pytest_arguments", metavar="…", nargs="*", help="arguments of pytest")
    if any(argument in ("-h", "--help") for argument in arguments):
        parser.print_help()
        return 0
    root = Path(mbsim_ros.__file__).resolve().parent.parent
    if not (root / "test" / "conftest.py").is_file():
        print("mbsim test: the tests are in the source checkout, not in an installed package", file=sys.stderr)
        return 2
    try:
        import pytest
    except ModuleNotFoundError:
        print("mbsim test: pytest is missing; install it with: pip install -e '.[test]'", file=sys.stderr)
        return 2
    os.chdir(root)
    return int(pytest.main(list(arguments)))
