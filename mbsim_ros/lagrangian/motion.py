# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an integrator of a Lagrangian gives: a state at a node, and a motion through many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class LagrangianState:
    """At a node.

    t: the time [s].
    q, v, p: coordinates, velocities, momenta (n,); v belongs to the discrete momentum p, p = ∂L/∂v(q, v).
    multipliers: λ (m,) in the constraints' force Gᵀλ, G = ∂g/∂q, by the equations of motion at q and v. Those that the
    scheme solves for, W (2.28), differ from them by its error, and are complete only when the next step is done.
    energy: ∂L/∂v · v − L.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    multipliers: np.ndarray
    energy: float


@dataclass(frozen=True, eq=False)
class LagrangianMotion:
    """The fields of `LagrangianState` at every node, the start first: t and energy (nodes,), others (nodes, n or m)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    multipliers: np.ndarray
    energy: np.ndarray
