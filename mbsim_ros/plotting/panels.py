# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a plot consists of, before it is drawn: panels with lines over one axis, or with bars that begin and end."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class Line:
    """One line: x and y (n,); nan where there is nothing."""

    name: str
    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Bar:
    """A stretch of a row, in a colour (#rrggbb) that `kind` explains."""

    row: str
    start: float
    end: float
    kind: str
    colour: str


@dataclass(frozen=True, eq=False)
class Panel:
    """One plot of a figure: lines, or bars in rows."""

    title: str
    x: str  # name of the axis, with its unit
    y: str
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    rows: tuple[str, ...] = ()  # of the bars, from top to bottom


def split(lines: list[Line], title: str, x: str, y: str, most: int = 7) -> list[Panel]:
    """Panels with at most so many lines each, as even as can be: more could not be told apart."""
    if not lines:
        return []
    count = -(-len(lines) // most)
    ends = np.linspace(0, len(lines), count + 1).round().astype(int).tolist()
    parts = [tuple(lines[a:b]) for a, b in pairwise(ends)]
    names = [title if count == 1 else f"{title} ({number}/{count})" for number in range(1, count + 1)]
    return [Panel(name, x, y, part) for name, part in zip(names, parts, strict=True)]
