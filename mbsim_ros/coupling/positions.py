# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Positions that belong to the rates u: how far motors have turned, and where joints stand beside them.

A configuration fixes rates only. What r − D x was when it was engaged stays (r the positions of the joints of one dof,
x those of the columns), so a clutch closes at any angle. The integrators need neither x nor the offset: they move r by
h D u. Both are for those who command or show motors.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.model import IQ, IV


def column_positions(
    configuration: CouplingConfiguration, q: ArrayLike, motor_positions: Mapping[str, float] | None = None
) -> np.ndarray:
    """Positions x (nu,) at q (nq,) as a configuration is engaged: free joints where they are, motors as given, or 0.

    Columns of a floating base and of joints of several dofs have no one position; their entries are 0.
    """
    model = configuration.model
    check.configuration(model, q)
    given = {} if motor_positions is None else motor_positions
    own = {joint.name: joint.iq for joint in model.joints if joint.nv == 1 and joint.iq >= 0}
    first_motor = configuration.nu - len(configuration.motors)
    x = np.zeros(configuration.nu)
    for k, name in enumerate(configuration.column_names):
        if k >= first_motor:
            x[k] = given.get(name, 0.0)
        elif name in own:
            x[k] = np.asarray(q, dtype=float)[own[name]]
    return check.finite("motor_positions", x)


def joint_offsets(configuration: CouplingConfiguration, q: ArrayLike, x: ArrayLike) -> dict[str, float]:
    """r − D x of every joint of one dof, by name, at q (nq,) and the columns' positions x (nu,)."""
    model = configuration.model
    q_tree = check.configuration(model, q)
    moved = configuration.expand(x)
    places = {joint.name: model.topology[joint.body] for joint in model.joints if joint.nv == 1}
    return {name: float(q_tree[topology[IQ]] - moved[topology[IV]]) for name, topology in places.items()}


def joint_positions(
    configuration: CouplingConfiguration, offsets: Mapping[str, float], x: ArrayLike
) -> dict[str, float]:
    """Where the joints of one dof stand when the columns stand at x (nu,): D x + offset, by name."""
    model = configuration.model
    moved = configuration.expand(x)
    dofs = {joint.name: model.topology[joint.body, IV] for joint in model.joints if joint.nv == 1}
    return {name: float(moved[dof] + offsets[name]) for name, dof in dofs.items()}
