# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How the energy error of G's schemes grows with the step, G Figures 5.4, 5.7, 5.8."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.goetz.chain import ORDER_DURATION, PARAMETERS as MANIPULATOR, chain_with
from mbsim_ros.experiments.goetz.runs import (
    ENERGY_STABLE,
    GAUSS,
    REFERENCE,
    SYMPLECTIC,
    VARIATIONAL,
    NamedScheme,
    trace,
)
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.integrators.planar.chain import PlanarChain

TITLE = "Energy error against the step: orders of G's schemes"
SOURCE = "Götz 5.2.2, 5.2.3, Figures 5.4, 5.7, 5.8"

FINEST, LONGEST = 1e-3, 0.2  # s, (5.7)
STEPS = np.round(np.arange(1, 201) * FINEST, 3)  # s, (5.7)
PARAMETERS = (
    ExperimentParameter(
        "longest", LONGEST, "s", 0.1, 0.5, "of the steps, which begin with 0.001 s and grow by as much"
    ),
    ExperimentParameter("duration", ORDER_DURATION, "s", 1.0, 1000.0, "of each run"),
)
LOW, GAUSS_RANGE = (0.001, 0.02), (0.016, 0.1)  # s, between which the slope is taken
MIXED = NamedScheme("variational, mixed", VARIATIONAL.make, "mixed energy")
SHORT = {"none": "weight", "mono": "mono", "multi": "multi"}
NAMES = {"none": "weight only", "mono": "mono-articular springs", "multi": "multi-articular spring"}
# Curves: springs, scheme, the printed order.
CURVES: tuple[tuple[str, NamedScheme, float | None], ...] = (
    ("none", VARIATIONAL, 2.0), ("none", REFERENCE, 2.0), ("none", SYMPLECTIC, None), ("none", MIXED, None),
    ("none", ENERGY_STABLE, None), ("mono", ENERGY_STABLE, 2.0), ("mono", VARIATIONAL, 2.0), ("mono", GAUSS, 6.0),
    ("multi", ENERGY_STABLE, None), ("multi", GAUSS, None),
)  # fmt: skip


def run(progress: Progress, *, longest: float = LONGEST, duration: float = ORDER_DURATION) -> Outcome:
    """Mean energy errors (5.5) over 10 s for 200 steps, and their slopes."""
    steps = np.round(np.arange(1, round(longest / FINEST) + 1) * FINEST, 3)
    chains = {kind: chain_with(kind) for kind in NAMES}
    metrics: dict[str, object] = {}
    printed: dict[str, object] = {}
    means = {}
    for done, (kind, scheme, order) in enumerate(CURVES):
        progress(done / len(CURVES), f"{scheme.name}, {NAMES[kind]}")
        means[kind, scheme.name] = mean_errors(scheme, chains[kind], steps, duration)
        if scheme is ENERGY_STABLE and kind == "none":
            metrics[f"mean error at any step, {scheme.name}, {SHORT[kind]} [J]"] = means[kind, scheme.name].max()
            continue
        key = f"order, {scheme.name}, {SHORT[kind]}"
        metrics[key] = slope(means[kind, scheme.name], GAUSS_RANGE if scheme is GAUSS else LOW, steps)
        if order is not None:
            printed[key] = order
    for kind, scheme, _ in CURVES:
        metrics[f"mean errors, {scheme.name}, {SHORT[kind]} [J]"] = means[kind, scheme.name]
    parameters = {
        **MANIPULATOR, "duration [s]": duration, "steps [s]": steps,
        "slopes taken between [s]": {"3 Gauss points": GAUSS_RANGE, "others": LOW},
    }  # fmt: skip
    figures = {"weight": _weight_figure(means, steps), "springs": _springs_figure(means, steps)}
    where = {key: "5.2.2" if key.endswith("weight") else "5.2.3" for key in printed}
    return Outcome(parameters, metrics, printed, _notes(), figures, where)


def mean_errors(
    scheme: NamedScheme, chain: PlanarChain, steps: np.ndarray = STEPS, duration: float = ORDER_DURATION
) -> np.ndarray:
    """Mean of |E − E₀| over a run, (5.5), for each step."""
    return np.array([np.abs(trace(scheme, chain, dt, duration)[0]).mean() for dt in steps])


def slope(means: np.ndarray, between: tuple[float, float], steps: np.ndarray = STEPS) -> float:
    """Exponent of a power law fitted in a range of steps, (5.6)."""
    inside = (steps >= between[0]) & (steps <= between[1])
    return float(np.polyfit(np.log(steps[inside]), np.log(means[inside]), 1)[0])


def _notes() -> list[str]:
    return [
        "“Variational” is G's scheme as printed, “reference” the midpoint rule in joint angles; “weight” is without "
        "springs, “mono” and “multi” with mono-articular ones and with the multi-articular one.",
        "G sees an instability of the reference above Δt = 0.01 s and second order of the variational integrator only "
        "up to there. With Newton's method converged both are of second order up to 0.1 s, for this and for other "
        "starts; a loose tolerance of the solver is the likely cause.",
        "With three Gauss points the error reaches rounding below about 0.01 s, as G says; its order is taken above.",
        "The energy of the variational integrator is of second order in the middle of a step and at the nodes, through "
        "the momenta, but of first order if positions at a node go with velocities in the middle (“mixed”). G does "
        "not say which it took; the printed order excludes the last.",
        "The multi-articular spring has no figure in G; its curves are ours alone.",
    ]


def _weight_figure(means: dict[tuple[str, str], np.ndarray], steps: np.ndarray) -> Figure:
    figure, axes = panels(1, size=(9.0, 6.2), title="Figure 5.4: mean energy error, weight only")
    axis = axes[0, 0]
    for scheme in (MIXED, VARIATIONAL, SYMPLECTIC, REFERENCE, ENERGY_STABLE):
        axis.loglog(steps, means["none", scheme.name], label=scheme.name)
    _guide(axis, 2.0, 0.012, 3.5e-5, "printed")
    axis.set_ylim(1e-16, 1e0)
    label(axis, "step Δt [s]", "mean |E − E₀| [J]", loc="center left", bbox_to_anchor=(0.0, 0.34))
    return figure


def _springs_figure(means: dict[tuple[str, str], np.ndarray], steps: np.ndarray) -> Figure:
    figure, axes = panels(1, 2, size=(14.0, 6.2), title="Figures 5.7, 5.8: mean energy error with springs", sharey=True)
    for axis, kind in zip(axes[0], ("mono", "multi"), strict=True):
        for i, scheme in enumerate((VARIATIONAL, ENERGY_STABLE, GAUSS)):
            if (kind, scheme.name) in means:
                axis.loglog(steps, means[kind, scheme.name], color=COLOURS[i + 1], label=scheme.name)
        source = "printed" if kind == "mono" else "for comparison"  # G draws no multi-articular spring
        _guide(axis, 2.0, 0.006, 1.2e-7, source)
        _guide(axis, 6.0, 0.03, 8e-10, source, linestyle=":")
        axis.set_ylim(1e-15, 1e1)
        axis.set_title(NAMES[kind], loc="left")
        label(axis, "step Δt [s]", "mean |E − E₀| [J]" if kind == "mono" else "", loc="upper left")
    return figure


def _guide(axis: Axes, order: float, start: float, height: float, source: str, **style: Any) -> None:
    """A short line of a slope."""
    steps = np.array([start, 5.0 * start])
    axis.loglog(steps, height * (steps / start) ** order, **PRINTED | style, label=f"order {order:g}, {source}")
