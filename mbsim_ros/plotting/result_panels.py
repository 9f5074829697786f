# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The panels of an experiment's JSON file: its lists over the list that is their axis, ours beside the printed.

An axis is a list of the same length among the parameters, or a metric whose name says that it is one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from mbsim_ros.plotting.panels import Line, Panel, split
from mbsim_ros.plotting.run_panels import NothingToPlot

UNIT = re.compile(r"\[([^\]]*)\]\s*$")
AXES = ("time [", "times [", "steps", "number of")  # how the name of a metric that is an axis begins
SHORTEST = 3  # entries of a list that is worth a line
MOST_LINES = 5  # in a panel: metrics have long names


def result_panels(file: Path) -> list[Panel]:
    """The panels of an experiment's file. Raises NothingToPlot if it is none, or has no lists."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        metrics, printed = content["metrics"], content.get("printed", {})
        lines, given = _lists(metrics), _lists(content.get("parameters", {}))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise NothingToPlot(f"{file}: not the result of an experiment: {error!r}") from None
    axes = {**{name: values for name, values in lines.items() if _is_axis(name)}, **given}
    groups: dict[tuple[str, str], list[Line]] = {}
    for name, values in lines.items():
        if _is_axis(name):
            continue
        axis = next((other for other in axes if len(axes[other]) == len(values)), "")
        x = axes[axis] if axis else np.arange(len(values), dtype=float)
        found = UNIT.search(name)
        group = groups.setdefault((axis or "number of the value", found[1] if found else ""), [])
        group.append(Line(UNIT.sub("", name).strip(), x, values))
        theirs = _numbers(printed.get(name))
        if theirs is not None and len(theirs) == len(values):
            group.append(Line(f"{UNIT.sub('', name).strip()}, printed", x, theirs))
    if not groups:
        there = ", ".join([*metrics][:5]) + (", …" if len(metrics) > 5 else "")
        raise NothingToPlot(f"{file}: no metric is a list of {SHORTEST} numbers or more; there are: {there}")
    title = str(content.get("experiment", file.stem))
    return [
        panel for (axis, unit), group in groups.items()
        for panel in split(group, title, axis, f"[{unit}]" if unit else "value", MOST_LINES)
    ]  # fmt: skip


def _lists(values: dict[str, object]) -> dict[str, np.ndarray]:
    found = {name: _numbers(value) for name, value in values.items()}
    return {name: numbers for name, numbers in found.items() if numbers is not None}


def _is_axis(name: str) -> bool:
    return name.lower().startswith(AXES)


def _numbers(values: object) -> np.ndarray | None:
    """A list of numbers (n,), None if it is anything else; what is not finite, written as text, is nan."""
    if not isinstance(values, list) or len(values) < SHORTEST:
        return None
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None
    found[~np.isfinite(found)] = np.nan
    return found if found.ndim == 1 and not np.isnan(found).all() else None
