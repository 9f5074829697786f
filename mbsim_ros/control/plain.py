# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controllers of few lines: a class with `update(t, state)` alone, completed to what a node needs.

`update` may return what `Simulation.run` takes: None, efforts as an array of the joints that are driven or as a mapping
by name, or a `Command`. The class is made with the model if its constructor takes one.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import ClassVar

from mbsim_ros.control.command import Command, command_from
from mbsim_ros.control.controller import Controller, TunableController, driven_joints
from mbsim_ros.control.parameters import ValidatedParameters
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.model import Model


@dataclass(frozen=True)
class NoParameters(ValidatedParameters):
    """Of a controller that has none."""


class ControllerFailed(RuntimeError):
    """What a user's controller raised, or returned that is no command."""


def completed(plain: type) -> type[TunableController[ValidatedParameters]]:
    """A class that a node can make and tune, around one that may have nothing but `update`."""
    if not callable(getattr(plain, "update", None)):
        raise ValueError(f"{plain.__name__}: a controller has a method update(t, state)")

    class Completed:
        Parameters: ClassVar[type[ValidatedParameters]] = getattr(plain, "Parameters", NoParameters)
        commands: ClassVar[tuple[str, ...] | None] = getattr(plain, "commands", None)
        reads_whole_state = True  # a node of it: contacts and motors are in its states without a word from the user

        def __init__(self, model: Model, parameters: ValidatedParameters | None = None) -> None:
            self.parameters = parameters if parameters is not None else self.Parameters()
            self._model = model
            self._names = tuple(joint.name for joint in driven_joints(model))
            self._own = self._made()

        def configure(self, parameters: ValidatedParameters) -> None:
            self.parameters = parameters
            if hasattr(self._own, "configure"):
                self._own.configure(parameters)

        def reset(self) -> None:
            """What has no `reset` of its own is made anew: it begins as it began."""
            if hasattr(self._own, "reset"):
                self._own.reset()
            else:
                self._own = self._made()

        def update(self, t: float, state: RobotState) -> Command:
            try:
                return command_from(self._own.update(t, state), self._names)
            except ValueError as error:
                raise ControllerFailed(f"{plain.__name__}.update: {error}") from error

        def _made(self) -> Controller:
            takes = _positional(plain)
            made: Controller = plain(*(self._model, self.parameters)[:takes])
            return made

    Completed.__name__ = plain.__name__
    return Completed


def _positional(plain: type) -> int:
    """How many of model and parameters the constructor takes."""
    try:
        parameters = inspect.signature(plain).parameters.values()
    except (TypeError, ValueError):
        return 0
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return 2
    return min(2, sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters))
