# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What every controller has, and the joints that it commands."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.model import Model, ModelJoint


class Controller(Protocol):
    """A controller of one robot. Made as Controller(model, parameters).

    One that does not need the state of all joints may say so: `needed_joints` are the names of those that it needs.
    """

    Parameters: ClassVar[type]  # a frozen dataclass, see control/parameters.py
    parameters: Any

    def __init__(self, model: Model, parameters: Any = None) -> None:
        """ValueError says what of the model or the parameters it cannot work with."""

    def configure(self, parameters: Any) -> None:
        """Go on with other parameters; ValueError says why not, and nothing has changed then."""

    def update(self, t: float, state: RobotState) -> JointCommand:
        """The command for this state at t [s]; called once per instant, with t that grows."""

    def reset(self) -> None:
        """Forget the past: the next update is the first of another motion."""


def driven_joints(model: Model) -> tuple[ModelJoint, ...]:
    """The joints that efforts are for: of one dof, mimicking no other, in the order of the model."""
    return tuple(joint for joint in model.joints if joint.nv == 1 and joint.iv >= 0)


def per_joint(name: str, values: tuple[float, ...], n: int) -> np.ndarray:
    """A parameter as (n,): one number stands for all joints."""
    if len(values) not in (1, n):
        raise ValueError(f"{name}: expected 1 number for all joints or {n}, one for each, got {len(values)}")
    return np.broadcast_to(np.array(values, dtype=float), (n,)).copy()
