# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which feet stand, from the forces under them: with a threshold for each way, and a time for which it must last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class TouchDown:
    """A foot is down once its force has been above `down` for `lasting` seconds, up once it fell below `up`."""

    def __init__(self, feet: Iterable[str], down: float = 8.0, up: float = 2.0, lasting: float = 0.004):
        if not down > up >= 0.0:
            raise ValueError(f"down: expected a force above up = {up:g} N, got {down:g} N")
        self._down, self._up, self._lasting = down, up, lasting
        self._since: dict[str, float | None] = dict.fromkeys(feet)
        self._standing: dict[str, bool] = dict.fromkeys(self._since, False)
        self.last_touch: dict[str, float] = {}  # foot → time of its last touch-down [s]

    def update(self, t: float, forces: Mapping[str, float]) -> tuple[str, ...]:
        """Note the normal forces [N] at t [s]; feet without a force are up. Returns those that just came down."""
        came = []
        for foot, since in self._since.items():
            force = forces.get(foot, 0.0)
            if force < self._up or (since is None and force < self._down):
                self._since[foot], self._standing[foot] = None, False
                continue
            if since is None:
                since = self._since[foot] = t
            if not self._standing[foot] and t - since >= self._lasting:
                self._standing[foot] = True
                self.last_touch[foot] = since
                came.append(foot)
        return tuple(came)

    def is_down(self, foot: str) -> bool:
        """Whether this foot stands."""
        return self._standing[foot]

    @property
    def standing(self) -> tuple[str, ...]:
        """All feet that stand."""
        return tuple(foot for foot, down in self._standing.items() if down)
