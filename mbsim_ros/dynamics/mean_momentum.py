# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Momentum from configurations alone: where the bodies were and where they are, and nothing that an integrator stores.

The variational integrators carry the momentum of a floating robot as part of their state, so that its own change proves
nothing. What bodies do between two configurations is independent of that: with the centres of mass c, masses m, central
inertias I and mean body rates ω of a step h

    p = Σ m Δc/h,    L = Σ m c̄ × Δc/h + R̄ I ω

which is the momentum in the middle of the step to second order in h. c̄ and R̄ are half-way between the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.momentum import centre_of_mass
from mbsim_ros.lie import so3
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, MASS, Model


def mean_momentum(model: Model, q: ArrayLike, q_next: ArrayLike, h: float) -> np.ndarray:
    """Linear momentum, and angular momentum about the world's origin (6,), of the way from q to q_next (nq,) in h [s].

    In world axes; to second order in h that of the instant half-way. Bodies turn by less than π.
    """
    mass, centre = model.constants[:, MASS], model.constants[:, CENTRE : CENTRE + 3]
    before, after = (forward_kinematics(model, at).X_WB for at in (q, q_next))
    c, c_next = (X[:, :3, 3] + np.einsum("bij,bj->bi", X[:, :3, :3], centre) for X in (before, after))
    linear = mass[:, None] * (c_next - c) / h
    angular = np.cross(0.5 * (c + c_next), linear)
    for body, (R, R_next) in enumerate(zip(before[:, :3, :3], after[:, :3, :3], strict=True)):
        turn = so3.log(R.T @ R_next)
        angular[body] += R @ so3.exp(0.5 * turn) @ _inertia(model, body) @ turn / h
    return np.concatenate([linear.sum(axis=0), angular.sum(axis=0)])


def mean_centroidal_momentum(model: Model, q: ArrayLike, q_next: ArrayLike, h: float) -> np.ndarray:
    """The same with the angular momentum about the centre of mass, to which travelling adds nothing."""
    found = mean_momentum(model, q, q_next, h)
    middle = 0.5 * (centre_of_mass(model, q) + centre_of_mass(model, q_next))
    found[3:] -= np.cross(middle, found[:3])
    return found


def _inertia(model: Model, body: int) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = model.constants[body, CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
