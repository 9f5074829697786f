# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's simulation 1: a body that was kicked comes to rest in its visco-elastic feedback."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import PRINTED, label, panels
from mbsim_ros.experiments.hemami import in_simulation
from mbsim_ros.experiments.hemami.body import ANGLES, PLACE, STATES, SUPPORT, VELOCITY, HemamiBody
from mbsim_ros.experiments.hemami.parameters import (
    ALPHA,
    CONTACT,
    GRAVITY,
    KICK,
    MASS,
    MOMENTS,
    STIFFNESS,
    body,
    increase,
    kicked,
    nine_states,
    settling,
    solution,
)
from mbsim_ros.experiments.parameters import ExperimentParameter

TITLE = "One rigid body after a kick"
SOURCE = "Hemami, sections 2, 3.1 and 4.1, Figures 2 to 4"

DURATION = 4.0  # s
COMPARED = 0.4  # s of the run in Simulation
TIMES = np.linspace(0.0, DURATION, 4001)
AT_REST, POINT_AT_REST = "V0 = 0", "VC0 = 0"
PARAMETERS = (ExperimentParameter("alpha", ALPHA, "", 0.01, 2.0, "α, by which H amplifies Φ (remark 3)"),)


def run(progress: Progress, *, alpha: float = ALPHA) -> Outcome:
    """Transients from two starts, their Lyapunov functions, and the other state spaces."""
    one = body(alpha=alpha)
    centre, point = kicked(one), one.to_point(kicked(one))
    point[VELOCITY] = 0.0
    starts = {AT_REST: one.to_point(centre), POINT_AT_REST: point}
    metrics: dict[str, object] = {}
    runs, functions = {}, {}
    for k, (name, start) in enumerate(starts.items()):
        progress(0.3 * k, f"the transient, H (21), (22), {name}")
        found = solution(lambda y: with_transfer(one, y), np.append(start, 0.0), TIMES)
        z = np.array([one.from_point(y) for y in found[:, :STATES]])
        v_T, v_R = np.array([one.energies(each) for each in z]).T
        eps = found[:, STATES]
        metrics.update({f"{name}: {key}": value for key, value in _of_run(one, z, found, v_T, v_R).items()})
        runs[name], functions[name] = z, (v_T + v_R - eps, eps)
        if name == AT_REST:
            others = _other_states(found, alpha)
    progress(0.6, "other states, other feedback")
    metrics.update(others)
    metrics.update(_variants())
    progress(0.8, "the same in Simulation")
    exact = solution(one.rates, kicked(one), in_simulation.sampled(COMPARED))
    checked = in_simulation.check(in_simulation.simulation_1, exact, range(ANGLES.start, ANGLES.stop))
    metrics.update(checked.metrics("angles [rad]"))
    printed = {
        f"{AT_REST}: time until angles and place stay within 1 % [s]": "about 2",
        f"{AT_REST}: sum of all increases of v [J]": "v̇ ≤ 0",
        f"{POINT_AT_REST}: sum of all increases of v [J]": "v̇ ≤ 0",
    }
    parameters = {
        "mass [kg]": MASS, "moments of inertia [kg m²]": MOMENTS, "gravity [m/s²]": GRAVITY, "R [m]": CONTACT,
        "KT_a = KT_b [N/m]": STIFFNESS, "KR_a = KR_b [N m/rad]": STIFFNESS, "α": alpha, "W0 [rad/s]": KICK,
        AT_REST: "the centre of mass begins at rest", POINT_AT_REST: "the contact point begins at rest",
    }  # fmt: skip
    figures = {
        "lyapunov": _figure(one, runs, functions),
        "translation": nine_states("Translation of the centre of mass after a kick", TIMES, runs, rotation=False),
        "rotation": nine_states("Rotation after a kick", TIMES, runs, rotation=True),
        "simulation": in_simulation.figure(
            "The kicked body in Simulation", "largest difference of angles [rad]", checked, TIMES, functions[AT_REST][0]
        ),
    }
    return Outcome(parameters, metrics, printed, _NOTES, figures)


def _of_run(one: HemamiBody, z: np.ndarray, found: np.ndarray, v_T: np.ndarray, v_R: np.ndarray) -> dict[str, object]:
    eps = found[:, STATES]
    v = v_T + v_R - eps
    return {
        "v at the start [J]": float(v[0]),
        "sum of all increases of v [J]": increase(v),
        "v after 2 s [J]": float(v[TIMES.searchsorted(2.0)]),
        "v after 4 s [J]": float(v[-1]),
        "largest difference of the slope of v from −(the power in the dampers), relative": slope_error(one, z, v),
        "time until the angles stay within 1 % [s]": settling(TIMES, z[:, ANGLES]),
        "time until angles and place stay within 1 % [s]": _settled(one, z),
        "largest angles [rad]": np.abs(z[:, ANGLES]).max(axis=0),
        "XC, VC, D, Θ, W, Φ, ε after 0.5 s": found[TIMES.searchsorted(0.5)],
        "sum of all increases of v_T + v_R, without ε [J]": increase(v_T + v_R),
        "sum of all increases of v with XC in (24) as printed [J]": increase(_printed(one, z, found) + v_R - eps),
    }


def with_transfer(one: HemamiBody, y: np.ndarray) -> np.ndarray:
    """Rates (19,) of H (21) and of ε, H (14)."""
    return np.append(one.point_rates(y[:STATES]), one.transferred_power(one.from_point(y[:STATES])))


