# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What a link does, in words: its pose, its velocity, the wrench of its contacts."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from mbsim_ros.viewer.page.markdown import plain

SECOND = 1e9  # ns
LEAST = 5_000_000  # ns between two states that a velocity is told from


class LinkReading:
    """Reads one link after the other. `link` is the one that was clicked last, None for none."""

    def __init__(self, link_names: tuple[str, ...] | list[str]):
        self._rows = {name: row for row, name in enumerate(link_names)}
        self.link: str | None = None
        self._last: tuple[str, int, np.ndarray] | None = None
        self._velocity = np.zeros(6)

    def read(self, rows: np.ndarray, stamp: int, wrench: np.ndarray | None) -> str:
        """Markdown for the link that was clicked, "" without one.

        rows: poses (links, 12) at a stamp [ns]; wrench (6,): of its contacts, None where that is not known.
        """
        if self.link is None:
            return ""
        row = rows[self._rows[self.link]].copy()
        if self._last is None or self._last[0] != self.link or stamp < self._last[1]:
            self._velocity[:], self._last = 0.0, (self.link, stamp, row)
        elif stamp - self._last[1] >= LEAST:
            self._velocity = _velocity(self._last[2], row, (stamp - self._last[1]) / SECOND)
            self._last = self.link, stamp, row
        turn = np.degrees(_rotation(row).as_euler("xyz"))
        lines = [
            f"**{plain(self.link)}**",
            f"position {_three(row[9:])} m",
            f"roll, pitch, yaw {_three(turn, 1)} °",
            f"velocity {_three(self._velocity[:3])} m/s",
            f"turns {_three(self._velocity[3:])} rad/s",
        ]
        if wrench is not None:
            lines += [f"contact force {_three(wrench[:3], 1)} N", f"contact torque {_three(wrench[3:], 2)} Nm"]
        return "  \n".join(lines)


def _velocity(before: np.ndarray, now: np.ndarray, seconds: float) -> np.ndarray:
    """Mean (v, ω) in the world between two poses (12,)."""
    turned = _rotation(now) * _rotation(before).inv()
    return np.concatenate([now[9:] - before[9:], turned.as_rotvec()]) / seconds


def _rotation(row: np.ndarray) -> Rotation:
    return Rotation.from_matrix(row[:9].reshape(3, 3))


def _three(values: np.ndarray, digits: int = 3) -> str:
    return ", ".join(f"{value + 0.0:.{digits}f}" for value in values.round(digits).tolist())
