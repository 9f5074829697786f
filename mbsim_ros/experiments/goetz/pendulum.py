# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""G's Figure 3.1: a pendulum in (x, y), by a scheme that leaves its circle and by one that is symplectic."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.integrators.particles.shake_rattle import rattle
from mbsim_ros.integrators.particles.system import particles

LENGTH, GRAVITY = 1.0, 9.81  # m, m/s²: G prints none
STEP, DURATION = 0.02, 4.0  # s
START = np.deg2rad(60.0)  # from hanging, at rest


def pendulum_paths() -> dict[str, np.ndarray]:
    """Places (n, 2) of the mass by each scheme."""
    q, count = LENGTH * np.array([np.sin(START), -np.cos(START)]), round(DURATION / STEP)
    system = particles([1.0], [[0, -1]], [LENGTH], gravity=(0.0, 0.0, -GRAVITY))
    places, _ = rattle(system, STEP, [[q[0], 0.0, q[1]]], np.zeros((1, 3)), count)
    return {"explicit Euler": _explicit_euler(q, count), "symplectic (RATTLE)": places[:, 0, [0, 2]]}


def _explicit_euler(q: np.ndarray, count: int) -> np.ndarray:
    """The force of the bar makes accelerations fit the circle, and nothing makes places stay on it."""
    v, path = np.zeros(2), [q]
    for _ in range(count):
        pull = (v @ v - GRAVITY * q[1]) / (q @ q)
        q, v = q + STEP * v, v + STEP * (np.array([0.0, -GRAVITY]) - pull * q)
        path.append(q)
    return np.array(path)


def radius_errors(paths: dict[str, np.ndarray]) -> dict[str, float]:
    """How far each path leaves the circle, at most [m]."""
    return {name: float(np.abs(np.hypot(*path.T) - LENGTH).max()) for name, path in paths.items()}


def pendulum_figure(paths: dict[str, np.ndarray]) -> Figure:
    """Both paths beside the circle."""
    figure, axes = panels(1, 2, title=f"Figure 3.1: a pendulum in (x, y), Δt = {STEP:g} s", size=(12.0, 6.0))
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    for k, (axis, (name, path)) in enumerate(zip(axes[0], paths.items(), strict=True)):
        axis.plot(LENGTH * np.cos(turn), LENGTH * np.sin(turn), color="#aaaaaa", linewidth=4.0, label="the circle")
        axis.plot(*path.T, ".-", color=COLOURS[1 - k], linewidth=0.8, markersize=5, label=name)
        axis.set_aspect("equal", adjustable="datalim")
        label(axis, "x [m]", "y [m]" if k == 0 else "", loc="center")
    return figure
