# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Tables for terminals: no frame, empty columns left out, long names squeezed to what fits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mbsim_ros.model.summary import squeezed

SHORTEST_NAME = 12
MOST_ROWS = 500  # nobody reads more on a screen, and rich is slow


def print_table(
    console: Console, title: str, heads: Sequence[str], rows: Sequence[tuple[Sequence[str], str]],
    names: Sequence[int] = (),
) -> None:  # fmt: skip
    """Print rows of (cells, style); heads that begin with '>' are of columns of numbers.

    The columns `names` are squeezed if the table is too wide, the last one first.
    """
    left_out, rows = max(0, len(rows) - MOST_ROWS), rows[:MOST_ROWS]
    texts = [[printable(cell) for cell in cells] for cells, _ in rows]
    widths = [max([len(head.removeprefix(">")), *(len(cells[i]) for cells in texts)]) for i, head in enumerate(heads)]
    used = [i for i in range(len(heads)) if any(cells[i] for cells in texts)]
    too_wide = sum(widths[i] + 1 for i in used) - 1 - console.width
    for i in reversed(names):
        if too_wide > 0 and i in used:
            fitting = max(SHORTEST_NAME, widths[i] - too_wide)
            too_wide -= widths[i] - fitting
            widths[i] = fitting
    table = Table(box=None, title=title, title_justify="left", title_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for i in used:
        right = heads[i].startswith(">")
        table.add_column(heads[i].removeprefix(">"), justify="right" if right else "left", no_wrap=True)
    for cells, (_, style) in zip(texts, rows, strict=True):
        table.add_row(*(Text(squeezed(cells[i], widths[i]) if i in names else cells[i], style) for i in used))
    console.print()
    console.print(table)
    if left_out:
        console.print(f"… and {left_out} more")


def printable(text: str) -> str:
    """Text of a file without what a terminal would take for a command."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else "�" for c in text)
