# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""POSIX extended regular expressions: as Python's where both have the same syntax, and never for long."""

from __future__ import annotations

import random
import re

import pytest

from mbsim_ros.nodes.physics.extended_expression import LONGEST, matches


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        ("", "walker", True),
        ("walk", "walker", True),
        ("^walk$", "walker", False),
        ("arm|leg", "left_leg", True),
        ("^[[:alpha:]]+[0-9]{2}$", "arm12", True),
        ("^[[:alpha:]]+[0-9]{2}$", "arm123", False),
        ("[]a]", "]", True),
        ("[^]a]", "]", False),
        ("[a-c-]$", "x-", True),
        (r"a\.b", "axb", False),
        ("()", "x", True),
        ("x|^$", "", True),
    ],
)
def test_what_matches(expression, text, expected):
    assert matches(expression, text) == expected


def test_random_expressions_match_what_pythons_match():
    rng = random.Random(1)

    def expression(depth):
        kind = rng.random()
        if depth == 0 or kind < 0.4:
            return rng.choice(["a", "b", ".", "[ab]", "[^a]"])
        if kind < 0.6:
            return expression(depth - 1) + expression(depth - 1)
        if kind < 0.75:
            return f"({expression(depth - 1)}|{expression(depth - 1)})"
        return f"({expression(depth - 1)})" + rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}"])

    for _ in range(3000):
        given = rng.choice(["", "^"]) + expression(4) + rng.choice(["", "$"])
        text = "".join(rng.choice("ab") for _ in range(rng.randrange(7)))
        assert matches(given, text) == bool(re.search(given, text)), (given, text)


@pytest.mark.parametrize(
    "hostile",
    [
        "(((a*)*)*)*" * 20 + "x",
        "(.*)" * 60 + "x",
        "(" * 8 + "a?" + "){255}" * 8 + "x",
        "(" * 20 + "a" + ")*" * 20 + "x",
    ],
)
def test_what_would_take_a_backtracking_matcher_years(hostile):
    assert matches(hostile, "a" * 60) is False


@pytest.mark.parametrize(
    "bad",
    ["(", ")", "a)", "[", "[a", "[[:alph:]]", "[b-a]", "*", "+a", "a**", "a{", "a{x}", "a{3,2}", "a{999}", "a\\",
     "(" * 30 + ")" * 30, "a" * (LONGEST + 1)],
)  # fmt: skip
def test_what_is_no_expression(bad):
    with pytest.raises(ValueError):
        matches(bad, "text")
