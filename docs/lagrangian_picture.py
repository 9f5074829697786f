# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Draws docs/pictures/lagrangian.png: `python3 docs/lagrangian_picture.py`. The page's own snippets compute it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mbsim_ros.experiments.figures import COLOURS, label, panels

PAGE = Path(__file__).resolve().parent / "own_lagrangian.md"
PICTURE = Path(__file__).resolve().parent / "pictures" / "lagrangian.png"


def computed() -> dict[str, Any]:
    """The names that the page's snippets make."""
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)), names)
    return names


def main() -> None:
    """How the three move above, what they keep below."""
    page = computed()
    figure, axes = panels(2, 3, size=(16.0, 8.4))
    _sphere(axes[:, 0], page)
    _linkage(axes[:, 1], page)
    _satellite(axes[:, 2], page)
    figure.savefig(PICTURE)


def _sphere(axes: np.ndarray, page: dict[str, Any]) -> None:
    motion, about_z = page["swing"], page["about_z"]
    axes[0].plot(motion.q[:1000, 0], motion.q[:1000, 1])
    axes[0].set_aspect("equal", adjustable="datalim")
    axes[0].set_title("particle on a sphere, from above, 10 s")
    label(axes[0], "x [m]", "y [m]")
    _kept(axes[1], motion.t, {"energy": motion.energy, "momentum about z": about_z}, "time [s]")


def _linkage(axes: np.ndarray, page: dict[str, Any]) -> None:
    motion, pivot = page["driven"], page["PIVOT"]
    shown = range(250, 700, 50)
    for k in shown:
        joints = np.array([[0.0, 0.0], motion.q[k, :2], motion.q[k, 2:], pivot])
        axes[0].plot(*joints.T, color=COLOURS[0], alpha=0.15 + 0.8 * shown.index(k) / len(shown))
    axes[0].plot(*np.array([[0.0, 0.0], pivot]).T, "o", color="black")
    axes[0].set_aspect("equal", adjustable="datalim")
    axes[0].set_title("linkage with motor, every 0.1 s")
    label(axes[0], "x [m]", "y [m]")
    axes[1].plot(motion.t, motion.energy, label="motor for 4 s, friction")
    axes[1].plot(motion.t, page["free"].energy, label="free")
    label(axes[1], "time [s]", "energy [J]")


def _satellite(axes: np.ndarray, page: dict[str, Any]) -> None:
    motion, orbits = page["tethered"], page["tethered"].t / page["orbit"]
    axes[0].plot(orbits, np.degrees(page["swing_angle"]), label="angle from the vertical [°]")
    axes[0].plot(orbits, page["tension"], label="tension [N]")
    axes[0].set_title("satellite with a tether of 20 km")
    axes[0].set_ylim(top=10.0)
    label(axes[0], "orbits", "", loc="upper right")
    _kept(axes[1], orbits, {"energy": motion.energy, "angular momentum": page["spin"][:, 2]}, "orbits")


def _kept(axis: Any, times: np.ndarray, kept: dict[str, np.ndarray], unit: str) -> None:
    """Relative errors of what should be constant."""
    for name, values in kept.items():
        axis.semilogy(times, np.maximum(abs(values / values[0] - 1.0), 1e-17), label=name)
    axis.set_ylim(1e-17, 1e-1)
    label(axis, unit, "relative error")


if __name__ == "__main__":
    main()
