# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""SHAKE and RATTLE: what W's construction gives for point masses with rigid bars, W (2.32)–(2.37).

With the discrete Lagrangian of W (2.23), or that of W (2.45), and a force that does not depend on the place, the
discrete Euler-Lagrange equations are SHAKE; RATTLE passes through the same places and adds momenta at the nodes that
obey the constraints of velocity, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.particles.system import Particles, finished
from mbsim_ros.integrators.particles.system_kernel import rattle_steps, shake_steps


def shake(
    system: Particles, h: float, q_before: ArrayLike, q: ArrayLike, steps: int, *, by_places: bool = False
) -> np.ndarray:
    """Places (steps + 2, n, 3), the two given ones a step h apart first.

    by_places: keep nothing but two places, as W (2.55) is printed. At small steps their rounding, divided by h, adds
    up; the default keeps the increment, W's velocity form.
    """
    shape = (len(system.masses), 3)
    before, now = (np.array(value, dtype=float).reshape(shape) for value in (q_before, q))
    track = np.zeros((steps + 2, *shape))
    track[0], track[1] = before, now
    free, later = np.zeros(shape), np.zeros(shape)
    done, _ = shake_steps(
        system.masses, system.bars, system.squares, system.weight(), h, now, now - before, np.zeros(len(system.bars)),
        free, later, system.work(), by_places, track[2:],
    )  # fmt: skip
    finished(done, steps, h)
    return track


def rattle(system: Particles, h: float, q: ArrayLike, p: ArrayLike, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and momenta (steps + 1, n, 3) from those at the start."""
    shape = (len(system.masses), 3)
    places, momenta = np.zeros((2, steps + 1, *shape))
    places[0], momenta[0] = np.reshape(q, shape), np.reshape(p, shape)
    free, later, increment = np.zeros((3, *shape))
    done, _ = rattle_steps(
        system.masses, system.bars, system.squares, system.weight(), h, places[0].copy(), momenta[0].copy(),
        np.zeros(len(system.bars)), free, later, increment, system.work(), places[1:], momenta[1:],
    )  # fmt: skip
    finished(done, steps, h)
    return places, momenta
