# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W 2.4.1, Table 2.1: a free rigid body by the quaternion integrator at four steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import label, panels
from mbsim_ros.experiments.parameters import ExperimentParameter, SettingError
from mbsim_ros.experiments.timing import MACHINE, cpu_seconds, this_machine
from mbsim_ros.experiments.wendlandt.step_figures import against_step, cpu_figure
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder

TITLE = "Free rigid body with quaternions: errors against the step"
SOURCE = "W 2.4.1, Table 2.1, Figures 2.2 to 2.6"
MOMENTS = np.array([1.0, 2.0, 3.0])  # kg m²
RATE = np.array([0.0, 3.0, 4.0])  # rad/s
STEPS = (1e-4, 1e-3, 1e-2, 1e-1)
FIRST_STEP = 1e-5  # of the Euler step and of the run that gives the second point
DURATION = 30.0
SAMPLE = 0.1  # s, where quaternions are compared
PRINTED_ERRORS = {
    "quaternion error": [0.0, 3.960e-6, 3.997e-4, 3.648e-2],
    "energy error [J]": [6.256e-7, 6.274e-5, 6.274e-3, 6.217e-1],
    "momentum error [kg m²/s]": [1.671e-7, 1.687e-5, 1.687e-3, 1.665e-1],
}
CPU_TIME, PRINTED_CPU_TIME = "CPU time [s]", [97.620, 9.905, 1.397, 0.301]
PRINTED_RANGES = {
    1e-4: ("energy range at h = 1e-4 s [J]", [32.999999349, 32.999999359]),
    1e-3: ("energy range at h = 1e-3 s [J]", [32.999937235, 32.999937236]),
}
WHERE = {
    **dict.fromkeys((*PRINTED_ERRORS, CPU_TIME), "Table 2.1"),
    CPU_TIME: "Table 2.1, on an SGI Indy, R4600 at 100 MHz",
    **{key: "2.4.1, below Figure 2.5" for key, _ in PRINTED_RANGES.values()},
}
PARAMETERS = (
    ExperimentParameter("h", STEPS, "s", FIRST_STEP, SAMPLE, "steps; each divides 0.1 s, the finest is the standard"),
    ExperimentParameter("duration", DURATION, "s", 0.1, 1000.0, "of each run"),
)

BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


@dataclass
class RigidBodyRun:
    """One step size: quaternions (steps + 1, 4), energy and spatial momentum of every step."""

    h: float
    q: np.ndarray
    energy: np.ndarray
    momentum: np.ndarray


def run(progress: Progress, *, h: tuple[float, ...] = STEPS, duration: float = DURATION) -> Outcome:
    """Each step over 30 s."""
    steps = _checked(h)
    standard, runs = simulate(progress, steps, duration)
    every = [round(SAMPLE / each.h) for each in runs]
    true = runs[0].q[:: every[0]]
    errors = {
        "quaternion error": [_error(each.q[::k], true) for each, k in zip(runs, every, strict=True)],
        "energy error [J]": [_error(each.energy[:, None], standard.energy) for each in runs],
        "momentum error [kg m²/s]": [_error(each.momentum, standard.momentum) for each in runs],
    }
    spread = [float(np.abs(each.momentum - each.momentum.mean(axis=0)).max()) for each in runs]
    spent = [_spent(each) for each in runs]
    metrics: dict[str, object] = {"step h [s]": list(steps), CPU_TIME: spent, **errors}
    for each in runs:
        if each.h in PRINTED_RANGES:
            metrics[PRINTED_RANGES[each.h][0]] = [float(each.energy.min()), float(each.energy.max())]
    metrics["momentum: largest distance from its mean [kg m²/s]"] = spread
    if len(steps) > 2:
        first, last = errors["quaternion error"][1], errors["quaternion error"][-1]
        metrics["order of the quaternion error"] = float(np.log10(last / first)) / float(np.log10(steps[-1] / steps[1]))
    printed: dict[str, object] = {}
    if steps == STEPS:
        printed = {CPU_TIME: PRINTED_CPU_TIME, **PRINTED_ERRORS, **dict(PRINTED_RANGES.values())}
    parameters = {
        "moments of inertia [kg m²]": MOMENTS, "body rate [rad/s]": RATE, "duration [s]": duration,
        "first step [s]": FIRST_STEP, MACHINE: this_machine(),
    }  # fmt: skip
    figures = {
        "errors": against_step(steps, errors, STEPS, PRINTED_ERRORS, ("2.3", "2.5", "2.6")),
        "motion": _motion(runs),
        "cpu-time": cpu_figure("Figure 2.2", steps, {"W's scheme": spent}, STEPS, {"W's scheme": PRINTED_CPU_TIME}),
    }
    return Outcome(parameters, metrics, printed, _NOTES, figures, WHERE if printed else {})


