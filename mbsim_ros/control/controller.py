# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The one door for controllers: `Simulation.run` and the nodes ask through it, and nothing else of one is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from mbsim_ros.control.command import Returned
from mbsim_ros.control.parameters import ValidatedParameters
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.model import Model, ModelJoint

P = TypeVar("P", bound=ValidatedParameters)


@runtime_checkable
class Controller(Protocol):
    """A controller of one robot: `update`, and what it cares to have of these, which callers look for.

    control_period: [s] between two updates in `Simulation.run` that is not told; over ROS it is the physics node's.
    needed_joints: names of the joints whose state it needs, all if it does not say: a robot may have joints that
        joint_states cannot tell of.
    commands: which of joints, motors, coupling and wrench (see control/command.py) its node answers every state with;
        one that does not say may answer with joints or with motors, and ask for a coupling.
    reads_whole_state: whether its node reads whole_state unless told otherwise, so that it sees contacts and motors.
    `reset`, `configure` and Parameters of a TunableController, the methods of one that PlansAhead.
    """

    def update(self, t: float, state: RobotState) -> Returned:
        """The command for this state at t [s]; called once per instant, with t that grows."""


class TunableController(Controller, Protocol[P]):
    """One that a node makes, tunes and starts again; `control/plain.py` completes others to it."""

    Parameters: ClassVar[type[ValidatedParameters]]  # a frozen dataclass, see control/parameters.py
    parameters: P

    def __init__(self, model: Model, parameters: P | None = None) -> None:
        """ValueError says what of the model or the parameters it cannot work with."""

    def configure(self, parameters: P) -> None:
        """Go on with other parameters; ValueError says why not, and nothing has changed then."""

    def reset(self) -> None:
        """Forget the past: the next update is the first of another motion."""


@runtime_checkable
class PlansAhead(Controller, Protocol):
    """One that at times needs nothing of the robot: its targets of motors for many instants are one compiled call."""

    def is_under_way(self, coupling: str) -> bool:
        """Whether `ahead` can tell what `update` would say, with this coupling in force."""

    def ahead(self, times: Sequence[float]) -> np.ndarray:
        """Positions and velocities (k, 2, columns of D) for the first k of these times [s], at least one.

        They are what `update` would say; the controller is then at the last of these k.
        """


def driven_joints(model: Model) -> tuple[ModelJoint, ...]:
    """The joints that efforts are for: of one dof, mimicking no other, in the order of the model."""
    return tuple(joint for joint in model.joints if joint.nv == 1 and joint.iv >= 0)


def per_joint(name: str, values: tuple[float, ...], n: int) -> np.ndarray:
    """A parameter as (n,): one number stands for all joints."""
    if len(values) not in (1, n):
        raise ValueError(f"{name}: expected 1 number for all joints or {n}, one for each, got {len(values)}")
    return np.broadcast_to(np.array(values, dtype=float), (n,)).copy()
