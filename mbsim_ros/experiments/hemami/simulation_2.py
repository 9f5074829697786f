# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's simulation 2: a body whose springs throw it into the air, again and again, lower each time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.hemami import in_simulation
from mbsim_ros.experiments.hemami.body import PLACE, SUPPORT, TURN, VELOCITY, HemamiBody
from mbsim_ros.experiments.hemami.hopping import Hops, hop
from mbsim_ros.experiments.hemami.parameters import GRAVITY, HOPPING_MASS, hopping_body
from mbsim_ros.experiments.parameters import ExperimentParameter

TITLE = "A body that hops on its springs"
SOURCE = "Hemami, section 4.2, Figure 5"

PRESSED = -0.25  # m, X at the start, at rest
DURATION = 5.0  # s
COMPARED = 1.2  # s of the run in Simulation: the first hop and what follows it
SAMPLING = 0.002  # s
SPIN_DURATION = 2.0  # s
SPIN = np.array([2.0, 4.0, -2.0])  # rad/s, of the run that also turns
PARAMETERS = (
    ExperimentParameter(
        "start", PRESSED, "m", -0.4, -0.05, "X at the start, pressed down and at rest, which H does not print"
    ),
)


def run(progress: Progress, *, start: float = PRESSED) -> Outcome:
    """Hop upright, and once more while turning."""
    body = hopping_body()
    progress(0.0, "hops")
    found = hop(body, pressed(body, start), DURATION, SAMPLING)
    progress(0.6, "hops of a body that turns")
    turning = hopping_body(R=np.zeros(3))
    spun = pressed(turning, start)
    spun[TURN] = SPIN
    other = hop(turning, spun, SPIN_DURATION, SAMPLING)
    heights = [height for _, height in found.apexes]
    progress(0.8, "the same in Simulation")
    every = round(in_simulation.SAMPLING / SAMPLING)
    compared = found.z[: every * len(in_simulation.sampled(COMPARED)) : every]
    checked = in_simulation.check(in_simulation.simulation_2, compared, [PLACE.start + 2])
    metrics: dict[str, object] = {
        "heights of the centre of mass at the apexes [m]": heights,
        "times of the apexes [s]": [time for time, _ in found.apexes],
        "times of lift-off [s]": found.lift_offs,
        "times of touch-down [s]": found.touch_downs,
        "change of kinetic and potential energy in flight, largest [J]": _flight_change(body, found),
        "height of the centre of mass in the end [m]": float(found.z[-1][PLACE][2]),
        "height at which it stands at rest [m]": float(body.sagging()[0][2]),
        "turning body: heights at the apexes [m]": [height for _, height in other.apexes],
        "turning body: largest increase of rotational energy in flight [J]": _rotational_increase(turning, other),
        **checked.metrics("height of the centre of mass [m]"),
    }
    printed = {"change of kinetic and potential energy in flight, largest [J]": 0.0}
    parameters = {
        "mass [kg]": HOPPING_MASS, "KT_a = KT_b [N/m]": (41000.0, 41000.0, 32800.0),
        "LT_a = LT_b [N s/m]": (200.0, 200.0, 140.0), "gravity [m/s²]": GRAVITY, "X at the start [m]": start,
        "contact": "while the force is upwards; touch-down at X = D", "W of the turning body [rad/s]": SPIN,
    }  # fmt: skip
    figures = {
        "hops": _figure(body, found),
        "simulation": in_simulation.figure(
            "The hopping body in Simulation", "largest difference of height [m]", checked, found.t,
            np.array([_energy(body, z, stands) for z, stands in zip(found.z, found.stands, strict=True)]),
        ),
    }  # fmt: skip
    return Outcome(parameters, metrics, printed, _NOTES, figures)


def pressed(body: HemamiBody, start: float = PRESSED) -> np.ndarray:
    """Z (18,) at rest with X pressed down to a height [m] and D in balance between the two springs."""
    z = np.zeros(18)
    z[PLACE][2] = start
    z[SUPPORT] = np.linalg.solve(body.law.KTa + body.law.KTb, body.law.KTa @ z[PLACE])
    return z


def _energy(body: HemamiBody, z: np.ndarray, stands: bool) -> float:
    """v: all energy over that at rest [J]; in the air the upper spring is slack."""
    law, (X0, D0) = body.law, body.sagging()
    stored = law.place_energy(z[PLACE] if stands else z[SUPPORT], z[SUPPORT]) - law.place_energy(X0, D0)
    return float(stored + 0.5 * body.mass * z[VELOCITY] @ z[VELOCITY] - body.mass * body.gravity @ (z[PLACE] - X0))


def _flights(found: Hops) -> list[np.ndarray]:
    """Indices of the samples of each flight."""
    edges = np.nonzero(np.diff(found.stands.astype(int)))[0] + 1
    return [part for part in np.split(np.arange(len(found.t)), edges) if not found.stands[part[0]]]


def _flight_change(body: HemamiBody, found: Hops) -> float:
    height, speed = found.z[:, PLACE][:, 2], found.z[:, VELOCITY]
    energies = 0.5 * body.mass * (speed**2).sum(axis=1) - body.mass * body.gravity[2] * height
    return max(float(np.ptp(energies[part])) for part in _flights(found))


def _rotational_increase(body: HemamiBody, found: Hops) -> float:
    energies = np.array([body.energies(z)[1] for z in found.z])
    return max(float(np.diff(energies[part]).max(initial=0.0)) for part in _flights(found))


def _figure(body: HemamiBody, found: Hops) -> Figure:
    figure, axes = panels(3, title="Hops of one rigid body", sharex=True, size=(9.5, 9.5))
    columns = ((PLACE, "height X₃ [m]"), (VELOCITY, "velocity V₃ [m/s]"), (SUPPORT, "support D₃ [m]"))
    for axis, (entries, name) in zip(axes[:, 0], columns, strict=True):
        axis.plot(found.t, found.z[:, entries][:, 2])
        for part in _flights(found):
            axis.axvspan(found.t[part[0]], found.t[part[-1]], color=COLOURS[4], alpha=0.15, linewidth=0.0)
        label(axis, "time [s]" if entries is SUPPORT else "", name, legend=False)
    axis = axes[0, 0]
    for time, height in found.apexes:
        if height < 0.03:  # its label would lie on the one before
            continue
        axis.annotate(f"{height:.3f} m", (time, height), (0, 5), textcoords="offset points", ha="center", fontsize=11)
    axis.axhline(body.sagging()[0][2], **PRINTED, label="at rest under its weight")
    axis.set_ylim(top=1.65)
    axis.axvspan(-1.0, -0.9, color=COLOURS[4], alpha=0.15, label="in the air")
    axis.set_xlim(0.0, DURATION)
    label(axis, "", "height X₃ [m]", loc="upper right")
    return figure


_NOTES = [
    "The initial compression and the rule of contact are not printed. X begins at −0.25 m at rest; the ground only "
    "pushes: lift-off when the force becomes zero, touch-down when the centre of mass is down at the support, X = D.",
    "KT_a is printed as Diag(410000, 41000, 32800); 41000 is used, which makes no difference to a vertical hop. LT_b "
    "is that of simulation 1 while LT_a is ten times as large.",
    "In Simulation the body touches down between two steps, and begins with its spring a little compressed: v rises by "
    "that, which goes with the square of the step.",
    "In flight the printed claims hold: kinetic and potential energy of the translation stay the same, and the energy "
    "of the rotation only falls.",
]
