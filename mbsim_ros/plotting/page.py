# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Panels as one HTML page that needs nothing else: drag to zoom, double-click to see all, point to read values."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mbsim_ros.plotting.page_script import SCRIPT, STYLE
from mbsim_ros.plotting.panels import Panel
from mbsim_ros.plotting.png import spans_decades, thinned

MOST_POINTS = 20_000  # of a line
DIGITS = 7  # of a value


def write_page(file: Path, panels: Sequence[Panel], title: str, notes: Sequence[str] = ()) -> None:
    """Write the page."""
    data = json.dumps([_plain(panel) for panel in panels], allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # a name with </script> in it must not end the script
    said = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    page = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1>{said}"
        "<p>Drag to zoom, double-click to see all, click a name to hide its line.</p>"
        f'<div id="panels"></div><script>const PANELS = {data};\n{SCRIPT}</script></body></html>\n'
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")


def _plain(panel: Panel) -> dict[str, object]:
    lines = []
    for line in panel.lines:
        x, y = thinned(line.x, line.y, MOST_POINTS)
        lines.append({"name": line.name, "x": _list(x), "y": _list(y)})
    bars = [[panel.rows.index(bar.row), bar.start, bar.end, bar.kind, bar.colour] for bar in panel.bars]
    logarithmic = bool(panel.lines) and spans_decades([line.y for line in panel.lines])
    return {
        "title": panel.title, "x": panel.x, "y": panel.y, "lines": lines, "bars": bars, "rows": list(panel.rows),
        "log": logarithmic,
    }  # fmt: skip


def _list(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values.tolist()]
