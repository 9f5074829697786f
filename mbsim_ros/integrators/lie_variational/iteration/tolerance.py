# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How far the equations of a step are solved: what the iteration may leave, relative to their terms.

It is judged by the next update that there would be, in the norm of the matrix. Rounding leaves some 1e-15. Looser ones
cost nothing that can be seen up to the defaults (docs/performance.md has the measurements): what is left over of a step
is carried into the next one, and where points touch, dampers and friction take more energy than it makes.
"""

from __future__ import annotations

import math
from typing import SupportsFloat

import numpy as np

ROUNDING = 4.0e-15  # no tolerance is smaller
FREE, TOUCHING = 1.0e-13, 1.0e-10  # where nothing is said: in a step in which nothing touches, and in others
LOOSEST = 1.0e-3


def chosen_tolerances(given: SupportsFloat | None, order: int = 2) -> np.ndarray:
    """Tolerances (2,) without and with contact: the defaults for None, else the same for both, 0 being rounding.

    Where nothing is said of a higher order, whose errors come near it, it is rounding.
    """
    if given is None:
        return np.array([FREE, TOUCHING]) if order == 2 else np.full(2, ROUNDING)
    try:
        tolerance = math.nan if isinstance(given, str) else float(given)
    except (TypeError, ValueError):
        tolerance = math.nan
    if not 0.0 <= tolerance <= LOOSEST:
        raise ValueError(f"tolerance: expected 0 (as far as rounding lets) to {LOOSEST:g}, or None, got {given!r:.80}")
    return np.full(2, max(tolerance, ROUNDING))
