# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Spatial momenta of trees whose root floats, from the momenta of the roots' dofs."""

from mbsim_ros.dynamics.layout import R_WB
from mbsim_ros.integrators.lie_variational.midpoint_kernel import place_bodies
from mbsim_ros.integrators.lie_variational.spatial_kernel import wrench_to_world
from mbsim_ros.jit import kernel
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import IV, KIND, PARENT


@kernel
def spatial_momenta_into(tree, q, p, sincos, rows, mu):
    """Write μ = Ad⁻ᵀ(X_WB) p of every floating root to mu (nr, 6): about the world's origin, in its axes."""
    place_bodies(tree, q, sincos, rows)
    root = 0
    for i in range(tree.topology.shape[0]):
        if tree.topology[i, KIND] == FLOATING and tree.topology[i, PARENT] == 0:
            iv = tree.topology[i, IV]
            wrench_to_world(rows[i + 1, R_WB:], p[iv : iv + 6], 1.0, mu[root])
            root += 1
