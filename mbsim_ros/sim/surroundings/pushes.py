# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Wrenches from outside that act on links until they are replaced or ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean


class Pushes:
    """Wrenches (f, τ) at the origins of links in their axes, by link, written to the integrator's external wrenches."""

    def __init__(self, model: Model, external: np.ndarray):
        self._model, self._external = model, external  # (bodies, 6), each body's sum in its own frame
        self._wrenches: dict[str, np.ndarray] = {}

    def set(
        self, link: str, force: ArrayLike | None = None, torque: ArrayLike | None = None, at: ArrayLike | None = None
    ) -> None:
        """Push a link with a force (3,), at a point (3,) of it, and a torque (3,); two times None ends it."""
        if not isinstance(link, str) or link not in self._model.frames:
            hint = did_you_mean(str(link), self._model.frames, f"there are {', '.join(self._model.frames)}", 0)
            raise ValueError(f"push: no link named {link!r}: {hint}")
        if self._model.frames[link].body < 0:
            raise ValueError(f"push: link '{link}' is fixed to the world and cannot be pushed")
        if force is None and torque is None:
            if at is not None:
                raise ValueError("at: expected a force with it, got none")
            self._replace({name: wrench for name, wrench in self._wrenches.items() if name != link})
            return
        wrench = np.zeros(6)
        if force is not None:
            wrench[:3] = check.finite("force", check.vector("force", force, 3))
        if torque is not None:
            wrench[3:] = check.finite("torque", check.vector("torque", torque, 3))
        if at is not None:
            wrench[3:] += np.cross(check.finite("at", check.vector("at", at, 3)), wrench[:3])
        self._replace({**self._wrenches, link: check.finite("push", wrench)})

    def clear(self) -> None:
        """End all."""
        self._replace({})

    def saved(self) -> dict[str, list[float]]:
        """The wrenches by link, for a snapshot."""
        return {link: wrench.tolist() for link, wrench in self._wrenches.items()}

    def restore(self, saved: dict[str, list[float]]) -> None:
        """Take back what `saved` gave; ValueError for links that there are not."""
        unknown = [link for link in saved if link not in self._model.frames]
        if unknown:
            raise ValueError(f"pushes: no link named {unknown[0][:80]!r}")
        self._replace({link: np.array(wrench) for link, wrench in saved.items()})

    def _replace(self, wrenches: dict[str, np.ndarray]) -> None:
        total = check.body_wrenches(self._model, wrenches) if wrenches else 0.0
        self._external[:] = total
        self._wrenches = wrenches
