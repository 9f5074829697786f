# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's Tables 2.1 and 2.2 from L and g alone: the lower rows of examples/lagrangian_tables.py, whose others take longer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "examples"))

from lagrangian_tables import rows_2_1, rows_2_2, standards

REFERENCE = Path(__file__).parents[1] / "reference"
STEPS = (1e-2, 1e-1)


@pytest.fixture(scope="module")
def compared_with():
    return standards()


def reference(table: str) -> dict:
    return json.loads((REFERENCE / f"wendlandt_table_{table}.json").read_text())


def test_table_2_1_to_all_printed_digits(compared_with):
    found, printed = reference("2_1")["reproduced"], reference("2_1")["printed"]
    for h, *errors in rows_2_1(STEPS, compared_with[0]):
        row = printed["h"].index(h)
        assert [f"{each:.3e}" for each in errors] == [f"{printed[key][row]:.3e}" for key in ("quat", "E", "mom")]
        again = found[f"{h:g}"]
        # its quaternion errors are over all steps, not every 0.1 s
        assert errors[1:] == [pytest.approx(again["E"], rel=1e-6), pytest.approx(again["mom"], rel=1e-6)]


def test_table_2_2_is_the_references(compared_with):
    found, printed = reference("2_2")["reproduced"], reference("2_2")["printed"]
    for h, *errors in rows_2_2(STEPS, compared_with[1]):
        row, again = printed["h"].index(h), found[f"{h:g}"]
        assert errors == [pytest.approx(printed[key][row], rel=5e-3) for key in ("pos_dvp", "energy_dvp", "mom_dvp")]
        assert errors == [pytest.approx(again[key], rel=1e-6) for key in ("pos_dvp_all", "Eerr_all", "Jerr")]
