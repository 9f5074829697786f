# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a rollout gives: the motion of all members, and which of them did not get to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MemberFailure:
    """A member whose step could not be solved; it stays in its last good state, after `step` steps of the rollout."""

    member: int
    step: int
    reason: str


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The motion of n members after every so many steps; rows that a member did not get to are NaN.

    `failures` are of the members that failed in this rollout; those that had failed before did not take part in it.
    """

    time: np.ndarray  # (n, rows) s since the reset of each member
    q: np.ndarray  # (n, rows, nq)
    v: np.ndarray  # (n, rows, nv) at these instants
    motor_position: np.ndarray  # (n, rows, nm), in the order of motor_names
    motor_velocity: np.ndarray  # (n, rows, nm)
    failures: tuple[MemberFailure, ...] = ()

    def __len__(self) -> int:
        """How many members there are."""
        return len(self.q)

    @property
    def reached_end(self) -> np.ndarray:
        """Which members got to the last row (n,)."""
        return np.isfinite(self.q[:, -1:]).all(axis=(1, 2))


@dataclass(frozen=True, eq=False)
class EnsembleState:
    """All members now, as a controller for arrays sees them; copies to keep or change."""

    time: np.ndarray  # (n,) s since the reset of each
    q: np.ndarray  # (n, nq)
    v: np.ndarray  # (n, nv)
    motor_position: np.ndarray  # (n, nm)
    motor_velocity: np.ndarray  # (n, nm)
    failed: np.ndarray  # (n,) whether it has failed and waits for a reset


def empty_trajectories(n: int, rows: int, nq: int, nv: int, nm: int) -> Trajectories:
    """Rows that are still to be written."""
    q, v, motor_position, motor_velocity = (np.full((n, rows, size), np.nan) for size in (nq, nv, nm, nm))
    return Trajectories(np.full((n, rows), np.nan), q, v, motor_position, motor_velocity)


def join_trajectories(parts: Sequence[Trajectories], failures: tuple[MemberFailure, ...]) -> Trajectories:
    """One after the other."""
    time, q, v, motor_position, motor_velocity = (
        np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("time", "q", "v", "motor_position", "motor_velocity")
    )
    return Trajectories(time, q, v, motor_position, motor_velocity, failures)
