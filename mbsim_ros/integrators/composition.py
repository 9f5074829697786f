# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Symmetric compositions that raise the order of a symmetric one-step map from 2 to 4.

Suzuki's five substeps: γ, γ, 1 − 4γ, γ, γ with γ = 1 / (4 − ∛4). The middle one goes back in time, so a composed step
cannot have contact, damping, friction or clutches. M. Suzuki, Phys. Lett. A 146 (1990); its error constant is some
ten times smaller than that of the three-step composition.
"""

from __future__ import annotations

import numpy as np

GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
SUBSTEPS = {
    2: np.array([1.0]),
    4: np.array([GAMMA, GAMMA, 1.0 - 4.0 * GAMMA, GAMMA, GAMMA]),
}
