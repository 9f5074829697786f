# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`TrapezoidalLieNewmark`: K (9), (10), trapezoidal collocation on SO(3), for one rigid body."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.rigid_body.cayley import CayleyRigidBody
from mbsim_ros.integrators.rigid_body.cayley_kernel import NEWMARK
from mbsim_ros.integrators.step_bound import collocation_bound


class TrapezoidalLieNewmark(CayleyRigidBody):
    """K (9), (10): dexp⁻¹ cut off after its linear term, and the exponential in place of the Cayley map.

    Of second order and close to the motion, but neither symplectic nor does it keep the spatial momentum; and unlike
    the Cayley scheme its steps become singular for every body that is not a sphere, from h |ω| = 4 √κ / (κ − 1) on.
    """

    SCHEME = NEWMARK

    def step_bound(self) -> float:
        """The step [s] below which the Jacobian of a step is invertible at this velocity, K (19)."""
        return collocation_bound(max(self._condition, 1.0), float(np.linalg.norm(self.v[-3:])))
