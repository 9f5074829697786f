# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The energy-momentum scheme for point masses with rigid bars, W 2.4.2 (after Gonzalez 1996): what W compares with.

Energy and the momenta that belong to symmetries are conserved exactly; the map is not symplectic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.particles.system import Particles, finished
from mbsim_ros.integrators.particles.system_kernel import energy_momentum_steps


def energy_momentum(
    system: Particles, h: float, q: ArrayLike, p: ArrayLike, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Places and momenta (steps + 1, n, 3) from those at the start."""
    shape = (len(system.masses), 3)
    places, momenta = np.zeros((2, steps + 1, *shape))
    places[0], momenta[0] = np.reshape(q, shape), np.reshape(p, shape)
    later, p_later = np.zeros((2, *shape))
    done, _ = energy_momentum_steps(
        system.masses, system.bars, system.squares, system.weight(), h, places[0].copy(), momenta[0].copy(),
        np.zeros(len(system.bars)), later, p_later, system.work(), places[1:], momenta[1:],
    )  # fmt: skip
    finished(done, steps, h)
    return places, momenta
