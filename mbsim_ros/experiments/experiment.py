# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an experiment is: a module with TITLE, SOURCE, PARAMETERS and `run(progress, …)`, which returns an Outcome."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mbsim_ros.experiments.parameters import ExperimentParameter, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In the order of the report. A name is a module of this folder with _ for -.
NAMES = (
    "wendlandt-table-2-1", "wendlandt-table-2-2", "wendlandt-box-drop", "wendlandt-biped-1", "wendlandt-biped-2",
    "wendlandt-linear-time", "kobilarov-figure-2", "kobilarov-chain", "kobilarov-step-bounds", "nelson-walker",
    "nelson-clutch", "goetz-energy", "goetz-order", "goetz-springs", "hemami-1", "hemami-2", "hemami-3",
)  # fmt: skip

Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


@dataclass
class Outcome:
    """What an experiment found.

    `metrics` and `printed` have plain words with units as keys, for example "position error at 3 s [mm]", and numbers,
    texts, or lists of numbers as values; a key of `printed` is also one of `metrics`, and the two are to be compared.
    `where` says for keys of `printed` where that stands, for example "W Table 2.1"; where nothing is said it is in the
    experiment's source. `figures` are matplotlib figures by the end of their file names.
    """

    parameters: Mapping[str, object]
    metrics: Mapping[str, object]
    printed: Mapping[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One experiment, found by name."""

    name: str
    title: str
    source: str
    run: Callable[..., Outcome]
    parameters: tuple[ExperimentParameter, ...] = ()

    def compute(self, progress: Progress, settings: Mapping[str, Value] | None = None) -> Outcome:
        """Run it with some parameters changed; what was used is in the outcome's parameters.

        Printed values are those of the document's own parameters: with others they are left out.
        """
        changed = {} if settings is None else dict(settings)
        outcome = self.run(progress, **changed)
        used = {each.key: changed.get(each.name, each.default) for each in self.parameters}
        others = [p for p in self.parameters if changed.get(p.name, p.default) != p.default and not p.is_free]
        outcome = replace(outcome, parameters={**outcome.parameters, **used})
        if not others:
            return outcome
        words = ", ".join(f"{p.name} is {changed[p.name]} in place of {p.default}" for p in others)
        note = f"{words}: what is printed is of the document's own and left out."
        return replace(outcome, printed={}, where={}, notes=[note, *outcome.notes])


def available() -> tuple[str, ...]:
    """Names of the experiments, in the order of the report."""
    return tuple(name for name in NAMES if find_spec(_module(name)) is not None)


def find(name: str) -> Experiment:
    """The experiment of this name; KeyError with the names there are."""
    if name not in available():
        raise KeyError(f"no experiment named '{name}'; there are: {', '.join(available())}")
    module = importlib.import_module(_module(name))
    return Experiment(name, module.TITLE, module.SOURCE, module.run, getattr(module, "PARAMETERS", ()))


def _module(name: str) -> str:
    document, _, rest = name.partition("-")
    module = rest.replace("-", "_")
    return f"mbsim_ros.experiments.{document}.{'simulation_' * module.isdigit()}{module}"
