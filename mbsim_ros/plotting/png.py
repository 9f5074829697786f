# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Panels as a PNG file, legible at half size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.plotting.panels import Line, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 4000  # of a line: more do not fit into the pixels
WIDTH, HEIGHT = 11.0, 2.7  # inches of a panel
ROW = 0.32  # inches of a row of bars
LEGEND = 34  # characters of a line of the legend
MARKED = 40  # points of a line that are marked each
SAME = 0.02  # of the height of a panel: lines that are nowhere further apart hide each other
DECADES = 2000.0  # largest over smallest value from which on an axis is logarithmic


def write_png(file: Path, panels: Sequence[Panel], title: str) -> None:
    """Draw the panels one below the other."""
    figure = draw_figure(panels, title)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def draw_figure(panels: Sequence[Panel], title: str) -> Figure:
    """The same as a figure of matplotlib."""
    from mbsim_ros.experiments.figures import panels as make_panels

    heights = [HEIGHT if panel.lines else 1.1 + ROW * max(len(panel.rows), 2) for panel in panels]
    figure, axes = make_panels(
        len(panels), title=title, size=(WIDTH, 0.6 + sum(heights)), gridspec_kw={"height_ratios": heights}
    )
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        if panel.lines:
            _draw_lines(axis, panel)
        else:
            _draw_bars(axis, panel)
        axis.set_title(panel.title, loc="left", fontweight="bold")
        axis.set_ylabel(panel.y)
        if panel is panels[-1] or panel.x != panels[-1].x:
            axis.set_xlabel(panel.x)
    _share_time(axes[:, 0], panels)
    return figure


def _draw_lines(axis: Axes, panel: Panel) -> None:
    for line, covers in zip(panel.lines, covering(panel.lines), strict=True):
        x, y = thinned(line.x, line.y)
        style: dict[str, Any] = {
            "marker": "o" if len(x) <= MARKED else None,
            "linestyle": "--" if line.name.endswith(", printed") else (0, (10, 10)) if covers else "-",
        }
        axis.plot(x, y, label=fill(line.name, LEGEND), linewidth=1.5, **style)
    if spans_decades([line.y for line in panel.lines]):
        axis.set_yscale("log")
    if len(panel.lines[0].x) <= MARKED and spans_decades([line.x for line in panel.lines], 50.0):
        axis.set_xscale("log")
    if len(panel.lines) > 1:
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=11.0, handlelength=1.4)
    else:
        axis.set_title(panel.lines[0].name, loc="right", fontsize=11.0)


def _draw_bars(axis: Axes, panel: Panel) -> None:
    places = {row: place for place, row in enumerate(panel.rows)}
    kinds = {bar.kind: bar.colour for bar in panel.bars}
    for kind, colour in kinds.items():
        for row, place in places.items():
            spans = [(bar.start, bar.end - bar.start) for bar in panel.bars if bar.row == row and bar.kind == kind]
            axis.broken_barh(spans, (place - 0.36, 0.72), facecolors=colour)
        axis.plot([], [], color=colour, linewidth=7, label=kind)  # for the legend
    axis.set_yticks(range(len(panel.rows)), panel.rows, fontsize=11.0)
    axis.set_ylim(len(panel.rows) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)
    if kinds:
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=11.0, handlelength=1.0)


def _share_time(axes: Iterable[Axes], panels: Sequence[Panel]) -> None:
    """Give all panels over the same axis the same ends."""
    for name in {panel.x for panel in panels}:
        same = [axis for axis, panel in zip(axes, panels, strict=True) if panel.x == name]
        ends = [end for panel in panels if panel.x == name for end in _ends(panel)]
        if len(same) > 1 and ends and max(ends) > min(ends):
            for axis in same:
                axis.set_xlim(min(ends), max(ends))


def _ends(panel: Panel) -> list[float]:
    found = [float(f(line.x)) for line in panel.lines for f in (np.nanmin, np.nanmax)]
    return found + [end for bar in panel.bars for end in (bar.start, bar.end)]


def covering(lines: Sequence[Line]) -> list[bool]:
    """Whether each line would hide one before it, as those of legs that move alike do: dashed, it lets it be seen."""
    ranges = [float(np.ptp(line.y[np.isfinite(line.y)])) if np.isfinite(line.y).any() else 0.0 for line in lines]
    height = max(ranges, default=0.0) or 1.0
    return [
        any(
            len(line.y) == len(other.y) and np.nanmax(np.abs(line.y - other.y), initial=0.0) < SAME * height
            for other in lines[:place]
        )
        for place, line in enumerate(lines)
    ]


def spans_decades(values: Sequence[np.ndarray], ratio: float = DECADES) -> bool:
    """Whether all values are positive and their largest is so many times the smallest."""
    found = np.concatenate(values)
    found = found[np.isfinite(found)]
    return bool(len(found) and found.min() > 0.0 and found.max() > ratio * found.min())


def thinned(x: np.ndarray, y: np.ndarray, most: int = MOST_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most so many points of a line: of each stretch its lowest and highest, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    size = -(-2 * len(x) // most)
    chosen: list[int] = []
    for start in range(0, len(x), size):
        part = y[start : start + size]
        if np.isnan(part).any():
            chosen += range(start, start + len(part))
        else:
            chosen += sorted({start + int(part.argmin()), start + int(part.argmax())})
    return x[chosen], y[chosen]
