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
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.mean_momentum import mean_centroidal_momentum
from mbsim_ros.dynamics.momentum import centroidal_momentum, momentum
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.parameters import ExperimentParameter, SettingError
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.integrators.baselines.integrator import LieEuler
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import Model
from mbsim_ros.sim.initial_states import HOME, named_state
from mbsim_ros.sim.simulation import Simulation

TITLE = "A free chain of three bodies"
SOURCE = "Kobilarov, section 5.5, Figures 4 and 5"

BOX, MASS = (0.5, 0.2, 0.1), 1.0  # m, kg
ANGLES = (0.3, -0.4)  # rad
TWIST = (0.1, 0.0, 0.05, 0.3, 0.5, -0.2)  # m/s, rad/s, in the axes of the base
RATES = (0.5, -0.4)  # rad/s
STEP, FINE_STEP = 0.1, 0.001  # s, as in the paper
SHOWN, LONG = 20.0, 1000.0  # s
HALVINGS = 4  # of the step, for the order
PICTURED = (0.0, 2.0, 4.0)  # s
WEIGHTLESS = (0.0, 0.0, 0.0)
FROM_CONFIGURATIONS = (
    "largest error of the momentum from configurations, linear and angular about the centre of mass [kg m/s, kg m²/s]"
)
PARAMETERS = (
    ExperimentParameter(
        "h", STEP, "s", 0.002, 0.5, "step of the symplectic scheme and of Euler's; a multiple of 0.001 s"
    ),
    ExperimentParameter("duration", LONG, "s", 10.0, 1e5, "of the long run", is_free=True),
)
BASIS = np.zeros((6, 4, 4))  # of se(3), by (v, ω)
BASIS[[0, 1, 2], [0, 1, 2], 3] = 1.0
BASIS[[3, 4, 5], [2, 0, 1], [1, 2, 0]] = 1.0
BASIS[[3, 4, 5], [1, 2, 0], [2, 0, 1]] = -1.0


def run(progress: Progress, *, h: float = STEP, duration: float = LONG) -> Outcome:
    """The paper's run, a long one, and the order."""
    every = _fine_steps(h)
    model, q, v = chain()
    progress(0.0, "the true trajectory")
    times = np.arange(round(SHOWN / h) + 1) * h
    fine_euler = sampled(LieEuler(model, FINE_STEP, gravity=WEIGHTLESS), q, v, every, len(times))
    true = sampled(LieVariational(model, FINE_STEP, order=4, gravity=WEIGHTLESS), q, v, every, len(times))
    progress(0.4, f"steps of {h:g} s")
    symplectic = sampled(_symplectic(model, h), q, v, 1, len(times))
    euler = sampled(LieEuler(model, h, gravity=WEIGHTLESS), q, v, 1, len(times))
    metrics: dict[str, object] = {
        "energy at the start [J]": energy(model, q, v, WEIGHTLESS).total,
        "momentum at the start (p, L) [kg m/s, kg m²/s]": momentum(model, q, v),
    }
    drift = f"largest drift of momentum over {SHOWN:g} s [kg m/s, kg m²/s]"
    for name, found in (("symplectic", symplectic), ("Euler", euler), (f"Euler, h = {FINE_STEP} s", fine_euler)):
        is_ours = found is symplectic
        metrics[f"{name}: {drift}"] = _momentum_map_drift(model, found, h) if is_ours else _drift(model, found)
        metrics[f"{name}: {FROM_CONFIGURATIONS} over {SHOWN:g} s"] = _errors(model, found, h)
        metrics[f"{name}: largest error of the position over {SHOWN:g} s [m]"] = _largest(
            found[0] - true[0], slice(0, 3)
        )
        metrics[f"{name}: largest error of the joint angles over {SHOWN:g} s [rad]"] = _largest(
            found[0] - true[0], slice(7, 9)
        )
    progress(0.6, f"{duration:g} s with a step of {h:g} s")
    metrics.update(_long_run(model, q, v, h, duration))
    progress(0.8, "order")
    metrics.update(_order(model, q, v, [h / 2**k for k in range(HALVINGS + 1)]))
    parameters = {
        "boxes [m]": BOX, "mass of each [kg]": MASS, "joints": "at both ends of the base, axes y and z",
        "angles at the start [rad]": ANGLES, "twist of the base at the start (v, ω) [m/s, rad/s]": TWIST,
        "rates at the start [rad/s]": RATES, "step [s]": h, "quadrature": "trapezoidal", "retraction": "Cayley",
    }  # fmt: skip
    printed = {f"symplectic: {drift}": "exactly preserved"}
    figures = {"trajectory": _figure(model, times, true, symplectic, euler, h), "view": _view(h)}
    return Outcome(parameters, metrics, printed, _NOTES, figures, dict.fromkeys(printed, "5.4, (65), and Figure 5"))


