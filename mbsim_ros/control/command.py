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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Values = np.ndarray | Sequence[float] | Mapping[str, float]  # in the order of names, or by name
PARTS = ("position", "velocity", "effort", "kp", "kd")
JOINTS, MOTORS, COUPLING, WRENCH = "joints", "motors", "coupling", "wrench"  # what is commanded


@dataclass(frozen=True)
class Targets:
    """What drives are to do: effort + kp (position − r) + kd (velocity − v); None for what is not spoken of.

    names: of joints or of columns of D, n of them; the parts are (n,) in their order. Without kp and kd a drive has its
    own gains.
    """

    names: tuple[str, ...] = ()
    position: np.ndarray | None = field(default=None, repr=False)
    velocity: np.ndarray | None = field(default=None, repr=False)
    effort: np.ndarray | None = field(default=None, repr=False)
    kp: np.ndarray | None = field(default=None, repr=False, kw_only=True)
    kd: np.ndarray | None = field(default=None, repr=False, kw_only=True)

    def given(self) -> dict[str, Values]:
        """The parts that are spoken of; of an object that was read as a command they may be mappings by name."""
        return {part: value for part in PARTS if (value := getattr(self, part)) is not None}


@dataclass(frozen=True)
class Command(Targets):
    """Targets of joints, and what else a controller may ask for; what a command does not name stays as it was.

    names: any part of the joints, in any order; empty with arrays of all joints that are driven, in their order. A
    position or velocity is held by the drives of the robot in every step, an effort adds to that until the next
    command. motor: efforts by column of D, or Targets of columns of the coupling that is in force. coupling: the name
    of a coupling to engage, after targets of motors. wrench: pushes on links by name, force and torque (6,) at the
    origin of the link in its axes, until the next command.
    """

    motor: Mapping[str, float] | Targets | None = None
    coupling: str | None = None
    wrench: Mapping[str, np.ndarray] | None = None

    def spoken_of(self) -> set[str]:
        """What it commands: any of joints, motors, coupling and wrench."""
        others = {MOTORS: self.motor, COUPLING: self.coupling, WRENCH: self.wrench}
        said = {what for what, part in others.items() if part is not None}
        return said | {JOINTS} if self.given() else said


JointCommand = Command  # as pages and controllers have called it
Returned = Command | Values | None  # what `update` may return; or an object with attributes of a Command

_OF_A_COMMAND = (*PARTS, "motor", "coupling", "wrench")


def command_from(returned: Returned | object, names: tuple[str, ...]) -> Command:
    """The Command that `update` returned, or meant by efforts; names: the joints that an array is for, in their order.

    Every caller of controllers reads their answers with this: `Simulation.run`, and the nodes.
    """
    if isinstance(returned, Command):
        return returned
    if returned is None:
        return Command()
    if isinstance(returned, Mapping):
        unknown = [name for name in returned if name not in names]
        if unknown:
            raise ValueError(f"it names {unknown[0]!r}; there are {', '.join(names)}")
        return Command(tuple(returned), effort=np.array([float(returned[name]) for name in returned]))
    if any(hasattr(returned, part) for part in _OF_A_COMMAND):
        parts = {part: getattr(returned, part, None) for part in _OF_A_COMMAND}
        return Command(tuple(getattr(returned, "names", None) or ()), **parts)
    try:
        effort = np.atleast_1d(np.asarray(returned, dtype=float))
    except (TypeError, ValueError):
        raise ValueError(
            f"expected None, efforts, or an object with any of {', '.join(_OF_A_COMMAND)}; got {returned!r:.80}"
        ) from None
    if effort.shape != (len(names),):
        raise ValueError(f"expected {len(names)} efforts, for {', '.join(names)}, got {effort.size}")
    return Command(names, effort=effort)


def listed(command: Command, names: tuple[str, ...]) -> Command:
    """The same with names and arrays in their order throughout, as messages have it; names: of arrays without names."""
    parts, motor = command.given(), command.motor
    if isinstance(motor, Mapping):
        motor = Targets(tuple(motor), effort=_in_order("motor", motor, tuple(motor)))
    by_name = [part for part in parts.values() if isinstance(part, Mapping)]
    own = command.names or (tuple(by_name[0]) if by_name else names)
    arrays = {part: _in_order(part, values, own) for part, values in parts.items()}
    return Command(own if parts else (), **arrays, motor=motor, coupling=command.coupling, wrench=command.wrench)


def _in_order(part: str, values: Values, names: tuple[str, ...]) -> np.ndarray:
    if isinstance(values, Mapping):
        if set(values) != set(names):
            raise ValueError(f"{part}: expected a number for each of {', '.join(names)}, got {', '.join(values)}")
        values = [values[name] for name in names]
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if array.shape != (len(names),):
        raise ValueError(f"{part}: expected a number for each of the command's {len(names)} names, got {array.size}")
    return array
