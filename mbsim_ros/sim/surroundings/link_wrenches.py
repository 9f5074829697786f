# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The sum of the contact forces on each link: with their centre in the world, or as a wrench at the link's origin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.body_pairs_kernel import POINT, SHAPE
from mbsim_ros.contact.layout import FORCE, POSITION
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.contact.state import ContactState
from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.jit import kernel

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

GROUND = -1  # in place of a link


@kernel
def add_link_wrenches(modes, results, links, others, rows, poses, out):
    """Add (f, τ) of every point that touches to out (n, 6), on its link and with the other sign on the other.

    links, others (points,): rows of out, GROUND for none; rows (n,): of those links in poses (all links, 12).
    """
    for i in range(modes.shape[0]):
        if modes[i] == NO_CONTACT:
            continue
        for side in range(2):
            k = links[i] if side == 0 else others[i]
            if k < 0:
                continue
            sign = 1.0 - 2.0 * side
            X = poses[rows[k]]  # R_WL row by row, then p_WL
            fx, fy, fz = sign * results[i, FORCE], sign * results[i, FORCE + 1], sign * results[i, FORCE + 2]
            x = results[i, POSITION] - X[9]
            y = results[i, POSITION + 1] - X[10]
            z = results[i, POSITION + 2] - X[11]
            mx, my, mz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
            for axis in range(3):  # R_WLᵀ turns both into the link's axes
                out[k, axis] += X[axis] * fx + X[3 + axis] * fy + X[6 + axis] * fz
                out[k, 3 + axis] += X[axis] * mx + X[3 + axis] * my + X[6 + axis] * mz


@kernel
def add_link_forces(modes, results, links, others, out):
    """Add f (3,), Σ |f_i| p_i (3,) and Σ |f_i| of every point that touches to out (n, 7), as add_link_wrenches does."""
    for i in range(modes.shape[0]):
        if modes[i] == NO_CONTACT:
            continue
        f = results[i, FORCE : FORCE + 3]
        size = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        for side in range(2):
            k = links[i] if side == 0 else others[i]
            if k < 0:
                continue
            for axis in range(3):
                out[k, axis] += f[axis] * (1.0 - 2.0 * side)
                out[k, 3 + axis] += size * results[i, POSITION + axis]
            out[k, 6] += size


class LinkForces:
    """Forces on the links of a simulation that can touch something: `links` are their names, in a fixed order."""

    def __init__(self, sim: Simulation):
        self._sim, scene = sim, sim.scene
        on: list[str] = []
        against: list[str] = []
        self._parts: list[tuple[str, slice]] = []  # where the integrator has the states, and their part of the lists
        if scene.points is not None and scene.ground is not None:
            on += scene.points.links
            against += [""] * len(on)
            self._parts.append(("contacts", slice(0, len(on))))
        if scene.points is not None and scene.pairs is not None:
            begin = len(on)
            on += [scene.points.links[int(pair[POINT])] for pair in scene.pairs.pairs]
            against += [scene.pairs.shape_links[int(pair[SHAPE])] for pair in scene.pairs.pairs]
            self._parts.append(("pair_contacts", slice(begin, len(on))))
        of_shapes = () if scene.shapes is None else scene.shapes.links  # of the entities of a scene
        in_pairs = (link for pair in zip(on, against, strict=True) for link in pair if link)
        self.links = tuple(dict.fromkeys((*in_pairs, *of_shapes)))
        places = {link: place for place, link in enumerate(self.links)}
        self._on = np.array([places[link] for link in on], dtype=np.int64)
        self._against = np.array([places.get(link, GROUND) for link in against], dtype=np.int64)
        self._shapes = np.array([places[link] for link in of_shapes], dtype=np.int64)

    def now(self) -> np.ndarray:
        """Force and centre of each link (links, 6) in the world, of the last step; zeros where it touches nothing."""
        out = np.zeros((len(self.links), 7))
        for modes, results, on, against in self._states():
            add_link_forces(modes, results, on, against, out)
        carrying = out[:, 6] > 0.0
        out[carrying, 3:6] /= out[carrying, 6:]
        return out[:, :6]

    def _states(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Modes and results of the points of each kind, and of each the rows of its link and of what that touches."""
        integrator = self._sim.integrator
        for name, part in self._parts:
            state: ContactState = getattr(integrator, name)
            yield state.modes, state.latest, self._on[part], self._against[part]  # of what touches all is there
        if len(self._shapes):
            pairs, state = integrator.shape_pairs(), integrator.pair_contacts
            n = len(pairs)
            yield state.modes[:n], state.results[:n], self._shapes[pairs[:, 0]], self._shapes[pairs[:, 1]]


class LinkWrenches(LinkForces):
    """The same as wrenches."""

    def __init__(self, sim: Simulation):
        super().__init__(sim)
        everywhere = {link: row for row, link in enumerate(sim.model.link_names)}
        self._rows = np.array([everywhere[link] for link in self.links], dtype=np.int64)
        self._poses = np.empty((len(everywhere), 12))

    def at(self, q: np.ndarray) -> np.ndarray:
        """The wrenches (f, τ) (links, 6) of the last step, with the links where q (nq,) says."""
        out = np.zeros((len(self.links), 6))
        poses = link_pose_rows(self._sim.model, q, out=self._poses)
        for modes, results, on, against in self._states():
            add_link_wrenches(modes, results, on, against, self._rows, poses, out)
        return out
