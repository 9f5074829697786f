# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""POSIX extended regular expressions, as `simulation_interfaces` filters names with them, in time that is bounded.

Python's `re` has another syntax (no `[[:alpha:]]`) and can take years for an expression of twenty characters, which any
caller of a service could send. Here each part of the expression is asked at most once per place of the text where its
matches end: the work is polynomial in both lengths.
"""

from __future__ import annotations

import string
from collections.abc import Callable

LONGEST = 256  # characters of an expression
MOST_REPEATS = 255  # RE_DUP_MAX of POSIX
DEEPEST = 20  # groups inside of each other

Ends = Callable[[str, int], frozenset[int]]  # (text, begin) → where matches that begin there end

CLASSES = {
    "alpha": str.isalpha, "digit": string.digits.__contains__, "alnum": str.isalnum, "upper": str.isupper,
    "lower": str.islower, "space": str.isspace, "blank": " \t".__contains__, "punct": string.punctuation.__contains__,
    "print": str.isprintable, "graph": lambda c: c.isprintable() and not c.isspace(),
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127, "xdigit": string.hexdigits.__contains__,
}  # fmt: skip


def matches(expression: str, text: str) -> bool:
    """Whether some part of the text matches. ValueError says what is wrong with the expression."""
    if len(expression) > LONGEST:
        raise ValueError(f"expected at most {LONGEST} characters, got {len(expression)}")
    ends = _Parser(expression).parse()
    return any(ends(text, begin) for begin in range(len(text) + 1))


class _Parser:
    """Reads an expression from left to right: alternatives of sequences of repeated atoms."""

    def __init__(self, expression: str):
        self._rest, self._depth = expression, 0

    def parse(self) -> Ends:
        ends = self._alternatives()
        if self._rest:
            raise ValueError(f"unexpected '{self._rest[0]}' before {self._rest[1:]!r}")
        return ends

    def _alternatives(self) -> Ends:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        return _remembering(lambda text, begin: frozenset().union(*(branch(text, begin) for branch in branches)))

    def _sequence(self) -> Ends:
        parts: list[Ends] = []
        while self._rest and self._rest[0] not in "|)":
            parts.append(self._repeated(self._atom()))

        def ends(text: str, begin: int) -> frozenset[int]:
            places = frozenset([begin])
            for part in parts:
                places = _step(part, text, places)
            return places

        return _remembering(ends)

    def _repeated(self, atom: Ends) -> Ends:
        if not self._rest or self._rest[0] not in "*+?{":
            return atom
        repeated = _remembering(_repeat(atom, *self._bounds()))
        if self._rest and self._rest[0] in "*+?{":
            raise ValueError(f"'{self._rest[0]}' repeats a repetition: put that into a group")
        return repeated

    def _bounds(self) -> tuple[int, int | None]:
        sign, self._rest = self._rest[0], self._rest[1:]
        if sign != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        inside, brace, self._rest = self._rest.partition("}")
        low, comma, high = inside.partition(",")
        if not brace or not low.isdecimal() or not (high.isdecimal() or not high):
            raise ValueError(f"expected {{m}}, {{m,}} or {{m,n}}, got '{{{inside}'")
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise ValueError(f"expected {{m,n}} with m ≤ n ≤ {MOST_REPEATS}, got '{{{inside}}}'")
        return least, most

    def _atom(self) -> Ends:
        sign, self._rest = self._rest[0], self._rest[1:]
        if sign == "(":
            self._depth += 1
            if self._depth > DEEPEST:
                raise ValueError(f"expected at most {DEEPEST} groups inside of each other")
            inside = self._alternatives()
            self._depth -= 1
            if not self._skip(")"):
                raise ValueError("'(' without its ')'")
            return inside
        if sign in "*+?{":
            raise ValueError(f"'{sign}' repeats nothing")
        if sign == "^":
            return lambda text, begin: frozenset([begin] if begin == 0 else [])
        if sign == "$":
            return lambda text, begin: frozenset([begin] if begin == len(text) else [])
        if sign == ".":
            return _one(lambda character: True)
        if sign == "[":
            return _one(self._bracket())
        if sign == "\\":
            if not self._rest:
                raise ValueError("nothing follows the last backslash")
            sign, self._rest = self._rest[0], self._rest[1:]
        return _one(sign.__eq__)

    def _bracket(self) -> Callable[[str], bool]:
        """What follows `[`, up to its `]`."""
        negated = self._skip("^")
        tests: list[Callable[[str], bool]] = []
        while not (tests and self._skip("]")):
            if self._skip("[:"):
                name, colon, self._rest = self._rest.partition(":]")
                if not colon or name not in CLASSES:
                    raise ValueError(f"expected a class such as [:alpha:], got '[:{name[:20]}'")
                tests.append(CLASSES[name])
                continue
            if not self._rest:
                raise ValueError("'[' without its ']'")
            low, self._rest = self._rest[0], self._rest[1:]
            high = low
            if len(self._rest) > 1 and self._rest[0] == "-" and self._rest[1] != "]":
                high, self._rest = self._rest[1], self._rest[2:]
                if high < low:
                    raise ValueError(f"'{low}-{high}' is no range")
            tests.append(lambda character, low=low, high=high: low <= character <= high)  # type: ignore[misc]
        return lambda character: negated != any(test(character) for test in tests)

    def _skip(self, what: str) -> bool:
        found = self._rest.startswith(what)
        if found:
            self._rest = self._rest[len(what) :]
        return found


def _one(test: Callable[[str], bool]) -> Ends:
    """One character that passes the test."""
    return lambda text, begin: frozenset([begin + 1] if begin < len(text) and test(text[begin]) else [])


def _repeat(atom: Ends, least: int, most: int | None) -> Ends:
    """From `least` to `most` of an atom, one after the other."""

    def ends(text: str, begin: int) -> frozenset[int]:
        places = frozenset([begin])
        for _ in range(least):
            previous, places = places, _step(atom, text, places)
            if places == previous:  # empty, or all that can be reached with the empty match
                break
        found = places
        for _ in range(len(text) + 1 if most is None else most - least):
            places = _step(atom, text, places) - found
            if not places:
                break
            found |= places
        return found

    return ends


def _step(part: Ends, text: str, places: frozenset[int]) -> frozenset[int]:
    return frozenset().union(*(part(text, place) for place in places))


def _remembering(ends: Ends) -> Ends:
    """The same, computed once for each place of the text."""
    known: dict[int, frozenset[int]] = {}

    def remembered(text: str, begin: int) -> frozenset[int]:
        if begin not in known:
            known[begin] = ends(text, begin)
        return known[begin]

    return remembered
