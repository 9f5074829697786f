# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Several controllers of one robot, each with its part: asked about the same states, as nodes in lockstep are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from mbsim_ros.control.command import Command, command_from
from mbsim_ros.control.controller import Controller, driven_joints
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.model import Model

T = TypeVar("T")


class Together:
    """A controller of controllers, such as Together(model, WalkerGait(model), ClutchLogic(model)).

    It is asked as often as the first of them that has a period of its own.
    """

    def __init__(self, model: Model, *controllers: Controller):
        self.controllers = controllers
        self._names = tuple(joint.name for joint in driven_joints(model))
        periods = (getattr(each, "control_period", None) for each in controllers)
        self.control_period: float | None = next(filter(None, periods), None)

    def update(self, t: float, state: RobotState) -> Command:
        """What all of them command for this state at t [s]; ValueError where two command the same."""
        return joined([command_from(each.update(t, state), self._names) for each in self.controllers])

    def reset(self) -> None:
        """Begin anew, all that can."""
        for each in self.controllers:
            if hasattr(each, "reset"):
                each.reset()


def joined(commands: Sequence[Command]) -> Command:
    """All that these commands ask for: one of joints, one of motors, one of the coupling, one that pushes links."""
    of_joints = _only("joints", [each for each in commands if each.given()])
    return replace(
        Command() if of_joints is None else of_joints,
        motor=_only("motors", [each.motor for each in commands if each.motor is not None]),
        coupling=_only("the coupling", [each.coupling for each in commands if each.coupling is not None]),
        wrench=_only("links", [each.wrench for each in commands if each.wrench is not None]),
    )


def _only(what: str, said: list[T]) -> T | None:
    if len(said) > 1:
        raise ValueError(f"controllers: expected one of them to command {what}, got {len(said)}")
    return said[0] if said else None