def _fine_steps(h: float) -> int:
    """How many of the true trajectory's steps are one of h."""
    count = h / FINE_STEP
    if abs(count - round(count)) > 1e-9 * count or abs(SHOWN / h - round(SHOWN / h)) > 1e-9 * SHOWN / h:
        raise SettingError(f"h: expected a multiple of {FINE_STEP} s of which {SHOWN:g} s is one, got {h:g}")
    return round(count)


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


def momentum_map(model: Model, q: np.ndarray, q_next: np.ndarray, h: float) -> np.ndarray:
    """(p, L) (6,) of K (65), from two configurations alone: nothing that a scheme carries has a part in it."""
    g, g_next = _matrix(q), _matrix(q_next)
    X = np.linalg.inv(g) @ g_next
    xi = 2.0 * (X - np.eye(4)) @ np.linalg.inv(X + np.eye(4))  # cay⁻¹, h ξ
    v = np.concatenate([xi[:3, 3], [xi[2, 1], xi[0, 2], xi[1, 0]], q_next[7:] - q[7:]]) / h
    p = 0.5 * ((mass_matrix(model, q) + mass_matrix(model, q_next)) @ v)[:6]
    turned = (np.eye(4) - 0.5 * xi) @ BASIS @ (np.eye(4) + 0.5 * xi)  # dcay⁻¹ of h ξ on each of the basis
    columns = np.stack([*turned[:, :3, 3].T, turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]])  # (6, 6) of (v, ω)
    f, tau = np.split(columns.T @ p, 2)
    force = g[:3, :3] @ f
    return np.concatenate([force, g[:3, :3] @ tau + np.cross(g[:3, 3], force)])  # Adᵀ of g⁻¹


def _matrix(q: np.ndarray) -> np.ndarray:
    """g (4, 4) of a floating base."""
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = quaternion.to_matrix(quaternion.from_ros(q[3:7])), q[:3]
    return g


