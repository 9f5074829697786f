# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How figures look: one style for all, drawn without a screen, legible at half size."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito: told apart by everybody, also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
PRINTED = {"color": "#777777", "linestyle": "--", "linewidth": 1.4}  # values that stand in the document

_STYLE: Any = {
    "font.size": 13.0,
    "axes.titlesize": 13.0,
    "axes.labelsize": 13.0,
    "legend.fontsize": 11.0,
    "lines.linewidth": 1.8,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
}


def panels(
    rows: int, columns: int = 1, *, title: str = "", size: tuple[float, float] | None = None, **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure and its axes, (rows, columns); options as of `Figure.subplots`, for example sharex=True."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size or (7.5 * columns, 1.2 + 2.6 * rows))
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    if title:
        figure.suptitle(title, fontsize=15.0)
    return figure, axes


def label(axis: Axes, x: str, y: str, *, legend: bool = True, **place: Any) -> None:
    """Name both axes, with units, and explain the lines; place as of `Axes.legend`."""
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if legend and axis.get_legend_handles_labels()[0]:
        with matplotlib.rc_context(_STYLE):
            axis.legend(**{"frameon": False, **place})
