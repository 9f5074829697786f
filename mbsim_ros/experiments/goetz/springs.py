# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Motion with mono- and multi-articular springs: every scheme of G against the solution of the equations of motion."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.elastic import SpringSet, spring_forces, spring_lengths
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.goetz.chain import (
    DURATION,
    GRAVITY,
    LINKS,
    PARAMETERS as MANIPULATOR,
    REST_LENGTH,
    START,
    STEP,
    manipulator,
    springs_of,
)
from mbsim_ros.experiments.goetz.runs import (
    AT_REST,
    ENERGY_STABLE,
    GAUSS,
    REFERENCE,
    SYMPLECTIC,
    VARIATIONAL,
    trace,
)
from mbsim_ros.experiments.parameters import ExperimentParameter, SettingError
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.planar.chain import planar_chain
from mbsim_ros.model.model import Model

TITLE = "Mono- and multi-articular springs: all schemes meet the solution of the equations of motion"
SOURCE = "Götz 2.2, 3.4.3, 4.4.3, 5.2.3"

SHORT = {"none": "weight", "mono": "mono", "multi": "multi"}
NAMES = {"none": "weight only", "mono": "mono-articular springs", "multi": "multi-articular spring"}
SCHEMES = (ENERGY_STABLE, GAUSS, VARIATIONAL, SYMPLECTIC, REFERENCE)
FLAGSHIP = "lie_variational"
COMPARED, SHOWN = 5.0, 20.0  # s: where errors are taken, what is drawn
STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125)  # s
PARAMETERS = (
    ExperimentParameter("h", STEPS, "s", 1e-4, 0.1, "steps, of which 5 s is a multiple, at least two", is_free=True),
    ExperimentParameter("duration", DURATION, "s", 1.0, 1000.0, "of the runs whose energies are compared"),
)


def run(progress: Progress, *, h: tuple[float, ...] = STEPS, duration: float = DURATION) -> Outcome:
    """Errors at 5 s against an ODE solver, for five steps; energies over 50 s; the motion itself."""
    steps = _checked(h)
    model = manipulator()
    metrics: dict[str, object] = {}
    printed: dict[str, object] = {}
    errors, motions, lengths = {}, {}, {}
    for done, (kind, name) in enumerate(NAMES.items()):
        springs = springs_of(model, kind)
        progress(done / 3, f"{name}: the solution")
        motions[kind] = solution(model, springs, np.linspace(0.0, SHOWN, 801))
        target = solution(model, springs, np.array([0.0, COMPARED]))[-1]
        progress((done + 0.4) / 3, f"{name}: the schemes")
        errors[kind] = scheme_errors(model, springs, target, steps)
        for who, values in errors[kind].items():
            metrics[f"angle error at 5 s, {who}, {SHORT[kind]} [rad]"] = values[-1]
            metrics[f"its order, {who}, {SHORT[kind]}"] = float(
                np.log2(values[-2] / values[-1]) / np.log2(steps[-2] / steps[-1])
            )
        if kind != "none":
            lengths[kind] = segment_lengths(model, motions[kind])
            key = f"shortest segment over rest length, {SHORT[kind]}"
            metrics[key], printed[key] = lengths[kind].min() / REST_LENGTH, "above 1 (assumed)"
    progress(0.95, "energies with the multi-articular spring")
    chain = planar_chain(model, springs_of(model, "multi"), GRAVITY)
    for scheme in (ENERGY_STABLE, GAUSS, VARIATIONAL, SYMPLECTIC):
        error = trace(scheme, chain, STEP, duration)[0]
        metrics[f"energy error in {duration:g} s, {scheme.name}, multi [J]"] = np.abs(error).max()
    parameters = {**MANIPULATOR, "steps [s]": steps, "compared at [s]": COMPARED}
    figures = {
        "convergence": _error_figure(errors, steps),
        "motion": _motion_figure(motions),
        "lengths": _length_figure(lengths),
    }
    return Outcome(parameters, metrics, printed, _notes(), figures, dict.fromkeys(printed, "2.2.2, assumption"))


def _checked(h: tuple[float, ...]) -> tuple[float, ...]:
    """Steps from long to short."""
    for dt in h:
        if abs(COMPARED / dt - round(COMPARED / dt)) > 1e-6 * COMPARED / dt:
            raise SettingError(f"h: expected steps of which {COMPARED:g} s is a multiple, got {dt:g}")
    if len(set(h)) < 2:
        raise SettingError(f"h: expected at least two steps, for an order, got {len(set(h))}")
    return tuple(sorted(set(h), reverse=True))


