# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The changes that the mutation check makes: still possible, in every folder, with tests that there are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts"))

from mutation_check import Change, read_changes  # noqa: E402


def test_there_are_enough_of_them_everywhere():
    changes = read_changes()  # raises where what is to be changed is not there exactly once
    assert len(changes) >= 30 and len({(change.file, change.find) for change in changes}) == len(changes)
    folders = {change.file.partition("/")[0] for change in changes}
    assert folders == {"lie", "dynamics", "integrators", "contact", "coupling", "control"}


def test_their_tests_exist():
    for change in read_changes():
        for test in change.tests:
            file, _, name = test.partition("::")
            assert re.search(
                rf"^\s*def {name.partition('[')[0]}\b", (ROOT / "test" / file).read_text(), re.MULTILINE
            ), test


def test_what_cannot_be_made_is_said():
    change = Change("a.py", "x + y", "x - y", ())
    assert change.applied("z = x + y") == "z = x - y"
    with pytest.raises(ValueError, match="expected 'x \\+ y' once, found it 2 times"):
        change.applied("x + y, x + y")
    with pytest.raises(ValueError, match="replaced by itself"):
        Change("a.py", "x", "x", ()).applied("x")
