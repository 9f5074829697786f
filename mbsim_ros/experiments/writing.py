# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""An outcome as files: DIR/NAME.json, and DIR/NAME-….png for its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.experiments.experiment import Experiment, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(folder: Path, experiment: Experiment, outcome: Outcome) -> list[Path]:
    """Write the JSON file and the figures; returns the files, JSON first."""
    strange = sorted(set(outcome.printed) - set(outcome.metrics))
    if strange:
        raise ValueError(f"{experiment.name}: printed without a metric of the same name: {', '.join(strange)}")
    lost = sorted(set(outcome.where) - set(outcome.printed))
    if lost:
        raise ValueError(f"{experiment.name}: a place of what is not printed: {', '.join(lost)}")
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{experiment.name}.json"]
    for end, figure in outcome.figures.items():
        files.append(folder / f"{experiment.name}-{end}.png")
        figure.savefig(files[-1])
    content = {
        "experiment": experiment.name,
        "source": experiment.source,
        "parameters": plain(outcome.parameters),
        "metrics": plain(outcome.metrics),
        "printed": plain(outcome.printed),
        "printed_at": {key: outcome.where.get(key, experiment.source) for key in outcome.printed},
        "notes": list(outcome.notes),
        "captions": {end: caption(figure) for end, figure in outcome.figures.items()},
    }
    files[0].write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return files


def caption(figure: Figure) -> str:
    """What a figure shows, by its own words: its title, and what is drawn over what."""
    axes = [axis for axis in figure.axes if axis.get_ylabel()]
    titles = [figure.get_suptitle(), *(axis.get_title() for axis in axes)]
    last = next((axis.get_xlabel() for axis in reversed(axes) if axis.get_xlabel()), "")
    drawn = list(dict.fromkeys(axis.get_ylabel() for axis in axes))
    words = f"{', '.join(drawn)} over {last}" if drawn and last else ", ".join(drawn)
    title = next(filter(None, titles), "")
    return " ".join(f"{title}: {words}".split()) if title and words else title or words


def plain(value: object) -> Any:
    """A value as JSON knows it: arrays as lists, what is not finite as text."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value