def solution(model: Model, springs: SpringSet, times: np.ndarray) -> np.ndarray:
    """Angles and rates (times, 2 n) by DOP853 on the forward dynamics of the tree in space, nothing of G's schemes."""

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:LINKS].copy(), y[LINKS:].copy()
        return np.concatenate([v, forward_dynamics(model, q, v, spring_forces(model, springs, q), gravity=GRAVITY)])

    start = np.concatenate([START, AT_REST])
    found = solve_ivp(slope, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
    return np.asarray(found.y.T)


def scheme_errors(
    model: Model, springs: SpringSet, target: np.ndarray, steps: tuple[float, ...] = STEPS
) -> dict[str, np.ndarray]:
    """Largest error of an angle at 5 s for each step, by scheme."""
    chain = planar_chain(model, springs, GRAVITY)
    found: dict[str, list[float]] = {name: [] for name in (*(scheme.name for scheme in SCHEMES), FLAGSHIP)}
    for dt in steps:
        for scheme in SCHEMES:
            run = scheme.start(chain, dt)
            run.step(round(COMPARED / dt))
            found[scheme.name].append(np.abs(run.q - target[:LINKS]).max())
        flagship = LieVariational(model, dt, gravity=GRAVITY, springs=springs)
        flagship.reset(START, AT_REST)
        flagship.step(steps=round(COMPARED / dt))
        found[FLAGSHIP].append(np.abs(flagship.q - target[:LINKS]).max())
    return {name: np.array(values) for name, values in found.items()}


def segment_lengths(model: Model, motion: np.ndarray) -> np.ndarray:
    """Lengths s_i (times, n) of the segments: those of the mono-articular springs, also for the spring through all."""
    each = springs_of(model, "mono")
    return np.array([spring_lengths(model, each, state[:LINKS].copy()) for state in motion])


def _notes() -> list[str]:
    return [
        "Errors at 5 s are those of the shortest step. “Variational” is G's scheme as printed, “reference” the "
        "midpoint rule in joint angles, “lie_variational” the flagship of this project.",
        "G compares energies only. An energy can be conserved to rounding on a wrong path (see goetz-energy), so every "
        "scheme is compared here with an ODE solver on forward dynamics in space, which shares nothing with them.",
        "The springs are those of mbsim_ros.elastic: two points each for the mono-articular ones, four for the spring "
        "that slides through the fastenings, with one tension along all of it, (2.4).",
        "(2.8) lacks its sum. G assumes all springs to be taut always; with these parameters each segment is.",
        "In G the reference in joint angles has no springs, being “rather complicated” there; here it has them.",
        "The flagship runs the same model in space, with springs at the midpoint and nodal weight.",
    ]


def _error_figure(errors: dict[str, dict[str, np.ndarray]], steps: tuple[float, ...]) -> Figure:
    figure, axes = panels(1, 3, size=(17.0, 6.4), title="Largest error of an angle at 5 s", sharey=True)
    guide = np.array(steps)
    for axis, (kind, found) in zip(axes[0], errors.items(), strict=True):
        for i, (name, values) in enumerate(found.items()):
            # open and larger where two schemes nearly fall together
            style = {"markersize": 11, "markerfacecolor": "none"} if name == GAUSS.name else {"markersize": 6}
            axis.loglog(steps, values, marker="os^vDX"[i], color=COLOURS[i], label=name, **style)
        axis.loglog(guide, 5e-8 * (guide / guide[-1]) ** 2, color="#999999", linestyle=":", label="order 2")
        axis.set_xticks(steps, [f"{1e3 * dt:g}" for dt in steps])
        axis.minorticks_off()
        axis.set_title(NAMES[kind], loc="left")
        axis.set_xlabel("step Δt [ms]")
    axes[0, 0].set_ylabel("error [rad]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=12)
    return figure


def _motion_figure(motions: dict[str, np.ndarray]) -> Figure:
    figure, axes = panels(LINKS, title="Angles of the joints from the same start", sharex=True)
    times = np.linspace(0.0, SHOWN, 801)
    for i in range(LINKS):
        for kind, motion in motions.items():
            axes[i, 0].plot(times, motion[:, i], label=NAMES[kind])
        place = {"loc": "upper right", "ncols": 3} if i == 0 else {}
        label(axes[i, 0], "time [s]" if i == LINKS - 1 else "", f"φ{'₁₂₃'[i]} [rad]", legend=i == 0, **place)
    axes[0, 0].margins(y=0.25)
    return figure


def _length_figure(lengths: dict[str, np.ndarray]) -> Figure:
    figure, axes = panels(len(lengths), title="Lengths of the springs' segments", sharex=True)
    times = np.linspace(0.0, SHOWN, 801)
    for axis, (kind, found) in zip(axes[:, 0], lengths.items(), strict=True):
        for i in range(LINKS):
            axis.plot(times, found[:, i], label=f"s{'₁₂₃'[i]}")
        axis.axhline(REST_LENGTH, color="#555555", linestyle=":", label="rest length s₀")
        axis.set_ylim(0.0, 2.1)
        axis.set_title(NAMES[kind], loc="left")
        label(axis, "time [s]" if kind == "multi" else "", "length [m]", loc="upper right", ncols=4)
    return figure
