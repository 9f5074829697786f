# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""K's free chain of three bodies: momentum kept and a good trajectory even with a step of 0.1 s."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mbsim_ros.dynamics.energy import energy
from mbsim_ros.dynamics.mean_momentum import mean_centroidal_momentum
from mbsim_ros.dynamics.momentum import centroidal_momentum, momentum
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.integrators.baselines.integrator import LieEuler
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import Model
from mbsim_ros.sim.initial_states import HOME, named_state

TITLE = "A free chain of three bodies"
SOURCE = "Kobilarov, section 5.5, Figures 4 and 5"

BOX, MASS = (0.5, 0.2, 0.1), 1.0  # m, kg
ANGLES = (0.3, -0.4)  # rad
TWIST = (0.1, 0.0, 0.05, 0.3, 0.5, -0.2)  # m/s, rad/s, in the axes of the base
RATES = (0.5, -0.4)  # rad/s
STEP, FINE_STEP = 0.1, 0.001  # s, as in the paper
SHOWN, LONG = 20.0, 1000.0  # s
ORDER_STEPS = (0.1, 0.05, 0.025, 0.0125, 0.00625)
WEIGHTLESS = (0.0, 0.0, 0.0)
FROM_CONFIGURATIONS = (
    "largest error of the momentum from configurations, linear and angular about the centre of mass [kg m/s, kg m²/s]"
)


def run(progress: Progress) -> Outcome:
    """The paper's run, a long one, and the order."""
    model, q, v = chain()
    progress(0.0, "the true trajectory")
    times = np.arange(round(SHOWN / STEP) + 1) * STEP
    fine_euler = sampled(LieEuler(model, FINE_STEP, gravity=WEIGHTLESS), q, v, round(STEP / FINE_STEP), len(times))
    true = sampled(
        LieVariational(model, FINE_STEP, order=4, gravity=WEIGHTLESS), q, v, round(STEP / FINE_STEP), len(times)
    )
    progress(0.4, f"steps of {STEP} s")
    symplectic = sampled(_symplectic(model, STEP), q, v, 1, len(times))
    euler = sampled(LieEuler(model, STEP, gravity=WEIGHTLESS), q, v, 1, len(times))
    metrics: dict[str, object] = {
        "energy at the start [J]": energy(model, q, v, WEIGHTLESS).total,
        "momentum at the start (p, L) [kg m/s, kg m²/s]": momentum(model, q, v),
    }
    for name, found in (("symplectic", symplectic), ("Euler", euler), ("Euler, h = 0.001 s", fine_euler)):
        metrics[f"{name}: largest drift of momentum over {SHOWN:g} s [kg m/s, kg m²/s]"] = _drift(model, found)
        metrics[f"{name}: {FROM_CONFIGURATIONS} over {SHOWN:g} s"] = _errors(model, found, STEP)
        metrics[f"{name}: largest error of the position over {SHOWN:g} s [m]"] = _largest(
            found[0] - true[0], slice(0, 3)
        )
        metrics[f"{name}: largest error of the joint angles over {SHOWN:g} s [rad]"] = _largest(
            found[0] - true[0], slice(7, 9)
        )
    progress(0.6, f"{LONG:g} s with a step of {STEP} s")
    metrics.update(_long_run(model, q, v))
    progress(0.8, "order")
    metrics.update(_order(model, q, v))
    parameters = {
        "boxes [m]": BOX, "mass of each [kg]": MASS, "joints": "at both ends of the base, axes y and z",
        "angles at the start [rad]": ANGLES, "twist of the base at the start (v, ω) [m/s, rad/s]": TWIST,
        "rates at the start [rad/s]": RATES, "step [s]": STEP, "quadrature": "trapezoidal", "retraction": "Cayley",
    }  # fmt: skip
    printed = {
        f"symplectic: largest drift of momentum over {SHOWN:g} s [kg m/s, kg m²/s]": "exactly preserved",
    }
    figures = {"trajectory": _figure(model, times, true, symplectic, euler)}
    return Outcome(parameters, metrics, printed, _NOTES, figures)


def chain() -> tuple[Model, np.ndarray, np.ndarray]:
    """The chain with the base in the middle, and its state at the start: q (9,), v (8,)."""
    model = document_robot("floating_chain")
    q, v = named_state(model, HOME)
    return model, q, v


Run = tuple[np.ndarray, np.ndarray]  # q and v, row by row


