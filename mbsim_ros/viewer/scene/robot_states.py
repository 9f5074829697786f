# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""q from what a robot publishes: positions of joints by name, and the pose of a floating base."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbsim_ros.model.model import Model


class RobotStates:
    """Keeps q (nq,) up to date. Joints of several dofs have no place in joint_states: they stay where they were."""

    def __init__(self, model: Model, q: np.ndarray):
        self._model, self.q = model, q.copy()
        self._known = {joint.name: joint.iq for joint in model.joints if joint.nv == 1 and joint.iq >= 0}
        self._names: tuple[str, ...] = ()
        self._from = self._to = np.zeros(0, dtype=np.int64)
        self.silent = [joint.name for joint in model.joints if joint.nv > 1]

    def joints(self, names: Sequence[str], positions: np.ndarray) -> None:
        """Take positions (n,) of joints; what the robot does not have, and what is not finite, is left out."""
        if tuple(names) != self._names:
            self._names = tuple(names)
            pairs = [(place, self._known[name]) for place, name in enumerate(names) if name in self._known]
            table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            self._from, self._to = table[:, 0], table[:, 1]
        if len(positions) == len(self._names) and np.isfinite(positions).all():
            self.q[self._to] = positions[self._from]

    def whole(self, q: np.ndarray) -> None:
        """Take all of q (nq,)."""
        if q.shape == self.q.shape and np.isfinite(q).all():
            self.q[:] = q

    def base(self, pose: np.ndarray) -> None:
        """Take the pose (7,) of a floating base: x y z, qx qy qz qw."""
        length = float(np.linalg.norm(pose[3:]))
        if self._model.is_floating and np.isfinite(pose).all() and length > 0.5:
            self.q[:3], self.q[3:7] = pose[:3], pose[3:] / length
