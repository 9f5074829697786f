# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The schemes of G on its manipulator, as the experiments run them, and where their energy is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbsim_ros.experiments.goetz.chain import LINKS, START
from mbsim_ros.experiments.timing import cpu_seconds
from mbsim_ros.integrators.planar.chain import PlanarChain
from mbsim_ros.integrators.planar.circle_variational import CircleVariational
from mbsim_ros.integrators.planar.energy_stable import EnergyStable
from mbsim_ros.integrators.planar.midpoint import PlanarMidpoint
from mbsim_ros.integrators.planar.scheme import PlanarScheme

AT_REST = np.zeros(LINKS)


@dataclass(frozen=True)
class NamedScheme:
    """A scheme by name: how it is made, and which of its energies is looked at."""

    name: str
    make: Callable[[PlanarChain, float], PlanarScheme]
    energy: str = "energy"

    def start(self, chain: PlanarChain, dt: float) -> PlanarScheme:
        """The scheme at the start of G's runs."""
        scheme = self.make(chain, dt)
        scheme.reset(START, AT_REST)
        return scheme


ENERGY_STABLE = NamedScheme("energy-stable", EnergyStable)
GAUSS = NamedScheme("energy-stable, Gauss 3", lambda chain, dt: EnergyStable(chain, dt, gauss_points=3))
# (4.28) with (4.31) as printed. G does not say where its energy is taken; at (q', ω') it is of the printed order
# (ERRATA A18).
VARIATIONAL = NamedScheme(
    "variational", lambda chain, dt: CircleVariational(chain, dt, version="printed"), "energy in the middle"
)
SYMPLECTIC = NamedScheme("variational, symplectic", CircleVariational, "energy in the middle")
REFERENCE = NamedScheme("reference", PlanarMidpoint)


def trace(
    scheme: NamedScheme, chain: PlanarChain, dt: float, duration: float
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Energy errors (5.3) [J] after each step of a run, and all that the scheme recorded."""
    run = scheme.start(chain, dt)
    recorded = run.trace(int(duration / dt + 1e-9))
    return recorded[scheme.energy] - sum(chain.joint_energies(START, AT_REST)), recorded


def real_time_share(scheme: NamedScheme, chain: PlanarChain, dt: float, duration: float, runs: int = 10) -> float:
    """CPU time of a run over what it simulates (5.4) [%], the median of as many runs as G 5.1.4 takes the mean of."""
    spent = cpu_seconds(lambda: scheme.start(chain, dt).step(round(duration / dt)), runs)
    return 100.0 * spent / duration
