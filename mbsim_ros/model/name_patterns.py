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

A sidecar may come from anywhere, and a regular expression can take centuries. So a pattern is short, repeats at most
`MOST_REPEATS` times and never a group, which makes it polynomial, and a file may only try so often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100  # characters of a pattern
LONGEST_NAME = 64  # characters of a name that one can mean
MOST_TRIES = 50_000  # of a pattern with a name, in one file
MOST_REPEATS = 3
_SPECIAL = re.compile(r"[\\.*+?\[\](){}|^$]")
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_REFUSED = ("(?", "\\")  # look-around, flags, back references, classes: nothing that names need


class BadPattern(ValueError):
    """A pattern that is not used; the text says why."""


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
    if any(sign in pattern for sign in _REFUSED) or _REPEATED_GROUP.search(pattern):
        raise BadPattern("groups may not repeat, and there is no (? and no \\")
    if sum(pattern.count(sign) for sign in "*+{") > MOST_REPEATS:
        raise BadPattern(f"more than {MOST_REPEATS} of * + {{")
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(str(error)) from None
    return [name for name in names if len(name) <= LONGEST_NAME and expression.fullmatch(name)]
