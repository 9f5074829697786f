# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Constraints, energy and CPU time of G's schemes in its standard run, G Figures 5.1–5.3, 5.5, 5.6, Tables 5.2, 5.3."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.goetz.chain import (
    CENTRE,
    DURATION,
    PARAMETERS as MANIPULATOR,
    START,
    STEP,
    chain_with,
    with_printed_mass_matrix,
)
from mbsim_ros.experiments.goetz.pendulum import pendulum_figure, pendulum_paths, radius_errors
from mbsim_ros.experiments.goetz.runs import (
    AT_REST,
    ENERGY_STABLE,
    GAUSS,
    REFERENCE,
    SYMPLECTIC,
    VARIATIONAL,
    NamedScheme,
    real_time_share,
    trace,
)
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.experiments.timing import MACHINE, this_machine

TITLE = "Energy-stable and variational schemes on a manipulator with springs: constraints, energy, CPU time"
SOURCE = "Götz 3.1.4, 5.2.1–5.2.4, Figures 3.1, 5.1–5.3, 5.5, 5.6, Tables 5.2, 5.3"

NAMES = {"none": "weight only", "mono": "mono-articular springs"}
SHORT = {"none": "weight", "mono": "mono"}
# What was run in G: largest energy error [J] and share of real time [%]; None where nothing is printed.
RUNS: tuple[tuple[str, NamedScheme, float | None, float | None], ...] = (
    ("none", ENERGY_STABLE, 1e-14, 4.70), ("none", VARIATIONAL, 1e-3, 280.84), ("none", SYMPLECTIC, None, None),
    ("none", REFERENCE, 1e-4, 90.40), ("mono", ENERGY_STABLE, 1e-5, 6.72), ("mono", GAUSS, 1e-13, 7.06),
    ("mono", VARIATIONAL, 1e-3, 295.36), ("mono", SYMPLECTIC, None, None), ("mono", REFERENCE, None, None),
)  # fmt: skip
CONSTRAINTS = 1e-14  # printed, for both schemes
CHECK_STEP = 0.005  # s, of the comparison with the printed mass matrix
PARAMETERS = (
    ExperimentParameter("h", STEP, "s", 1e-3, 0.2, "step Δt"),
    ExperimentParameter("duration", DURATION, "s", 1.0, 1000.0, "of each run"),
)
PRINTED_AT = {"none": "5.2.2", "mono": "5.2.3"}
TABLES = {"none": "Table 5.2", "mono": "Table 5.3"}
G_MACHINE = "in MATLAB on an Intel i5-7200U"


def run(progress: Progress, *, h: float = STEP, duration: float = DURATION) -> Outcome:
    """Run all schemes for 50 s at 0.01 s, with and without springs."""
    chains = {kind: chain_with(kind) for kind in NAMES}
    metrics: dict[str, object] = {}
    printed: dict[str, object] = {}
    where: dict[str, str] = {}
    errors, recorded, shares = {}, {}, {}
    for done, (kind, scheme, energy, share) in enumerate(RUNS):
        progress(done / (len(RUNS) + 1), f"{scheme.name}, {NAMES[kind]}")
        errors[kind, scheme.name], recorded[kind, scheme.name] = trace(scheme, chains[kind], h, duration)
        key = f"energy error, {scheme.name}, {SHORT[kind]} [J]"
        metrics[key] = np.abs(errors[kind, scheme.name]).max()
        if energy is not None:
            printed[key], where[key] = energy, PRINTED_AT[kind]
        shares[kind, scheme.name] = real_time_share(scheme, chains[kind], h, duration), share
    for kind in NAMES:
        for scheme, name, unit in (
            (ENERGY_STABLE, "constraint error (5.1)", " [m²]"),
            (VARIATIONAL, "norm error (5.2)", ""),
        ):
            key = f"{name}, {scheme.name}, {SHORT[kind]}{unit}"
            metrics[key], printed[key] = _constraint_errors(scheme, recorded[kind, scheme.name]).max(), CONSTRAINTS
            where[key] = "5.2.1, text to Figures 5.1, 5.2"
    for (kind, name), (share, thesis) in shares.items():
        key = f"CPU time over real time, {name}, {SHORT[kind]} [%]"
        metrics[key] = share
        if thesis is not None:
            printed[key], where[key] = thesis, f"{TABLES[kind]}, {G_MACHINE}"
    progress(len(RUNS) / (len(RUNS) + 1), "the printed mass matrix")
    metrics |= _printed_mass_matrix()
    paths = pendulum_paths()
    for name, error in radius_errors(paths).items():
        metrics[f"pendulum of Figure 3.1, {name}: distance from its circle, at most [m]"] = error
    run_words = f"in {duration:g} s at Δt = {h:g} s"
    figures = {
        "energy": _energy_figure("none", (ENERGY_STABLE, VARIATIONAL, REFERENCE), errors, h, run_words),
        "energy-springs": _energy_figure("mono", (ENERGY_STABLE, GAUSS, VARIATIONAL), errors, h, run_words),
        "constraints": _constraint_figure(recorded, h),
        "cpu-time": _speed_figure(shares, h),
        "pendulum": pendulum_figure(paths),
    }
    parameters = {**MANIPULATOR, "duration [s]": duration, "step [s]": h, MACHINE: this_machine()}
    return Outcome(parameters, metrics, printed, _notes(), figures, where)


