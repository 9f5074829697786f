# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a controller sees of its robot, the same in `Simulation.run` and over ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mbsim_ros.lie import quaternion

NOTHING = np.zeros(0)
NOTHING.flags.writeable = False
BASE_Q, BASE_V = 7, 6  # entries of a floating base in q and v


def _nothing() -> np.ndarray:
    return NOTHING


class Contact(NamedTuple):
    """What touches a link: the sum of the forces on it (3,) [N] and their centre (3,) [m], both in the world.

    Each point counts for the centre by the size of its force; under a flat foot that is the centre of pressure.
    """

    force: np.ndarray
    point: np.ndarray


@dataclass(frozen=True, eq=False)
class RobotState:
    """A robot at one instant. Arrays are in the model's layouts; what nobody has told is empty.

    contact_links, contact_values (n, 6): links on which forces may act, and force and centre of each, as the last step
    had them; values None where nobody tells of contacts.
    """

    time: int  # ns
    q: np.ndarray = field(repr=False)  # (nq,)
    v: np.ndarray = field(repr=False)  # (nv,), that of a floating base in its own axes
    motor_position: np.ndarray = field(default_factory=_nothing, repr=False)  # of the columns of D but the base's
    motor_velocity: np.ndarray = field(default_factory=_nothing, repr=False)
    coupling: str = ""
    effort: np.ndarray = field(default_factory=_nothing, repr=False)  # of the driven joints now, after their limits
    is_floating: bool = False
    contact_links: tuple[str, ...] = field(default=(), repr=False)
    contact_values: np.ndarray | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float:
        """Time [s]."""
        return self.time / 1e9

    @cached_property
    def base_pose(self) -> np.ndarray:
        """Pose X_WB (4, 4) of a floating base in the world; that of a fixed one is the identity."""
        X = np.eye(4)
        if self.is_floating:
            X[:3, :3] = quaternion.to_matrix(quaternion.from_ros(self.q[3:BASE_Q]))
            X[:3, 3] = self.q[:3]
        return X

    @property
    def base_twist(self) -> np.ndarray:
        """Linear and angular velocity (6,) of a floating base in its own axes; zeros of a fixed one."""
        return self.v[:BASE_V] if self.is_floating else np.zeros(BASE_V)

    @cached_property
    def contacts(self) -> Mapping[str, Contact]:
        """Where forces act, by link: those that touch nothing are not among them."""
        values = self.contact_values
        if values is None:
            raise RuntimeError("state.contacts: joint_states and odom do not tell of them: set whole_state to true")
        places = values[:, :3].any(axis=1).nonzero()[0].tolist()
        return {self.contact_links[k]: Contact(values[k, :3], values[k, 3:]) for k in places}
