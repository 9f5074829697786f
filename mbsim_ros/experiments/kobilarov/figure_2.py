# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How long a step of one rigid body may be: K's bounds (19), (20), and where steps are found to be singular."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.kobilarov.definiteness import first_indefinite_step
from mbsim_ros.experiments.kobilarov.monte_carlo import LONGEST, Singularities, first_singular_condition, monte_carlo
from mbsim_ros.experiments.kobilarov.rigid_body_orders import ORDER_STEPS, measured_orders
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.integrators.step_bound import UNRESTRICTED_CONDITION, cayley_bound, collocation_bound

TITLE = "How long a step of one turning rigid body may be"
SOURCE = "Kobilarov, sections 3.1 and 3.2, Figure 2"

SAMPLES = 50_000  # for each condition number, scheme and kind of inertia
KAPPAS = (1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0)
NEWMARK, CAYLEY = "trapezoidal Lie-Newmark", "Cayley"
THRESHOLD = "condition number up to which Cayley steps are unrestricted, K (20)"
PARAMETERS = (
    ExperimentParameter(
        "samples", SAMPLES, "", 100, 1_000_000, "bodies for each κ, scheme and kind of inertia", is_free=True
    ),
    ExperimentParameter("kappa", KAPPAS, "", 1.001, 1000.0, "condition numbers of the inertias", is_free=True),
    ExperimentParameter("seed", 0, "", 0, 2**31, "of the random bodies", is_free=True),
)


def run(progress: Progress, *, samples: int = SAMPLES, kappa: tuple[float, ...] = KAPPAS, seed: int = 0) -> Outcome:
    """Monte Carlo on all cores, bounds, orders of both schemes."""
    kappas = tuple(sorted(kappa))
    found = monte_carlo(kappas, samples, lambda share: progress(0.8 * share, "random bodies and velocities"), seed=seed)
    progress(0.8, "the first singular step of the Cayley scheme")
    condition, there = first_singular_condition()
    progress(0.9, "orders of both schemes")
    orders = measured_orders()
    metrics = {**_bounds(kappas), **_definiteness(kappas), **_singularities(found)}
    metrics["condition number of the first singular Cayley step, diag(1, κ, κ)"] = condition
    metrics["h |ω| of the first singular Cayley step"] = there
    metrics.update(orders)
    parameters = {
        "condition numbers": kappas, "samples for each": samples, "inertias": "diag(1, j, κ), j uniform",
        "directions of ω": "uniform on the sphere", "h |ω| of Newton's trials": f"uniform from 0 to {LONGEST:g}",
        "steps of the orders [s]": ORDER_STEPS,
    }  # fmt: skip
    where = {THRESHOLD: "3.2, (20), and its text (κ ≈ 3.58)"}
    return Outcome(
        parameters, metrics, {THRESHOLD: printed_threshold()}, _NOTES, {"bounds": _figure(found, samples)}, where
    )


def printed_cayley_bound(kappa: float) -> float:
    """K (20) as it stands, h |ω|; at κ = 4 its limit."""
    if kappa <= printed_threshold():
        return np.inf
    # (κ − 1 − √…) / (8 − 2κ) without the 0/0 at κ = 4: the numerator times its conjugate is 8 (8 − 2κ)
    return float(8.0 / (kappa - 1.0 + np.sqrt(kappa**2 + 14.0 * kappa - 63.0)))


def printed_threshold() -> float:
    """4√7 − 7."""
    return float(4.0 * np.sqrt(7.0) - 7.0)


def _bounds(kappas: tuple[float, ...]) -> dict[str, object]:
    return {
        THRESHOLD: UNRESTRICTED_CONDITION,
        "bound (19), h |ω|": [collocation_bound(kappa, 1.0) for kappa in kappas],
        "bound (20) as printed, h |ω|": [printed_cayley_bound(kappa) for kappa in kappas],
        "bound (20) with the erratum, h |ω|": [cayley_bound(kappa, 1.0) for kappa in kappas],
        "4 √κ / (κ − 1), h |ω|": [4.0 * np.sqrt(kappa) / (kappa - 1.0) for kappa in kappas],
    }


def _definiteness(kappas: tuple[float, ...]) -> dict[str, object]:
    """What the bounds promise, found by search: up to which step no Jacobian ceases to be positive definite."""
    metrics: dict[str, object] = {}
    for scheme, bound, number in (
        (NEWMARK, collocation_bound, "(19)"),
        (CAYLEY, cayley_bound, "(20) with the erratum"),
    ):
        found = [first_indefinite_step(kappa, scheme == CAYLEY) for kappa in kappas]
        metrics[f"{scheme}: smallest h |ω| that is not positive definite, by search"] = found
        bounds = [bound(kappa, 1.0) for kappa in kappas]
        shares = [a / b for a, b in zip(bounds, found, strict=True) if np.isfinite(a) and np.isfinite(b)]
        metrics[f"{scheme}: bound {number} over it, at most"] = max(shares, default=0.0)
    return metrics