def slope_error(one: HemamiBody, z: np.ndarray, v: np.ndarray) -> float:
    """How far differences of v of fourth order are from −dissipation, relative to the largest."""
    h = TIMES[1] - TIMES[0]
    slopes = (8.0 * (v[3:-1] - v[1:-3]) - (v[4:] - v[:-4])) / (12.0 * h)
    losses = np.array([one.dissipation(each) for each in z[2:-2]])
    return float(np.abs(slopes + losses).max() / losses.max())


def _settled(one: HemamiBody, z: np.ndarray) -> float:
    """Of angles and place; a place that does not move at all has nothing to settle."""
    place = z[:, PLACE] - one.sagging()[0]
    of_angles = settling(TIMES, z[:, ANGLES])
    return max(of_angles, settling(TIMES, place)) if np.abs(place).max() > 1e-6 else of_angles


def _printed(one: HemamiBody, z: np.ndarray, found: np.ndarray) -> np.ndarray:
    """v_T (n,) with XC and XC0 where (24) has them: the point R in place of the centre of mass."""
    law, (X0, D0) = one.law, one.sagging()
    across = found[:, PLACE] - z[:, SUPPORT] - (X0 + one.R - D0)
    below = z[:, SUPPORT] - D0
    elastic = np.einsum("ni,ij,nj->n", across, law.KTa, across) + np.einsum("ni,ij,nj->n", below, law.KTb, below)
    return np.asarray(0.5 * (one.mass * (z[:, VELOCITY] ** 2).sum(axis=1) + elastic))


def _other_states(found: np.ndarray, alpha: float) -> dict[str, object]:
    """The same motion in the states of H (1), (3), and for R = 0 in those of (5)–(9)."""
    times = TIMES[TIMES <= 1.0][::5]
    one, centred = body(alpha=alpha), body(R=np.zeros(3), alpha=alpha)
    direct = solution(one.rates, kicked(one), times, 1e-10)
    by_point = np.array([one.from_point(y) for y in found[TIMES <= 1.0][::5, :STATES]])
    plain = solution(centred.rates, kicked(centred), times, 1e-10)
    by_forces = solution(centred.force_rates, centred.to_forces(kicked(centred)), times, 1e-10)
    outputs = np.array([centred.from_forces(y) for y in by_forces])
    return {
        "largest difference between the states of (21) and of (1), (3)": float(np.abs(direct - by_point).max()),
        "largest difference between the states of (5)–(9) and of (1), (3), R = 0": float(np.abs(plain - outputs).max()),
    }


def _variants() -> dict[str, float]:
    times = TIMES[::4]
    result = {}
    for name, one in (("feedback of the contact point, (11), (12)", body(follows="point")), ("α = 1", body(alpha=1.0))):
        z = solution(one.rates, kicked(one), times, 1e-8)
        result[f"{name}: time until the angles stay within 1 % [s]"] = settling(times, z[:, ANGLES])
        result[f"{name}: largest |Θ|, |Φ| after 4 s [rad]"] = float(
            np.abs(z[-1][[*range(9, 12), *range(15, 18)]]).max()
        )
    return result


def _figure(
    one: HemamiBody, runs: dict[str, np.ndarray], functions: dict[str, tuple[np.ndarray, np.ndarray]]
) -> Figure:
    figure, axes = panels(2, 2, title="Lyapunov function and transferred energy", sharex=True, size=(13.0, 8.0))
    shown = TIMES <= 2.5
    t = TIMES[shown]
    for name, z in runs.items():
        v, eps = functions[name]
        axes[0, 0].plot(t, v[shown], label=name)
        axes[1, 0].plot(t, [-one.dissipation(each) for each in z[shown]], label=name)
        axes[0, 1].plot(t, eps[shown], label=name)
        axes[1, 1].plot(t, [one.transferred_power(each) for each in z[shown]], label=name)
    axes[1, 0].axhline(0.0, **PRINTED, label="printed: v̇ ≤ 0")
    for axis, name in zip(axes.ravel(), ("v [J]", "ε [J]", "v̇ [W]", "ε̇ [W]"), strict=True):
        label(axis, "time [s]", name, loc="center right" if axis is axes[1, 0] else "upper center")
    axes[0, 0].axvline(2.0, color=PRINTED["color"], linestyle=":", linewidth=1.6)
    axes[0, 0].annotate(
        "printed: at rest\nin about 2 s",
        (1.97, 0.45),
        xycoords=("data", "axes fraction"),
        ha="right",
        color="#555555",
        fontsize=12,
    )
    return figure


_NOTES = [
    "KT_a, KT_b are printed as Diag(400, 400, 320). The printed biases XC0 = −0.67 m, D0 = −0.125 m need "
    "KT_z = 3280 N/m exactly: Diag(4100, 4100, 3280) is used.",
    "(11), (21) have −N where (1) has +N; with −N the body tumbles within 0.03 s. +N is used.",
    "(24) must have X in place of XC, as the feedback (22) has, and (13) must have α: Θ − αΦ and α Φ'KR_bΦ. Then "
    "v̇ = −V'LT_aV − Ḋ'LT_bḊ − W'LR_aW − α Φ̇'LR_bΦ̇.",
    "Neither V0 nor VC0 is printed. With V0 = 0 the centre of mass never moves, for its feedback does not know of the "
    "rotation; with VC0 = 0 it begins with V0 = A Ř W0 and swings for longer than the two seconds that are printed.",
    "Remark 3 says that α = 0.2 makes the transient decay faster. It does not: with α = 1 the angles settle sooner.",
    "The moments 10, 8, 0.4 kg m² are those of no real body: the largest is larger than the sum of the others.",
    "(8) has Ẋ for V̇ and W for V; (22) has A R' and A RR W for A R and A Ř W.",
]