def _constraint_errors(scheme: NamedScheme, recorded: dict[str, np.ndarray]) -> np.ndarray:
    """(5.1) of the energy-stable scheme, l² ||d|² − 1|, and (5.2) of the variational one."""
    return CENTRE**2 * recorded["length error"] if scheme is ENERGY_STABLE else recorded["norm error"]


def _printed_mass_matrix() -> dict[str, float]:
    """How far two energy-stable runs of 1 s end from each other, whose mass matrices are right and as printed."""
    right = chain_with("none")
    ends, worst = [], 0.0
    for chain in (right, with_printed_mass_matrix(right)):
        run = ENERGY_STABLE.start(chain, CHECK_STEP)
        energies = run.trace(round(1.0 / CHECK_STEP))["energy"]
        worst = np.abs(energies - sum(chain.joint_energies(START, AT_REST))).max()
        ends.append(run.q)
    return {
        "energy error with the printed M (3.32), 1 s [J]": worst,
        "angle error with the printed M (3.32), 1 s [rad]": np.abs(ends[1] - ends[0]).max(),
    }


def _notes() -> list[str]:
    return [
        "Errors are the largest of a run. “Variational” is G's scheme as printed, “reference” the midpoint rule in "
        "joint angles; “weight” is without springs, “mono” with mono-articular ones.",
        "The start is not printed; φ = (0°, 45°, 45°) at rest fits all printed levels best. The printed errors are "
        "orders of magnitude (“in the range of”).",
        "The mass matrix (3.32) lacks the factor J/l² in most blocks. Energy is conserved to rounding with either "
        "matrix, but the motion is another one after a second: an energy error alone does not show a wrong model.",
        "Spring i is fastened to links i − 1 and i (not i and i + 1) at r/l (not r/L), against (3.38), (3.39).",
        "∇V and v in (3.43) are means over the step; the integrals of (3.44) would have a factor Δt too much.",
        "(4.28) with (4.31) is of second order but not symplectic: the exact derivative has a factor cos 2f, or the "
        "angle 2f in place of its sine. The version with the angle is shown as “symplectic”. Where G takes the energy "
        "is not said; here it is taken at (q', ω').",
        "The energy-stable scheme keeps the positions' constraints, which makes it no symplectic one: the velocities "
        "leave theirs by Δt².",
        "Our schemes scale the links' directions to length 1 after each step, so that rounding does not add up: the "
        "constraint errors are below those of G.",
        "Table 5.2: 47.20 s of 50 s are 94.40 %, printed are 90.40 %. Ours are CPU times of compiled loops, the "
        "median of 10 runs.",
        "Figure 3.1 has no numbers in G: its pendulum is ours. G calls the symplectic Euler scheme the implicit "
        "midpoint rule; they are two. The symplectic one here is RATTLE.",
    ]