_NOTES = [
    "The Euler step that starts the run is normalised: only that gives the printed energies (32.999999979 J).",
    "Quaternions are compared every 0.1 s from t = 0 on (301 samples), which W does not say.",
    "At h = 1e-4 s the third digit of the printed energy and the fourth of the printed momentum are rounding: W "
    "reports energies that wander by 1e-8 J and momenta by 1e-9 there. In 80-bit arithmetic the errors are "
    "6.2122e-7 J and 1.67001e-7 kg m²/s, which is what this integrator finds in 64 bits, because its momenta do "
    "not suffer from the rounding of the quaternions.",
    "The first step is of first order in 1e-5 s: the momentum has an x component of 6e-5 where it should be 0.",
    "CPU times are without the run that gives the second point, as W's are: medians of three runs of the general "
    "multibody integrator, which W's was not.",
]


def _spent(run: RigidBodyRun) -> float:
    """CPU time [s] of a run."""
    return cpu_seconds(lambda: path(run.h, run.q[0], run.q[1], len(run.q) - 1), 3)


def _checked(h: tuple[float, ...]) -> tuple[float, ...]:
    """Steps in their order, each a part of the time between samples and so long that there is a second point."""
    for step in h:
        for what, count in (
            (f"divides {SAMPLE:g} s", SAMPLE / step),
            (f"is a multiple of {FIRST_STEP:g} s", step / FIRST_STEP),
        ):
            if abs(count - round(count)) > 1e-6 * count:
                raise SettingError(f"h: expected a step that {what}, got {step:g}")
    return tuple(sorted(h))


def simulate(
    progress: Progress, steps: tuple[float, ...] = STEPS, duration: float = DURATION
) -> tuple[RigidBodyRun, list[RigidBodyRun]]:
    """The run of the Euler step alone, which is the standard for energy and momentum, and those of all steps."""
    start = np.array([1.0, 0.0, 0.0, 0.0])
    second = start + FIRST_STEP * quaternion.multiply(start, [0.0, *(0.5 * RATE)])
    second /= np.linalg.norm(second)
    standard = _run_of(FIRST_STEP, np.array([start, second]))
    progress(0.0, f"h = {FIRST_STEP:g} s")
    fine = path(FIRST_STEP, start, second, round(max(steps) / FIRST_STEP))
    runs = []
    for number, h in enumerate(steps):
        progress((number + 1) / (len(steps) + 1), f"h = {h:g} s")
        runs.append(_run_of(h, path(h, start, fine[round(h / FIRST_STEP)], round(duration / h))))
    progress(1.0, "done")
    return standard, runs


def path(h: float, first: np.ndarray, second: np.ndarray, steps: int) -> np.ndarray:
    """Quaternions (steps + 1, 4) from the first two."""
    body = ModelBuilder("body").link("body", mass=1.0, inertia=MOMENTS).build("floating")
    integrator = QuaternionVariational(body, h, gravity=(0.0, 0.0, 0.0))
    integrator.start_between([0.0, 0.0, 0.0, *first], [0.0, 0.0, 0.0, *second])
    return np.concatenate([[first, second], integrator.track(steps - 1)[:, 0, 3:]])


def _run_of(h: float, q: np.ndarray) -> RigidBodyRun:
    """Energy ½ ωᵀIω and momentum −h D₂L in the world of every step."""
    w, x, y, z = q[:-1].T
    rows = np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])  # Vec(q̄ * …)
    rate = 2.0 / h * np.einsum("aks,sk->sa", rows, q[1:])
    turning = MOMENTS * rate
    # 2 q_{k+1} * (0, Iω) is the force on quaternions; a turn of the world by η moves q by η * q / 2
    u, v = q[1:, :1], q[1:, 1:]
    scalar, vector = -(v * turning).sum(1, keepdims=True), u * turning + np.cross(v, turning)
    momentum = w[:, None] * vector - scalar * q[:-1, 1:] - np.cross(vector, q[:-1, 1:])
    return RigidBodyRun(h, q, 0.5 * (rate * turning).sum(axis=1), momentum)


def _error(values: np.ndarray, standard: np.ndarray) -> float:
    """W (2.53)."""
    return float(np.linalg.norm(values - standard, axis=1).mean() / values.shape[1])


def _motion(runs: list[RigidBodyRun]) -> Figure:
    figure, axes = panels(2, title="Figure 2.4: component q_y; and the energy", sharex=True, size=(12.0, 6.4))
    for each, style in ((runs[0], "-"), (runs[-1], "--"))[: len(runs)]:
        every = max(1, round(0.01 / each.h))
        axes[0, 0].plot(np.arange(len(each.q))[::every] * each.h, each.q[::every, 2], style, label=f"h = {each.h:g} s")
    label(axes[0, 0], "", "q_y", **BESIDE)
    for each in runs[1:] or runs:
        shown = np.abs(each.energy - each.energy[0])
        every = max(1, round(0.1 / each.h))
        time = (np.arange(len(shown)) + 0.5)[::every] * each.h
        axes[1, 0].semilogy(time, np.maximum(shown[::every], 1e-14), label=f"h = {each.h:g} s")
    label(axes[1, 0], "time [s]", "|E − E at the start| [J],\n 1e-14 and less as 1e-14", **BESIDE)
    return figure
