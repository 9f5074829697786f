# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The points of a foot: the ball that it is, or the lowest points of its shape where the robot is in its home state.

A foot that rolls is one point with a radius. Most files have it as a mesh, whose vertices would make it a polygon that
rocks, so a mesh that is nearly a ball is taken for one. Of a sole only what is on the ground in the home state counts.
Other links have a few points each, so that a robot that falls lies on the ground.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mbsim_ros.contact.mesh_points import spread_out
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.model.model import Model
from mbsim_ros.model.states import state_vectors

HOME = "home"
ROUND = 0.2  # of the radius: vertices that lie so near to a sphere are those of a ball
SOLE = 0.03  # of the size of a foot: points so little above the lowest are of its sole
MOST_OF_SOLE = 8


class Soles:
    """Which way is down for each link in the home state, and what of a foot is there."""

    def __init__(self, model: Model):
        self._model = model

    @cached_property
    def _X_WB(self) -> np.ndarray:
        states = {} if self._model.sidecar is None else self._model.sidecar.initial_states
        q = state_vectors(self._model, states[HOME])[0] if HOME in states else self._model.neutral
        return forward_kinematics(self._model, q).X_WB

    @cached_property
    def _foot_bodies(self) -> set[int]:
        feet = () if self._model.sidecar is None else self._model.sidecar.feet
        return {self._model.frame(link).body for link in feet}

    def lowest(self, link: str, places: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Numbers of the points of a foot that are its sole; places (n, 3) in the link's frame, radii (n,)."""
        height = self._heights(link, places) - radii
        size = float(np.ptp(places, axis=0).max())
        low = np.flatnonzero(height <= height.min() + SOLE * size)
        chosen = {tuple(place) for place in spread_out(places[low], MOST_OF_SOLE)}
        return np.array([i for i in low if tuple(places[i]) in chosen], dtype=np.int64)

    def clear_of_feet(self, link: str, places: np.ndarray) -> np.ndarray:
        """Numbers of the points of a link that is no foot, and shall not stand in for one: (n, 3) in its frame.

        Of what carries a foot, such as a shank, only the upper half touches.
        """
        height = self._heights(link, places)
        if self._model.frame(link).body not in self._foot_bodies:
            return np.arange(len(places))
        return np.flatnonzero(height >= 0.5 * (height.min() + height.max()))

    def _heights(self, link: str, places: np.ndarray) -> np.ndarray:
        """z (n,) in the home state of places (n, 3) in the frame of a link."""
        frame = self._model.frame(link)
        X_WL = self._X_WB[frame.body] @ frame.X_BF
        return np.asarray(places @ X_WL[2, :3] + X_WL[2, 3])


def ball_of(vertices: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Centre (3,) and radius of the sphere that vertices (n, 3) lie on by least squares; None where they do not."""
    if len(vertices) < 8:
        return None
    middle = vertices.mean(axis=0)
    x = vertices - middle
    # |x − c|² = r² is linear in c and r² − |c|²
    solved = np.linalg.lstsq(np.column_stack([2.0 * x, np.ones(len(x))]), (x * x).sum(axis=1), rcond=None)[0]
    centre = solved[:3]
    radius = float(np.sqrt(max(solved[3] + centre @ centre, 0.0)))
    off = np.abs(np.linalg.norm(x - centre, axis=1) - radius)
    return (centre + middle, radius) if off.max() <= ROUND * radius else None
