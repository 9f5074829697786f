# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's figures over the step: errors, Figures 2.3 to 2.11, and CPU time, Figures 2.2 and 2.7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mbsim_ros.experiments.figures import COLOURS, label, panels

CROSSES: dict[str, Any] = {"linestyle": "none", "marker": "x", "color": "black", "markersize": 11, "zorder": 3}


def against_step(
    steps: Sequence[float], errors: Mapping[str, Sequence[float]], printed_steps: Sequence[float],
    printed: Mapping[str, Sequence[float]], numbers: Sequence[str],
) -> Figure:  # fmt: skip
    """A panel for each quantity, the first word of the errors' names, with the numbers of W's figures."""
    figure, axes = panels(1, len(numbers), title="Errors against the step (crosses: printed)", size=(16.0, 4.6))
    quantities = dict.fromkeys(name.split(" ")[0] for name in errors)
    for axis, quantity, number in zip(axes[0], quantities, numbers, strict=True):
        names = [name for name in errors if name.startswith(quantity)]
        for name in names:
            scheme = "energy-momentum" if "energy-momentum" in name else "variational"
            colour = COLOURS[scheme != "variational"]
            axis.loglog(*_nonzero(steps, errors[name]), "o-", color=colour, label=scheme)
            axis.plot(*_nonzero(printed_steps, printed[name]), **CROSSES)
        axis.set_title(f"Figure {number}: {quantity}")
        unit = names[0].partition("[")[2]
        label(axis, "step h [s]", f"error [{unit}" if unit else "error", loc="upper left")
    return figure


def _nonzero(steps: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Steps and values that a logarithmic scale can show."""
    kept = [(h, value) for h, value in zip(steps, values, strict=True) if value]
    return [h for h, _ in kept], [value for _, value in kept]


def cpu_figure(
    number: str, steps: Sequence[float], spent: Mapping[str, Sequence[float]], printed_steps: Sequence[float],
    printed: Mapping[str, Sequence[float]],
) -> Figure:  # fmt: skip
    """CPU time over the step, by scheme, with W's beside it."""
    figure, axes = panels(1, title=f"{number}: CPU time of 30 s against the step", size=(8.5, 5.4))
    axis = axes[0, 0]
    for k, (name, values) in enumerate(spent.items()):
        axis.loglog(steps, values, "o-", color=COLOURS[k], label=f"{name}, here")
        axis.loglog(printed_steps, printed[name], "x--", color=COLOURS[k], markersize=10, label=f"{name}, SGI Indy")
    label(axis, "step h [s]", "CPU time [s]", loc="upper right")
    return figure
