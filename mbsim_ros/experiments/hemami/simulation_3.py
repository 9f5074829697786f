# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's simulation 3: two bodies, kicked in opposite ways, that a spring and a damper couple."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.hemami import in_simulation
from mbsim_ros.experiments.hemami.body import ANGLES, PLACE, STATES, TURN
from mbsim_ros.experiments.hemami.coupled import LENGTH, PRINTED_SIGMAS, SIGMAS, CoupledBodies
from mbsim_ros.experiments.hemami.parameters import (
    ALPHA,
    CONTACT,
    KICK,
    MASS,
    MOMENTS,
    STIFFNESS,
    body,
    increase,
    nine_states,
    settling,
    solution,
)
from mbsim_ros.experiments.parameters import ExperimentParameter

TITLE = "Two coupled rigid bodies after kicks"
SOURCE = "Hemami, sections 3.3 and 4.3, Figures 6 to 10"

COUPLING_STIFFNESS, COUPLING_DAMPING = np.full(3, 2000.0), np.full(3, 200.0)  # N/m, N s/m
DURATION = 4.0  # s
COMPARED = 0.4  # s of the run in Simulation
TIMES = np.linspace(0.0, DURATION, 2001)
PARAMETERS = (
    ExperimentParameter("stiffness", 2000.0, "N/m", 0.0, 20000.0, "K_c of the coupling"),
    ExperimentParameter("damping", 200.0, "N s/m", 0.0, 2000.0, "L_c of the coupling"),
)


def run(progress: Progress, *, stiffness: float = 2000.0, damping: float = 200.0) -> Outcome:
    """The transient and four candidates for its Lyapunov function."""
    progress(0.0, "the transient, H (16)")
    pair = coupled_bodies(np.full(3, stiffness), np.full(3, damping))
    y = solution(pair.rates, start(), TIMES)
    progress(0.7, "energies")
    energies = np.array([pair.energies(each) for each in y])
    own, coupling = energies.T
    v_12 = own - y[:, SIGMAS][:, 0] + y[:, SIGMAS][:, 1]  # H (19)
    printed_v_12 = own - y[:, PRINTED_SIGMAS][:, 0] + y[:, PRINTED_SIGMAS][:, 1]
    first, second = y[:, :STATES], y[:, STATES : 2 * STATES]
    metrics: dict[str, object] = {
        "v = energies of the two bodies at the start [J]": float(own[0]),
        "v after 2 s [J]": float(own[TIMES.searchsorted(2.0)]),
        "v after 4 s [J]": float(own[-1]),
        "sum of all increases of v, without the coupling's energy [J]": increase(own),
        "sum of all increases of v with the coupling's energy [J]": increase(own + coupling),
        "sum of all increases of v12, (19), with Z in (18) [J]": increase(v_12),
        "sum of all increases of v12, (19), with Ż in (18) as printed [J]": increase(printed_v_12),
        "largest angles [rad]": np.abs(np.concatenate([first[:, ANGLES], second[:, ANGLES]])).max(axis=0),
        "largest way of body 1 [m]": np.abs(first[:, PLACE]).max(axis=0),
        "time until the angles of both stay within 1 % [s]": settling(
            TIMES, np.hstack([first[:, ANGLES], second[:, ANGLES]])
        ),
        "time until the places of both stay within 1 % [s]": settling(
            TIMES, np.hstack([first[:, PLACE], second[:, PLACE]])
        ),
        "largest entry of the 36 states after 4 s": float(np.abs(y[-1, : 2 * STATES]).max()),
    }
    progress(0.8, "the same in Simulation")
    exact = solution(pair.rates, start(), in_simulation.sampled(COMPARED))[:, : 2 * STATES]
    angles = range(ANGLES.start, ANGLES.stop)
    checked = in_simulation.check(in_simulation.simulation_3, exact, [*angles, *(STATES + k for k in angles)])
    metrics.update(checked.metrics("angles of both [rad]"))
    parameters = {
        "mass of each [kg]": MASS, "moments of inertia [kg m²]": MOMENTS, "KT_a = KT_b [N/m]": STIFFNESS, "α": ALPHA,
        "K_c [N/m]": pair.stiffness, "L_c [N s/m]": pair.damping, "S_1 = S_2 [m]": CONTACT,
        "W of body 1 and 2 [rad/s]": [-KICK, KICK], "gravity": "none", "R_1 = R_2": "0",
    }  # fmt: skip
    figures = {
        "lyapunov": _figure(own, coupling),
        "rotation": nine_states(
            "Rotation of two coupled bodies", TIMES, {"body 1": first, "body 2": second}, rotation=True, until=1.5
        ),
        "translation": nine_states(
            "Translation of two coupled bodies", TIMES, {"body 1": first, "body 2": second}, rotation=False, until=1.5
        ),
        "simulation": in_simulation.figure(
            "The coupled bodies in Simulation", "largest difference of angles [rad]", checked, TIMES, own + coupling
        ),
    }
    return Outcome(parameters, metrics, {}, _NOTES, figures)


def coupled_bodies(stiffness: np.ndarray = COUPLING_STIFFNESS, damping: np.ndarray = COUPLING_DAMPING) -> CoupledBodies:
    """The two bodies of simulation 3."""
    one = body(R=np.zeros(3), gravity=np.zeros(3))
    return CoupledBodies(one, one, CONTACT, CONTACT, stiffness, damping)


def start() -> np.ndarray:
    """Y (40,) at the start: at rest but for the kicks."""
    y = np.zeros(LENGTH)
    y[TURN] = -KICK
    y[STATES : 2 * STATES][TURN] = KICK
    return y


def _figure(own: np.ndarray, coupling: np.ndarray) -> Figure:
    figure, axes = panels(2, title="Energy of two coupled bodies", sharex=True, size=(9.5, 7.5))
    shown = TIMES <= 2.0
    t = TIMES[shown]
    axes[0, 0].plot(t, own[shown], label="v: the two bodies")
    axes[0, 0].plot(t, (own + coupling)[shown], color=COLOURS[1], linewidth=1.2, label="with the coupling's energy")
    axes[0, 0].set_yscale("log")
    axes[1, 0].plot(t, np.gradient(own, TIMES)[shown], label="v̇: the two bodies")
    axes[1, 0].plot(
        t,
        np.gradient(own + coupling, TIMES)[shown],
        color=COLOURS[1],
        linewidth=1.2,
        label="with the coupling's energy",
    )
    axes[1, 0].axhline(0.0, **PRINTED, label="printed: v̇ ≤ 0")
    axes[1, 0].set_yscale("symlog", linthresh=1.0)
    label(axes[0, 0], "", "v [J]")
    label(axes[1, 0], "time [s]", "v̇ [W]", loc="lower right")
    return figure


_NOTES = [
    "S_1 and S_2, where the coupling acts, are not printed: both are (0, 0, −0.42) m. KT as in simulation 1 with the "
    "erratum.",
    "(18) must have Z'GΔ, the power of the coupling; with Ż as printed v12 rises by more than a kilojoule.",
    "The text takes the energies of the two bodies without the coupling's for a Lyapunov function. It is none: it "
    "rises while the coupling gives back what it has stored. With the coupling's energy, or as v12 with σ, it "
    "never rises.",
    "The captions of Figures 7 to 10 have rotation and translation the other way round than the text.",
]
