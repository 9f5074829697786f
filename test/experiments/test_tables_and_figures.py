# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The page of all tables and figures: complete, and every one of its words leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mbsim_ros.experiments.experiment import NAMES, find

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tables_and_figures.md"
# How many of each there are in the documents, chapter by chapter; without chapters where numbers go through.
FIGURES = {
    "Wendlandt (W)": {"2.": 12, "3.": 1, "4.": 19, "5.": 6},
    "Nelson and Quinn (N)": {"": 5},
    "Kobilarov (K)": {"": 5},
    "Hemami (H)": {"": 10},
    "Götz (G)": {"2.": 4, "3.": 2, "4.": 1, "5.": 8},
}
TABLES = {"Wendlandt (W)": {"2.": 2}, "Hemami (H)": {"": 1}, "Götz (G)": {"5.": 3}}


def sections() -> dict[str, list[list[str]]]:
    """Rows of the table of each document."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        lines = [line for line in text.splitlines() if line.startswith(("| Table", "| Figure"))]
        found[title] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return found


def test_no_table_and_no_figure_is_missing():
    assert list(sections()) == list(FIGURES)
    for title, rows in sections().items():
        expected = [f"Table {c}{k + 1}" for c, n in TABLES.get(title, {}).items() for k in range(n)]
        expected += [f"Figure {c}{k + 1}" for c, n in FIGURES[title].items() for k in range(n)]
        assert [row[0] for row in rows] == expected, title


@pytest.mark.parametrize("title", FIGURES)
def test_each_is_computed_again_or_there_is_a_reason(title):
    for number, shows, here in sections()[title]:
        assert shows and here.startswith(("✓ ", "no result")), number
        experiments = re.findall(r"\[([a-z]+-[a-z0-9-]+)\]\(([^)]*)\)((?:: `[^|]*)?)", here)
        assert bool(experiments) or not here.startswith("✓"), number
        for name, link, pictures in experiments:
            assert name in NAMES, (number, name)
            module = find(name).run.__module__
            assert (PAGE.parent / link).resolve() == ROOT / (module.replace(".", "/") + ".py"), (number, link)
            source = "".join(
                file.read_text(encoding="utf-8") for file in (PAGE.parent / link).resolve().parent.glob("*.py")
            )
            for picture in re.findall(r"`([^`]+)`", pictures):
                assert f'"{picture}":' in source, (number, name, picture)


def test_every_experiment_is_named_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in NAMES if name not in page] == []