def _singularities(found: list[Singularities]) -> dict[str, object]:
    metrics: dict[str, object] = {}
    for scheme in (NEWMARK, CAYLEY):
        for physical in (False, True):
            rows = [row for row in found if (row.scheme, row.physical) == (scheme, physical)]
            which = f"{scheme}, {'inertias of real bodies' if physical else 'all inertias'}"
            metrics[f"{which}: smallest singular h |ω| of the samples"] = [row.smallest for row in rows]
            metrics[f"{which}: smallest singular h |ω|, optimised"] = [row.optimised for row in rows]
            metrics[f"{which}: share of samples with a singular h |ω|"] = [row.share_singular for row in rows]
            metrics[f"{which}: share of Newton's trials that failed"] = [row.share_failed for row in rows]
    return metrics


def _figure(found: list[Singularities], samples: int) -> Figure:
    figure, axes = panels(1, title="Figure 2: longest step of one turning rigid body", size=(9.0, 6.2))
    axis = axes[0, 0]
    kappa = np.linspace(1.4, 21.0, 500)
    axis.plot(kappa, [collocation_bound(k, 1.0) for k in kappa], color=COLOURS[0], label="bound (19), Lie-Newmark")
    beyond = kappa[kappa > UNRESTRICTED_CONDITION]
    axis.plot(
        beyond, [cayley_bound(k, 1.0) for k in beyond], color=COLOURS[1], label="bound (20) with the erratum, Cayley"
    )
    printed = np.linspace(printed_threshold() * (1 + 1e-9), 21.0, 400)
    axis.plot(printed, [printed_cayley_bound(k) for k in printed], **PRINTED, label="bound (20) as printed, Cayley")
    axis.axvline(printed_threshold(), color=PRINTED["color"], linestyle=":", linewidth=1.2)
    axis.annotate(
        "printed: below κ = 3.58\nCayley unrestricted", (3.58, 0.075), (4.0, 0.062), fontsize=11, color="#555555"
    )
    for physical, marker, colour in ((False, "o", COLOURS[2]), (True, "s", COLOURS[3])):
        rows = [row for row in found if row.scheme == NEWMARK and row.physical == physical]
        which = "real bodies" if physical else "all inertias"
        axis.plot(
            [row.kappa for row in rows], [row.smallest for row in rows], marker, color=colour, markersize=7,
            label=f"Lie-Newmark singular: smallest of {samples:,} samples, {which}".replace(",0", " 0"),
        )  # fmt: skip
    exact = 4.0 * np.sqrt(kappa) / (kappa - 1.0)
    axis.plot(kappa, exact, color=COLOURS[2], linewidth=1.0, label="4 √κ / (κ − 1)")
    singular = sum(round(row.share_singular * row.samples) for row in found if row.scheme == CAYLEY)
    number = "no" if singular == 0 else str(singular)
    axis.text(20.8, 13.0, f"Cayley: {number} singular sample at any κ shown", ha="right", color=COLOURS[1], fontsize=12)
    axis.set_yscale("log")
    axis.set_ylim(0.05, 20.0)
    axis.set_xlim(1.0, 21.0)
    axis.set_yticks([0.1, 0.2, 0.5, 1, 2, 5, 10, 20], ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"])
    label(
        axis,
        "condition number κ of the inertia [1]",
        "h |ω| [rad]",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
    )
    return figure


_NOTES = [
    "(19) and (20) promise steps whose Jacobian is positive definite. A search for the smallest that is not finds none "
    "below them. The smallest is 4 √κ / (κ − 1) for the Lie-Newmark scheme, √κ times (19); for the Cayley scheme there "
    "is none up to κ = 7, and at κ = 10 it is five times (20).",
    "K (18) has h where it must have h²: the Jacobian with h²/4 and h²/2 is the derivative of (16).",
    "The inequality before (20) is wrong: with J = I and h |ω| = 1 the least eigenvalue is 1.25, below the printed "
    "1.75. With the right one Cayley steps are unrestricted up to κ = 4.85 instead of 3.58. The printed (20) is still "
    "safe, but for κ > 4 it is smaller than (19), against the text.",
    "Figure 2 of the paper shows an empirical curve for the Cayley scheme too. With the right Jacobian there is none: "
    "no sample is singular and Newton's method never failed; the first singular step needs κ = 135.87.",
    "The smallest singular h |ω| of the Lie-Newmark scheme is 4 √κ / (κ − 1), and 2 √(κ / (κ − 2)) for real bodies "
    "with κ ≥ 3, whose largest moment is no larger than the sum of the others: found by optimisation, not proved.",
    "The figure of the paper was not available; its curves are the formulas as printed.",
    "ω_k of (9)–(12) is a mean over a step. Taken for the velocity at an instant it makes both schemes first order; "
    "with the discrete Legendre transform they are of second order.",
]
