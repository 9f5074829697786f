# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Names by pattern: which of a robot's names a regular expression means.

    gains: {".*_KFE": {kp: 20, kd: 0.4}}       all knees

A sidecar may come from anywhere, and a regular expression can take Python centuries. So patterns are matched here, by
the set of places that each part leads to, which takes their length times the square of the name's at most. They have
characters, `.`, `[…]`, `(a|b)`, and `*`, `+` and `?` after one character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

LONGEST = 100  # characters of a pattern
LONGEST_NAME = 200  # characters of a name that one can mean
MOST_TRIES = 50_000  # of a pattern with a name, in one file
_SPECIAL = re.compile(r"[\\.*+?\[\](){}|^$]")
_CLASS = re.compile(r"\[\^?[^\[\]\\]+\]")
_REPEATS = "*+?"


class BadPattern(ValueError):
    """A pattern that is not used; the text says why."""


class _PatternPart(NamedTuple):
    """One character that fits, repeated as its sign says; or a group, one of several sequences of parts."""

    fits: Callable[[str], object] | None
    repeat: str
    group: list[list[_PatternPart]]


def is_pattern(text: str) -> bool:
    """Whether a text has signs of a regular expression, and so is no plain name."""
    return _SPECIAL.search(text) is not None


def plain_part(pattern: str) -> str:
    """The letters of a pattern, to compare with names."""
    return _SPECIAL.sub("", pattern)


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that the whole pattern matches, in their order. Raises BadPattern."""
    if len(pattern) > LONGEST:
        raise BadPattern(f"more than {LONGEST} characters")
    sequences, end = _sequences(pattern, 0)
    if end < len(pattern):
        raise BadPattern("a ) too many")
    return [name for name in names if len(name) <= LONGEST_NAME and len(name) in _ends(sequences, name, {0})]


def _sequences(pattern: str, i: int) -> tuple[list[list[_PatternPart]], int]:
    """What stands between bars from i on, up to a closing bracket or the end, and where that is."""
    found: list[list[_PatternPart]] = [[]]
    while i < len(pattern) and pattern[i] != ")":
        if pattern[i] == "|":
            found.append([])
            i += 1
            continue
        part, i = _part(pattern, i)
        found[-1].append(part)
    return found, i


def _part(pattern: str, i: int) -> tuple[_PatternPart, int]:
    sign = pattern[i]
    if sign == "(":
        group, end = _sequences(pattern, i + 1)
        if end == len(pattern):
            raise BadPattern("a ( without its )")
        if pattern[end + 1 : end + 2] in ("*", "+", "?", "{"):
            raise BadPattern("groups may not repeat")
        return _PatternPart(None, "", group), end + 1
    fits, end = _one_character(pattern, i, sign)
    repeat = pattern[end : end + 1]
    if repeat and repeat in _REPEATS:
        return _PatternPart(fits, repeat, []), end + 1
    return _PatternPart(fits, "", []), end


def _one_character(pattern: str, i: int, sign: str) -> tuple[Callable[[str], object], int]:
    if sign == ".":
        return lambda character: True, i + 1
    if sign == "[":
        found = _CLASS.match(pattern, i)
        try:
            fits = None if found is None else re.compile(found[0])
        except re.error:
            fits = None
        if found is None or fits is None:
            raise BadPattern("a [ that is no set of characters")
        return fits.fullmatch, found.end()
    if _SPECIAL.match(sign):
        raise BadPattern(f"'{sign}' has no meaning here")
    return sign.__eq__, i + 1


def _ends(sequences: list[list[_PatternPart]], name: str, starts: set[int]) -> set[int]:
    """Where the sequences can end that begin at one of these places of the name."""
    ends: set[int] = set()
    for parts in sequences:
        places = starts
        for part in parts:
            places = _after(part, name, places)
        ends |= places
    return ends


def _after(part: _PatternPart, name: str, places: set[int]) -> set[int]:
    if part.fits is None:
        return _ends(part.group, name, places)
    reached = {i + 1 for i in places if i < len(name) and part.fits(name[i])}
    if part.repeat == "?":
        return places | reached
    if not part.repeat:
        return reached
    found, new = (places | reached if part.repeat == "*" else set(reached)), reached
    while new:
        new = {i + 1 for i in new if i < len(name) and part.fits(name[i])} - found
        found |= new
    return found
