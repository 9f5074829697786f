# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which states there are: what no robot does is taken for a failure of the step that leads there.

A number may be finite and still mean nothing: at 10⁹ rad an angle is known to 10⁻⁷ rad, and 10⁶ rad/s is a thousand
radians in a millisecond. A wheel that turns at 100 rad/s reaches the first bound after four months.
"""

from __future__ import annotations

import numpy as np

from mbsim_ros.jit import helper

FURTHEST = 1e9  # of a coordinate [m or rad]
FASTEST = 1e6  # of a velocity [m/s or rad/s]
BOUNDS = f"{FURTHEST:g} m or rad, {FASTEST:g} m/s or rad/s"


@helper
def is_plausible(q, v):
    """Whether all coordinates and velocities are within the bounds; no number is not."""
    within = 0  # counted, without a way out: so a processor takes several at a time
    for i in range(q.shape[0]):
        within += abs(q[i]) <= FURTHEST
    for i in range(v.shape[0]):
        within += abs(v[i]) <= FASTEST
    return within == q.shape[0] + v.shape[0]


def refuse_implausible(q: np.ndarray, v: np.ndarray) -> None:
    """Raise ValueError, with the entry, for a q (nq,) or v (nv,) beyond the bounds."""
    for name, values, bound in (("q", q, FURTHEST), ("v", v, FASTEST)):
        if values.dtype.kind not in "iuf":
            continue  # what is no number has its own message
        beyond = np.flatnonzero((np.abs(values) > bound) & np.isfinite(values))  # others have their own message
        if len(beyond):
            at = int(beyond[0])
            raise ValueError(f"{name}: expected at most {bound:g}, got {name}[{at}] = {values[at]:.6g}")
