# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Drives that stay: efforts, positions and velocities to hold, with gains, of joints or of columns of D.

The force of a drive is effort + kp (position − r) + kd (velocity − v), cut at the joint's effort limit, evaluated in
the middle of every step and solved with it. A position is held with kp > 0 only, so kp > 0 says that there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.layout import Drives
from mbsim_ros.sim.drives.default_gains import DriveGains
from mbsim_ros.sim.names import Names


class DriveBoard:
    """The drives of all joints, or of all columns, by name; writes to the arrays that the integrator reads."""

    def __init__(
        self,
        names: Names,
        arrays: Drives,
        places: np.ndarray,
        gains: DriveGains,
        *,
        without_position: Mapping[str, str] | None = None,
        no_gains: str = "",
        no_damping: str = "",
    ):
        """places: of the names in the arrays. The last three say why drives, or their kd, are refused; "" if not."""
        self.names = names
        self._arrays, self._places, self._gains = arrays, places, gains
        self._without_position = {} if without_position is None else without_position
        self._no_gains, self._no_damping = no_gains, no_damping

    def set(
        self, position: Any = None, velocity: Any = None, effort: Any = None, kp: Any = None, kd: Any = None
    ) -> None:
        """Change the drives that are named; nothing changes if any value is refused."""
        read = self.names.entries
        positions, velocities, efforts = read("position", position), read("velocity", velocity), read("effort", effort)
        kps, kds = read("kp", kp), read("kd", kd)
        writes: list[tuple[np.ndarray, int, float]] = []
        for i in {**positions, **velocities, **kps, **kds}:
            at, name = int(self._places[i]), self.names.names[i]
            new_kp, new_kd = self._chosen_gains(name, at, i in positions, i in velocities, kps.get(i), kds.get(i))
            writes += [(self._arrays.kp, at, new_kp), (self._arrays.kd, at, new_kd)]
            writes += [(self._arrays.position, at, positions[i])] if i in positions else []
            writes += [(self._arrays.velocity, at, velocities[i])] if i in velocities else []
        writes += [(self._arrays.effort, int(self._places[i]), value) for i, value in efforts.items()]
        for array, at, value in writes:
            array[at] = value

    def release(self, names: Iterable[str] | None = None) -> None:
        """End the drives of these names, or all."""
        if names is not None and not isinstance(names, Iterable):
            raise ValueError(f"release: expected names, got {names!r:.80}")
        wanted = range(len(self.names)) if names is None else [self.names.place("release", name) for name in names]
        at = self._places[list(wanted)]
        for array in (
            self._arrays.effort,
            self._arrays.kp,
            self._arrays.kd,
            self._arrays.position,
            self._arrays.velocity,
        ):
            array[at] = 0.0

    def _chosen_gains(
        self, name: str, at: int, holds: bool, follows: bool, kp: float | None, kd: float | None
    ) -> tuple[float, float]:
        """The gains of one drive: given, else those it has, else the sidecar's, else those of the rule.

        The rule's kd belongs to its kp: with a kp that was given there is no damping that nobody asked for.
        """
        for gain, value in (("kp", kp), ("kd", kd)):
            if value is not None and value < 0.0:
                raise ValueError(f"{gain}[{name!r}]: expected a gain of 0 or more, got {value}")
        if self._no_gains:
            raise UnsupportedModel(f"drive of '{name}': {self._no_gains}")
        if name in self._without_position:
            raise ValueError(f"drive of '{name}': {self._without_position[name]}")
        has_kp, has_kd = float(self._arrays.kp[at]), float(self._arrays.kd[at])
        default = self._gains.given.get(name) if kp is not None else self._gains.get(name)
        if kp is None:
            kp = default.kp if holds and has_kp == 0.0 and default is not None else has_kp
        elif kp > 0.0 and not holds and has_kp == 0.0:
            raise ValueError(f"kp[{name!r}]: there is no position to hold: give position, too")
        if kd is None:
            idle = has_kp == 0.0 and has_kd == 0.0
            kd = default.kd if (idle or follows) and has_kd == 0.0 and default is not None else has_kd
        if holds and kp == 0.0:
            raise ValueError(f"position[{name!r}]: no gain: give kp, or list '{name}' under gains in the sidecar")
        if follows and kd == 0.0 and not (holds or has_kp > 0.0):
            raise ValueError(f"velocity[{name!r}]: no gain: give kd, or list '{name}' under gains in the sidecar")
        if kd > 0.0 and self._no_damping:
            raise UnsupportedModel(f"kd[{name!r}]: {self._no_damping}")
        return kp, kd
