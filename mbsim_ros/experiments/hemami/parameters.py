# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Numbers of H's appendix with the errata, and what its three simulations share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.hemami.body import ANGLES, PHI, PLACE, SUPPORT, TURN, VELOCITY, HemamiBody
from mbsim_ros.experiments.robots import document_robot, variant
from mbsim_ros.model.model import Model

MOMENTS = np.array([10.0, 8.0, 0.4])  # kg m²
MASS, HOPPING_MASS = 41.0, 20.5  # kg
GRAVITY = np.array([0.0, 0.0, -10.0])  # m/s²
CONTACT = np.array([0.0, 0.0, -0.42])  # m, R of simulation 1
STIFFNESS = np.array([4100.0, 4100.0, 3280.0])  # N/m and N m/rad
ALPHA = 0.2
KICK = np.array([8.0, 16.0, -8.0])  # rad/s, W0

_ROTATION = (STIFFNESS, STIFFNESS, np.array([60.0, 60.0, 42.0]), np.array([600.0, 600.0, 420.0]))
_SUPPORT_DAMPING = np.array([200.0, 200.0, 140.0])


def law(alpha: float = ALPHA) -> ViscoelasticLaw:
    """The feedback of simulations 1 and 3."""
    return ViscoelasticLaw(
        STIFFNESS, STIFFNESS, np.array([20.0, 20.0, 14.0]), _SUPPORT_DAMPING, *_ROTATION, alpha=np.full(3, alpha)
    )


def hopping_law() -> ViscoelasticLaw:
    """The feedback of simulation 2: ten times as stiff."""
    stiff = 10.0 * STIFFNESS
    return ViscoelasticLaw(stiff, stiff, _SUPPORT_DAMPING, _SUPPORT_DAMPING, *_ROTATION, alpha=np.full(3, ALPHA))


def body(
    R: np.ndarray = CONTACT, gravity: np.ndarray = GRAVITY, follows: str = "centre", alpha: float = ALPHA
) -> HemamiBody:
    """The body of simulation 1; of simulation 3 with R = 0 and no gravity."""
    return HemamiBody(*mass_and_moments(document_robot("body_on_point")), gravity, R, law(alpha), follows)


def hopping_body(R: np.ndarray = CONTACT) -> HemamiBody:
    """The body of simulation 2."""
    lighter = variant("body_on_point", "floating", mass=str(HOPPING_MASS))
    return HemamiBody(*mass_and_moments(lighter), GRAVITY, R, hopping_law())


def mass_and_moments(robot: Model) -> tuple[float, np.ndarray]:
    """What H's equations need of a robot that is one body: its mass, and its moments of inertia (3,)."""
    inertial = robot.description.link("body").inertial
    assert inertial is not None
    return inertial.mass, np.diag(inertial.inertia)


def kicked(of: HemamiBody) -> np.ndarray:
    """Z (18,) at rest where gravity leaves it, turning at KICK: V0 = 0."""
    z = np.zeros(18)
    z[PLACE], z[SUPPORT] = of.sagging()
    z[TURN] = KICK
    return z


def solution(
    rates: Callable[[np.ndarray], np.ndarray], start: np.ndarray, times: np.ndarray, tolerance: float = 1e-12
) -> np.ndarray:
    """States (n, …) at times (n,), by a Runge-Kutta method of order 8."""
    found = solve_ivp(
        lambda _, y: rates(y),
        (0.0, times[-1]),
        start,
        method="DOP853",
        rtol=tolerance,
        atol=0.1 * tolerance,
        t_eval=times,
    )
    if not found.success:
        raise RuntimeError(f"the solution ended at {found.t[-1]:g} s: {found.message}")
    return np.asarray(found.y.T)


def increase(values: np.ndarray) -> float:
    """The sum of all increases from one value to the next."""
    return float(np.maximum(np.diff(values), 0.0).sum())


def settling(times: np.ndarray, deviations: np.ndarray, share: float = 0.01) -> float:
    """The time after which the length of deviations (n, …) stays below this share of its greatest value [s]."""
    sizes = np.linalg.norm(deviations, axis=1)
    return float(times[np.nonzero(sizes > share * sizes.max())[0][-1]])


def nine_states(
    title: str, times: np.ndarray, runs: dict[str, np.ndarray], *, rotation: bool, until: float = 4.0
) -> Figure:
    """A figure of the nine translational or rotational states of each run (n, 18) up to a time [s], as H draws them."""
    shown = times <= until
    figure, axes = panels(3, 3, title=title, sharex=True, size=(15.0, 9.5))
    rows: tuple[tuple[slice, str, tuple[str, str, str]], ...] = (
        (PLACE, "m", ("X₁", "X₂", "X₃")), (VELOCITY, "m/s", ("V₁", "V₂", "V₃")), (SUPPORT, "m", ("D₁", "D₂", "D₃")),
    )  # fmt: skip
    if rotation:
        rows = (
            (ANGLES, "rad", ("θ₁", "θ₂", "θ₃")), (TURN, "rad/s", ("W₁", "W₂", "W₃")), (PHI, "rad", ("φ₁", "φ₂", "φ₃")),
        )  # fmt: skip
    for row, (entries, unit, names) in enumerate(rows):
        for column, name in enumerate(names):
            axis = axes[row, column]
            for number, (run, z) in enumerate(runs.items()):
                values = z[shown][:, entries][:, column]
                axis.plot(times[shown], values, ("-", "--")[number], color=COLOURS[number], label=run)
            if all(np.ptp(z[shown][:, entries][:, column]) < 1e-9 for z in runs.values()):  # rounding only
                axis.set_ylim(values[0] - 0.1, values[0] + 0.1)
            axis.ticklabel_format(useOffset=False)
            label(axis, "time [s]" if row == 2 else "", f"{name} [{unit}]", legend=False)
    if len(runs) > 1:
        handles, names_of_runs = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names_of_runs, loc="outside lower center", ncols=len(runs), frameon=False, fontsize=13)
    return figure
