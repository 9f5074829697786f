# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How strong joints and motors are: the effort limits of the URDF, for every way in which they are driven.

A joint's drive and `tau` together stay within the limit L of the joint. A column of D moves joints with the rates
D_ik u_k, so a load of τ on its joints is Σ D_ik τ_i on it: its limit is Σ |D_ik| L_i, what all of its joints' actuators
could do together. That of a joint that moves by itself is the joint's own. Motor and joints' drives share it: Dᵀtau +
motor stays within the limits of the columns. A joint that follows another has no actuator. A URDF's limit of 0 means
that nobody knew it; a column with such a joint, or without joints, has no limit.
"""

from __future__ import annotations

import numpy as np

from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.integrators.integrator import Integrator
from mbsim_ros.model.model import Model
from mbsim_ros.sim.names import driven_joints, own_dofs, tree_dofs


def limit_efforts(model: Model, integrator: Integrator) -> None:
    """Write the limits of joints and of the columns in force to the arrays of the integrator."""
    names = driven_joints(model).names
    tree, known = tree_dofs(model, names), model.effort_limit[own_dofs(model, names)]
    integrator.drives.limit[tree] = np.where(known > 0.0, known, np.inf)
    integrator.motors.limit[:] = _column_limits(integrator.configuration, tree, integrator.drives.limit)


def _column_limits(configuration: CouplingConfiguration, driven: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Limits (nu,) of the columns, from those (tree nv,) of the dofs that have a drive."""
    total, has_joint = np.zeros(configuration.nu), np.zeros(configuration.nu, dtype=bool)
    for dof in driven.tolist():
        entries = slice(configuration.start[dof], configuration.start[dof + 1])
        columns, ratios = configuration.column[entries], configuration.ratio[entries]
        moved = ratios != 0.0
        total[columns[moved]] += np.abs(ratios[moved]) * limits[dof]
        has_joint[columns[moved]] = True
    return np.where(has_joint, total, np.inf)