def _energy_figure(
    kind: str, schemes: tuple[NamedScheme, ...], errors: dict[tuple[str, str], np.ndarray], h: float, words: str
) -> Figure:
    number = "Figure 5.3" if kind == "none" else "Figures 5.5, 5.6"
    title = f"{number}: energy error {words}, {NAMES[kind]}"
    figure, axes = panels(len(schemes), title=title, sharex=True)
    levels = {(k, scheme.name): level for k, scheme, level, _ in RUNS}
    for i, (axis, scheme) in enumerate(zip(axes[:, 0], schemes, strict=True)):
        error, level = errors[kind, scheme.name], levels[kind, scheme.name]
        axis.plot(h * np.arange(1, len(error) + 1), error, color=COLOURS[i], linewidth=0.9, label="computed")
        if level is not None:
            for sign in (-1.0, 1.0):
                name = f"printed: range of {level:.0e}" if sign > 0 else None
                axis.axhline(sign * level, **PRINTED, label=name)
        axis.set_title(scheme.name, loc="right")  # on the left stands the power of ten
        axis.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        axis.margins(y=0.25)
        label(axis, "time [s]" if axis is axes[-1, 0] else "", "E − E₀ [J]", loc="upper left", ncols=2)
    return figure


def _constraint_figure(recorded: dict[tuple[str, str], dict[str, np.ndarray]], h: float) -> Figure:
    title = f"Figures 5.1, 5.2: largest constraint error in each half second, Δt = {h:g} s"
    figure, axes = panels(2, title=title, size=(9.0, 6.6), sharex=True)
    window = round(0.5 / h)
    for axis, kind in zip(axes[:, 0], NAMES, strict=True):
        for scheme, name in ((ENERGY_STABLE, "energy-stable, (5.1) [m²]"), (VARIATIONAL, "variational, (5.2)")):
            values = _constraint_errors(scheme, recorded[kind, scheme.name])
            values = values[: len(values) // window * window].reshape(-1, window).max(axis=1)
            axis.semilogy(0.5 * np.arange(1, len(values) + 1), values, marker=".", label=name)
        axis.axhline(CONSTRAINTS, **PRINTED, label="printed: region of 1e−14")
        axis.set_ylim(1e-17, 1e-12)
        axis.set_title(NAMES[kind], loc="left")
        label(axis, "time [s]" if kind == "mono" else "", "error", loc="upper right", ncols=3)
    return figure


def _speed_figure(shares: dict[tuple[str, str], tuple[float, float | None]], h: float) -> Figure:
    figure, axes = panels(1, size=(11.0, 6.0), title=f"Tables 5.2, 5.3: CPU time over simulated time, Δt = {h:g} s")
    axis = axes[0, 0]
    names = [f"{name},\n{NAMES[kind]}" for kind, name in shares]
    ours, thesis = np.array([share for share, _ in shares.values()]), [each for _, each in shares.values()]
    places = np.arange(len(names))[::-1]
    axis.barh(places, ours, height=0.55, label="computed", color=COLOURS[0])
    known = [(place, value) for place, value in zip(places, thesis, strict=True) if value is not None]
    axis.plot([v for _, v in known], [p for p, _ in known], "D", color="#777777", label="printed (MATLAB)")
    for place, value in zip(places, ours, strict=True):
        axis.text(value * 1.15, place, f"{value:.3f} %", va="center", fontsize=11)
    for place, value in known:
        axis.text(value * 1.25, place, f"{value:g} %", va="center", fontsize=11, color="#555555")
    axis.axvline(100.0, color="#bbbbbb", linewidth=1.0)
    axis.set_xscale("log")
    axis.set_xlim(min(1e-3, ours.min() / 2), 2000.0)
    axis.set_yticks(places, names, fontsize=10)
    axis.grid(axis="y", visible=False)
    label(axis, "share of real time [%]; the line is real time", "", loc="lower center")
    return figure
