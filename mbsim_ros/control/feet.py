# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The forces under the feet of a robot, from what a controller sees of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbsim_ros.control.robot_state import RobotState


def foot_forces(state: RobotState, feet: Mapping[str, str]) -> dict[str, float] | None:
    """The size of the force on every foot [N], by leg; None where nobody tells of contacts. feet: legs by link."""
    if state.contact_values is None:
        return None
    forces = state.contact_values[:, :3]
    sizes = np.sqrt((forces * forces).sum(axis=1)).tolist()
    return {feet[link]: size for link, size in zip(state.contact_links, sizes, strict=True) if link in feet}