def _momentum_map_drift(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> float:
    maps = np.array([momentum_map(model, *pair, h) for pair in zip(found[0], found[0][1:], strict=False)])
    return float(np.abs(maps - maps[0]).max())


def _means(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> np.ndarray:
    """Momenta (rows − 1, 6) of the ways between configurations h apart, angular about the centre of mass."""
    pairs = zip(found[0], found[0][1:], strict=False)
    return np.array([mean_centroidal_momentum(model, q, q_next, h) for q, q_next in pairs])


def _errors(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> list[float]:
    """Largest distances of linear and angular momentum from those at the start."""
    apart = _means(model, found, h) - centroidal_momentum(model, found[0][0], found[1][0])
    return [float(np.linalg.norm(apart[:, part], axis=1).max()) for part in (slice(0, 3), slice(3, 6))]


def _long_run(model: Model, q: np.ndarray, v: np.ndarray, h: float, duration: float) -> dict[str, object]:
    found = sampled(_symplectic(model, h), q, v, 1, round(duration / h) + 1)
    energies = np.array([energy(model, *state, WEIGHTLESS).total for state in zip(*found, strict=True)])
    slope = np.polyfit(h * np.arange(len(energies)), energies, 1)[0]
    return {
        f"drift of momentum over {duration:g} s [kg m/s, kg m²/s]": _momentum_map_drift(model, found, h),
        f"{FROM_CONFIGURATIONS} over {duration:g} s": _errors(model, found, h),
        f"smallest and largest energy over {duration:g} s [J]": [float(energies.min()), float(energies.max())],
        f"trend of the energy over {duration:g} s [J/s]": float(slope),
    }


def _order(model: Model, q: np.ndarray, v: np.ndarray, steps: list[float]) -> dict[str, object]:
    """Norms of the error of (R, x, r) after 2 s against the same scheme of order 4 with a fine step."""
    exact = LieVariational(model, 0.001, order=4, gravity=WEIGHTLESS)
    exact.reset(q, v)
    exact.step(steps=2000)
    errors, momenta = [], []
    for h in steps:
        scheme = _symplectic(model, h)
        scheme.reset(q, v)
        scheme.step(steps=round(2.0 / h))
        errors.append(float(np.linalg.norm(_pose(scheme.q) - _pose(exact.q))))
        momenta.append(_errors(model, sampled(scheme, q, v, 1, round(2.0 / h) + 1), h))
    return {
        f"error of the pose after 2 s with h = {', '.join(f'{h:g}' for h in steps)} s": errors,
        "order between neighbours": [float(order) for order in np.log2(np.array(errors[:-1]) / np.array(errors[1:]))],
        f"{FROM_CONFIGURATIONS} over 2 s with these steps": momenta,
        "order of the momentum from configurations, linear and angular": np.log2(
            np.array(momenta[:-1]) / np.array(momenta[1:])
        ).tolist(),
    }


def _pose(q: np.ndarray) -> np.ndarray:
    rotation = quaternion.to_matrix(quaternion.from_ros(q[3:7]))
    return np.concatenate([np.ravel(rotation), q[:3], q[7:]])


def _figure(model: Model, times: np.ndarray, true: Run, symplectic: Run, euler: Run, h: float) -> Figure:
    title = f"Figure 5: a free chain of three bodies, h = {h:g} s"
    figure, axes = panels(3, 2, title=title, sharex=True, size=(14.0, 10.5))
    found = {"true": (true, "#aaaaaa", "-", 5.0), "symplectic": (symplectic, COLOURS[0], "-", 1.6),
             "Euler": (euler, COLOURS[1], "--", 1.6)}  # fmt: skip
    rows: list[tuple[Axes, str, Callable[[Run], np.ndarray]]] = [
        (axes[0, 0], "angular velocity [rad/s]", lambda run: run[1][:, 3:6]),
        (axes[0, 1], "velocity, base axes [m/s]", lambda run: run[1][:, :3]),
        (axes[1, 0], "joint angles [rad]", lambda run: run[0][:, 7:]),
        (axes[1, 1], "position [m]", lambda run: run[0][:, :3]),
        (axes[2, 0], "change of L, from configurations [kg m²/s]", lambda run: _change(model, run, h)[:, 3:]),
        (axes[2, 1], "change of p, from configurations [kg m/s]", lambda run: _change(model, run, h)[:, :3]),
    ]
    for axis, name, of in rows:
        for run_name, (run_found, colour, style, width) in found.items():
            values = of(run_found)
            at = times if len(values) == len(times) else times[1:] - 0.5 * h  # of the way to the next instant
            lines = axis.plot(at, values, linestyle=style, color=colour, linewidth=width)
            lines[0].set_label(run_name)
        label(axis, "time [s]" if axis in axes[2] else "", name, legend=False)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=13)
    return figure


def _view(h: float) -> Figure:
    """K's Figure 4: the chain at some instants of the run, as the view of this package draws it."""
    sim = Simulation("floating_chain", h, gravity=WEIGHTLESS, quadrature="trapezoidal")
    figure, axes = panels(1, len(PICTURED), title="Figure 4: the chain in the view", size=(15.0, 4.0))
    for axis, seconds in zip(axes[0], PICTURED, strict=True):
        sim.advance(round((seconds - sim.seconds) / h))
        axis.imshow(sim.picture("iso", (640, 420)))
        axis.set_title(f"{sim.seconds:.3g} s")
        axis.set_axis_off()
    return figure


def _change(model: Model, found: tuple[np.ndarray, np.ndarray], h: float) -> np.ndarray:
    """Of the momentum, angular about the centre of mass, in the middle of every step, measured from configurations."""
    return np.asarray(_means(model, found, h) - centroidal_momentum(model, found[0][0], found[1][0]))


_NOTES = [
    "The paper gives neither dimensions nor the initial state: three boxes of 0.5 × 0.2 × 0.1 m and 1 kg are ours.",
    "K (54) is used with the translation (4I + 2ω̂ + ωωᵀ)v / (4 + |ω|²): as printed the map is not the Cayley map and "
    "momentum is lost, 8e-3 over 1000 s.",
    "The drift of the symplectic scheme's momentum is that of the momentum map (65), computed from neighbouring "
    "configurations alone by formulas that share nothing with the scheme; that of Euler's is of its q and v. The means "
    "Σ m Δc/h and Σ m c̄ × Δc/h + R̄ I ω of the ways between configurations are kept to second order in the step: "
    "bounded, but for the angular momentum of a chain that travels, which moves slowly.",
    "The paper's true trajectory is Euler's with h = 0.001 s; ours is of order 4 with that step, and Euler's is among "
    "the numbers.",
]
