# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Kinetic and potential energy [J]. Rotor inertias count, ½ I v² each; the potential is zero at the world's origin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.kernels.energy_kernel import energy_into
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Model


class MechanicalEnergy(NamedTuple):
    """Energies [J]."""

    kinetic: float
    potential: float
    total: float


def energy(
    model: Model, q: ArrayLike, v: ArrayLike, gravity: ArrayLike | None = None, *, workspace: Workspace | None = None
) -> MechanicalEnergy:
    """Kinetic, potential and total energy at q (nq,), v (nv,); gravity (3,) in the world, default (0, 0, -9.81)."""
    q_tree, v_tree = check.shaped_configuration(model, q), check.shaped_velocity(model, v)
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    ws = workspace_of(model, workspace)
    out = np.empty(2)
    energy_into(model.topology, model.constants, q_tree, v_tree, g, ws.sincos, ws.rows, out)
    check.finite_result("energy", out, q=q, v=v)
    kinetic, potential = out.tolist()
    return MechanicalEnergy(kinetic, potential, kinetic + potential)


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, *, workspace: Workspace | None = None) -> float:
    """½ vᵀ M(q) v at q (nq,), v (nv,)."""
    return energy(model, q, v, workspace=workspace).kinetic


def potential_energy(
    model: Model, q: ArrayLike, gravity: ArrayLike | None = None, *, workspace: Workspace | None = None
) -> float:
    """−Σ m g·c at q (nq,); gravity (3,) in the world, default (0, 0, -9.81)."""
    return energy(model, q, np.zeros(model.nv), gravity, workspace=workspace).potential
