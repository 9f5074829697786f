# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a controller asks of its robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class JointCommand:
    """Efforts, and positions and velocities to hold; None for what the command does not speak of.

    names: the joints, n of them; position, velocity and effort are (n,) in their order. A position or velocity is held
    by the drives of the robot with their own gains, an effort adds to that. motor: efforts by column of D, coupling:
    the name of a coupling to engage. wrench: pushes on links by name, force and torque (6,) at the origin of the link
    in its axes, until the next command.

    `Simulation.run` and a node take any part of the joints, in any order. What a command does not name keeps its drive.
    """

    names: tuple[str, ...] = ()
    position: np.ndarray | None = field(default=None, repr=False)
    velocity: np.ndarray | None = field(default=None, repr=False)
    effort: np.ndarray | None = field(default=None, repr=False)
    motor: Mapping[str, float] | None = None
    coupling: str | None = None
    wrench: Mapping[str, np.ndarray] | None = None