def sampled(
    scheme: LieEuler | LieVariational, q: np.ndarray, v: np.ndarray, every: int, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """q (number, nq) and v (number, nv) of a run, one row every so many steps."""
    scheme.reset(q, v)
    rows_q, rows_v = [scheme.q.copy()], [scheme.v.copy()]
    for _ in range(number - 1):
        scheme.step(steps=every)
        rows_q.append(scheme.q.copy())
        rows_v.append(scheme.v.copy())
    return np.array(rows_q), np.array(rows_v)


def _symplectic(model: Model, h: float) -> LieVariational:
    return LieVariational(model, h, quadrature="trapezoidal", retraction="cayley", gravity=WEIGHTLESS)


def _largest(values: np.ndarray, which: slice) -> float:
    return float(np.abs(values[:, which]).max())


def _momenta(model: Model, found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return np.array([momentum(model, q, v) for q, v in zip(*found, strict=True)])


def _drift(model: Model, found: tuple[np.ndarray, np.ndarray]) -> float:
    momenta = _momenta(model, found)
    return float(np.abs(momenta - momenta[0]).max())


def _means(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> np.ndarray:
    """Momenta (rows − 1, 6) of the ways between configurations h apart, angular about the centre of mass."""
    pairs = zip(found[0], found[0][1:], strict=False)
    return np.array([mean_centroidal_momentum(model, q, q_next, h) for q, q_next in pairs])


def _errors(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> list[float]:
    """Largest distances of linear and angular momentum from those at the start."""
    apart = _means(model, found, h) - centroidal_momentum(model, found[0][0], found[1][0])
    return [float(np.linalg.norm(apart[:, part], axis=1).max()) for part in (slice(0, 3), slice(3, 6))]


def _long_run(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, object]:
    found = sampled(_symplectic(model, STEP), q, v, 1, round(LONG / STEP) + 1)
    energies = np.array([energy(model, *state, WEIGHTLESS).total for state in zip(*found, strict=True)])
    slope = np.polyfit(STEP * np.arange(len(energies)), energies, 1)[0]
    return {
        f"drift of momentum over {LONG:g} s [kg m/s, kg m²/s]": _drift(model, found),
        f"{FROM_CONFIGURATIONS} over {LONG:g} s": _errors(model, found, STEP),
        f"smallest and largest energy over {LONG:g} s [J]": [float(energies.min()), float(energies.max())],
        f"trend of the energy over {LONG:g} s [J/s]": float(slope),
    }


def _order(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, object]:
    """Norms of the error of (R, x, r) after 2 s against the same scheme of order 4 with a fine step."""
    exact = LieVariational(model, 0.001, order=4, gravity=WEIGHTLESS)
    exact.reset(q, v)
    exact.step(steps=2000)
    errors, momenta = [], []
    for h in ORDER_STEPS:
        scheme = _symplectic(model, h)
        scheme.reset(q, v)
        scheme.step(steps=round(2.0 / h))
        errors.append(float(np.linalg.norm(_pose(scheme.q) - _pose(exact.q))))
        momenta.append(_errors(model, sampled(scheme, q, v, 1, round(2.0 / h) + 1), h))
    return {
        f"error of the pose after 2 s with h = {', '.join(f'{h:g}' for h in ORDER_STEPS)} s": errors,
        "order between neighbours": [float(order) for order in np.log2(np.array(errors[:-1]) / np.array(errors[1:]))],
        f"{FROM_CONFIGURATIONS} over 2 s with these steps": momenta,
        "order of the momentum from configurations, linear and angular": np.log2(
            np.array(momenta[:-1]) / np.array(momenta[1:])
        ).tolist(),
    }


def _pose(q: np.ndarray) -> np.ndarray:
    rotation = quaternion.to_matrix(quaternion.from_ros(q[3:7]))
    return np.concatenate([np.ravel(rotation), q[:3], q[7:]])


def _figure(model: Model, times: np.ndarray, true: Run, symplectic: Run, euler: Run) -> Figure:
    figure, axes = panels(3, 2, title=f"A free chain of three bodies, h = {STEP} s", sharex=True, size=(14.0, 10.5))
    found = {"true": (true, "#aaaaaa", "-", 5.0), "symplectic": (symplectic, COLOURS[0], "-", 1.6),
             "Euler": (euler, COLOURS[1], "--", 1.6)}  # fmt: skip
    rows: list[tuple[Axes, str, Callable[[Run], np.ndarray]]] = [
        (axes[0, 0], "angular velocity [rad/s]", lambda run: run[1][:, 3:6]),
        (axes[0, 1], "velocity, base axes [m/s]", lambda run: run[1][:, :3]),
        (axes[1, 0], "joint angles [rad]", lambda run: run[0][:, 7:]),
        (axes[1, 1], "position [m]", lambda run: run[0][:, :3]),
        (axes[2, 0], "change of L, from configurations [kg m²/s]", lambda run: _change(model, run)[:, 3:]),
        (axes[2, 1], "change of p, from configurations [kg m/s]", lambda run: _change(model, run)[:, :3]),
    ]
    for axis, name, of in rows:
        for run_name, (run_found, colour, style, width) in found.items():
            values = of(run_found)
            at = times if len(values) == len(times) else times[1:] - 0.5 * STEP  # of the way to the next instant
            lines = axis.plot(at, values, linestyle=style, color=colour, linewidth=width)
            lines[0].set_label(run_name)
        label(axis, "time [s]" if axis in axes[2] else "", name, legend=False)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=13)
    return figure


def _change(model: Model, found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Of the momentum, angular about the centre of mass, in the middle of every STEP, measured from configurations."""
    return np.asarray(_means(model, found, STEP) - centroidal_momentum(model, found[0][0], found[1][0]))


_NOTES = [
    "The paper gives neither dimensions nor the initial state: three boxes of 0.5 × 0.2 × 0.1 m and 1 kg are ours.",
    "K (54) is used with the translation (4I + 2ω̂ + ωωᵀ)v / (4 + |ω|²): as printed the map is not the Cayley map and "
    "momentum is lost, 8e-3 over 1000 s.",
    "The drift of momentum is that of q and v at the nodes, whose v comes from the momentum that the scheme carries: "
    "it shows rounding only. Measured from configurations alone, Σ m Δc/h and Σ m c̄ × Δc/h + R̄ I ω, momentum is kept "
    "to second order in the step: bounded, but for the angular momentum of a chain that travels, which moves slowly.",
    "The paper's true trajectory is Euler's with h = 0.001 s; ours is of order 4 with that step, and Euler's is among "
    "the numbers.",
]
