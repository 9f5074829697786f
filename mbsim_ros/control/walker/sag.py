# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""By how much a walker comes down while one frame carries it: its drives and its contacts are springs.

Feet of the other frame are lifted from a body that has come down, so they clear the ground by that much less.
"""

from __future__ import annotations

from mbsim_ros.control.walker.geometry import WalkerGeometry
from mbsim_ros.model.model import Model

GRAVITY = 9.81  # m/s²
CARRYING = 3  # feet with which contacts are pressed in by max_penetration (contact/parameters.py)


def sag(model: Model, geometry: WalkerGeometry) -> dict[str, float]:
    """How far the body comes down while this frame carries it [m], by frame; femurs level, as they are about.

    A femur motor of stiffness k carries the weight on levers of length l: m g l / k is its angle, l times that the way.
    What hangs on the femurs that stand is less for them, and as much more for those that are lifted.
    """
    settings = model.sidecar
    assert settings is not None
    contact = 0.0 if settings.contact is None else settings.contact.max_penetration or 0.0
    found = {}
    for frame in geometry.frames:
        gains = settings.gains.get(frame.femurs)
        drive = model.mass * GRAVITY * frame.femur**2 / gains.kp if gains is not None and gains.kp > 0.0 else 0.0
        found[frame.name] = drive + contact * CARRYING / len(frame.legs)
    return found
