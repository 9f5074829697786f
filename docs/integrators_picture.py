# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Measures the integrators side by side and draws docs/pictures/integrators.png: `python3 docs/integrators_picture.py`.

Left: a double pendulum that swings widely for 100 s, error of the energy. Right: a chain of three links that tumbles
freely for 100 s, how far the linear and angular momentum are from where they began, measured from configurations alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mbsim_ros import Simulation, SimulationDiverged
from mbsim_ros.dynamics.mean_momentum import mean_centroidal_momentum
from mbsim_ros.dynamics.momentum import centroidal_momentum
from mbsim_ros.experiments.figures import label, panels
from mbsim_ros.model.assembly.builder import chain

ROOT = Path(__file__).resolve().parent.parent
PICTURE = Path(__file__).resolve().parent / "pictures" / "integrators.png"
SWINGING, TUMBLING = 0.01, 0.02  # s: steps
WINDOW = 2.0  # s: of which the largest error is drawn
# name in the legend → arguments of Simulation
SCHEMES: dict[str, dict[str, Any]] = {
    "lie_variational": {},
    "lie_variational, order 4": {"order": 4},
    "quaternion_variational": {"integrator": "quaternion_variational"},
    "rk4": {"integrator": "rk4"},
    "lie_euler": {"integrator": "lie_euler"},
}


def energy_errors(seconds: float, options: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and errors [J] of a double pendulum, the largest of every window, (n,) each."""
    sim = Simulation(ROOT / "urdf/double_pendulum.urdf", dt=SWINGING, stops=False, **options)
    sim.reset({"shoulder": 1.5, "elbow": 0.5})
    start = sim.energy().total
    return _largest(sim, seconds, round(WINDOW / SWINGING), lambda: abs(sim.energy().total - start))


def momentum_errors(seconds: float, options: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and errors of the momentum of a free chain, relative to it, the largest of every window."""
    sim = Simulation(chain(3, base="floating"), dt=TUMBLING, gravity=(0, 0, 0), stops=False, **options)
    q = sim.q
    q[7:] = 0.4, -0.7
    sim.reset(q, [0.3, -0.2, 0.5, 0.5, 1.0, 1.5, 0.8, -1.0])
    start, before = centroidal_momentum(sim.model, sim.q, sim.v), sim.q
    size = np.linalg.norm(start)

    def error() -> float:
        nonlocal before
        before, way = sim.q, mean_centroidal_momentum(sim.model, before, sim.q, sim.dt)
        return float(np.linalg.norm(way - start) / size)

    return _largest(sim, seconds, round(WINDOW / TUMBLING), error)


def _largest(sim: Simulation, seconds: float, every: int, error: Any) -> tuple[np.ndarray, np.ndarray]:
    """The largest error of every so many steps; a scheme that leaves the finite numbers ends there."""
    times, found = [], []
    while sim.seconds < seconds - 0.5 * sim.dt:
        worst = 0.0
        try:
            for _ in range(every):
                sim.step()
                worst = max(worst, float(error()))
        except SimulationDiverged:
            break
        times.append(sim.seconds)
        found.append(worst)
    return np.array(times), np.array(found)


def main() -> None:
    """Measure, draw, and print the largest errors."""
    figure, ((left, right),) = panels(1, 2, size=(12.0, 4.6))
    for name, options in SCHEMES.items():
        for axis, measure in ((left, energy_errors), (right, momentum_errors)):
            times, errors = measure(100.0, options)
            axis.semilogy(times, np.maximum(errors, 1e-17), label=name)
            print(f"{measure.__name__}, {name}: {errors[times < 10.5].max():.1e} in 10 s, {errors.max():.1e} in 100 s")
    left.set_title(f"energy of a double pendulum, step {1e3 * SWINGING:g} ms")
    right.set_title(f"momentum of a free chain, step {1e3 * TUMBLING:g} ms")
    label(left, "time [s]", "error [J]", legend=False)
    label(right, "time [s]", "error, relative", legend=False)
    right.set_ylim(1e-6, 10.0)  # lie_euler leaves it, and the bounds of states, within seconds
    right.set_xlim(left.get_xlim())
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=12.0)
    figure.savefig(PICTURE)


if __name__ == "__main__":
    main()
