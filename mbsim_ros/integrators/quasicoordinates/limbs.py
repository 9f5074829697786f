# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""A robot as dynamic limbs, N 4: chains from the body that all hang on to each tip, and what joins them.

A body that several limbs have in common is partitioned among them, N (39), (41), its inertia as well (ERRATA C7). The
transformations of N (36), (40) then say what the limbs share, each a matrix of ones and zeros:

    D₁   all limbs have one base: its velocity once, and the angles of each limb        N (44)–(46)
    D₂   a joint on the way to several tips is one joint                                N (47)

Both follow from the model alone. Which joints are driven from further in, by cables, N (29), is for the user to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IV, KIND, MASS, PARENT, ROTATION, ROTOR, TRANSLATION, Model

ONLY = "limbs of revolute joints"
PARALLEL = 1e-9  # what the axes of a joint with a cable and of the one that it passes may differ by
BASE = 6  # dofs


def why_no_limbs(model: Model) -> str:
    """Why a robot is no body with limbs, or ""."""
    first = 1 if model.is_floating else 0
    for body, name in enumerate(model.body_names[first:], start=first):
        if model.topology[body, KIND] != REVOLUTE:
            return f"the joint of link '{name}' is no revolute one"
        if model.is_floating and model.topology[body, PARENT] == 0:
            return f"link '{name}' does not hang on the base"
    return ""


@dataclass(frozen=True, eq=False)
class Limbs:
    """L limbs of up to n bodies, one after the other; shorter ones are filled up with bodies that are nothing.

    Bodies are by their numbers in the model, whose frames have the joint's axis as z. The first is the base: where that
    is fixed it is the world, without mass, and its motion is locked, N (26).
    """

    model: Model
    bodies: np.ndarray  # (L, n) numbers of the bodies, -1 for the world and where a limb has no more
    cables: Mapping[str, str]  # joints whose angle counts from the body before that of the joint named

    @property
    def count(self) -> int:
        """How many limbs."""
        return len(self.bodies)

    @property
    def longest(self) -> int:
        """Bodies of the longest limb."""
        return int(self.bodies.shape[1])

    @cached_property
    def shares(self) -> np.ndarray:
        """Part (L, n) of each body that belongs to the limb: one over the limbs that have it, N (41)."""
        own = self.bodies[self.bodies >= 0]
        common = np.bincount(own, minlength=self.model.n_bodies)
        return np.where(self.bodies >= 0, 1.0 / common[self.bodies], 0.0)

    @cached_property
    def masses(self) -> np.ndarray:
        """Masses (L, n), partitioned."""
        return self.shares * self.model.constants[self.bodies, MASS]

    @cached_property
    def inertias(self) -> np.ndarray:
        """Inertias (L, n, 3, 3) about the centres of mass in the bodies' axes, partitioned."""
        xx, yy, zz, xy, xz, yz = np.moveaxis(
            self.model.constants[self.bodies, CENTRAL_INERTIA : CENTRAL_INERTIA + 6], -1, 0
        )
        full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return np.moveaxis(full, (0, 1), (-2, -1)) * self.shares[..., None, None]

    @cached_property
    def S(self) -> np.ndarray:
        """Centres of mass (L, n, 3) in the bodies' frames."""
        return self.model.constants[self.bodies, CENTRE : CENTRE + 3]

    @cached_property
    def L(self) -> np.ndarray:
        """Where the frame of the next body is (L, n, 3), in that of each."""
        following = np.zeros((*self.bodies.shape, 3))
        following[:, :-1] = self.model.constants[self.bodies[:, 1:], TRANSLATION : TRANSLATION + 3]
        return following

    @cached_property
    def arms(self) -> np.ndarray:
        """What C_Nj is followed by in row i, column j of Φ (L, n, n, 3, 3): S̃ᵀ on the diagonal, L̃ᵀ below it, N (7)."""
        n = self.longest
        on, below = np.eye(n)[:, :, None, None], np.tril(np.ones((n, n)), -1)[:, :, None, None]
        S, L = (tilde(each).swapaxes(-1, -2)[:, None] for each in (self.S, self.L))
        return on * S + below * L

    @cached_property
    def relative(self) -> np.ndarray:
        """D (3n, 3 + n - 1) of every limb, N (14): the base as it turns, every joint about the z axis of its body."""
        D = np.zeros((3 * self.longest, 2 + self.longest))
        D[:3, :3] = np.eye(3)
        D[3 * np.arange(1, self.longest) + 2, 2 + np.arange(1, self.longest)] = 1.0
        return D

    @cached_property
    def turns(self) -> np.ndarray:
        """Rotation (L, n, 3, 3) of each joint's frame in the body before, at angle 0."""
        return self.model.constants[self.bodies, ROTATION : ROTATION + 9].reshape(*self.bodies.shape, 3, 3)

    @cached_property
    def dofs(self) -> np.ndarray:
        """Dof (L, n) of each body's joint, -1 for the base and where a limb has no more."""
        dofs = np.where(self.bodies >= 0, self.model.topology[self.bodies, IV], -1)
        dofs[:, 0] = -1
        return dofs

    @cached_property
    def filled(self) -> np.ndarray:
        """Whether row i of C^R has a block in column j (L, n, n, 1, 1): N (11), and emptied by cables, N (29)."""
        n = self.longest
        filled = np.tile(np.tril(np.ones((n, n))), (self.count, 1, 1))
        for name, over in self.cables.items():
            body, before = self.model.joint(name).body, self.model.joint(over).body
            for limb, i in zip(*np.nonzero(self.bodies == body), strict=True):
                (j,) = np.nonzero(self.bodies[limb] == before)[0]
                filled[limb, i:, j] = 0.0
        return filled[..., None, None]

    @cached_property
    def joint_rates(self) -> np.ndarray:
        """B (nv, nv): rates of the model's joints from those of N's angles, which for cables count from further in."""
        B = np.eye(self.model.nv)
        for name, over in self.cables.items():
            own, before = self.model.joint(name), self.model.joint(over)
            axis = self.model.constants[own.body, ROTATION + 8]  # of its own in the frame of the one before: ±1
            B[own.iv] -= axis * B[before.iv]
        return B

    @cached_property
    def angle_rates(self) -> np.ndarray:
        """Its inverse."""
        return np.linalg.inv(self.joint_rates)

    @cached_property
    def rotors(self) -> np.ndarray:
        """Rotor inertia (nv,) of each dof."""
        found, first = np.zeros(self.model.nv), 1 if self.model.is_floating else 0
        found[self.model.topology[first:, IV]] = self.model.constants[first:, ROTOR]
        return found

    def D1(self) -> np.ndarray:
        """(Σ (6 + joints of a limb), 6 + Σ joints of a limb)."""
        sizes = [int((row >= 0).sum()) for row in self.dofs]
        matrix, first, own = np.zeros((BASE * len(sizes) + sum(sizes), BASE + sum(sizes))), 0, BASE
        for size in sizes:
            matrix[first : first + BASE, :BASE] = np.eye(BASE)
            matrix[first + BASE : first + BASE + size, own : own + size] = np.eye(size)
            first, own = first + BASE + size, own + size
        return matrix

    def D2(self) -> np.ndarray:
        """(6 + Σ joints of a limb, nv): columns are the dofs of the model, of which a fixed base has none."""
        found = self.dofs[self.dofs >= 0]
        matrix = np.zeros((BASE + len(found), self.model.nv))
        if self.model.is_floating:
            matrix[:BASE, :BASE] = np.eye(BASE)
        matrix[BASE + np.arange(len(found)), found] = 1.0
        return matrix

    @cached_property
    def places(self) -> np.ndarray:
        """D₁D₂ by limb (L, 6 + n − 1, nv), with rows of zeros where a limb has no more bodies."""
        found = np.zeros((self.count, BASE + self.longest - 1, self.model.nv))
        if self.model.is_floating:
            found[:, :BASE, :BASE] = np.eye(BASE)
        limb, k = np.nonzero(self.dofs >= 0)
        found[limb, BASE + k - 1, self.dofs[limb, k]] = 1.0
        return found


def tilde(a: np.ndarray) -> np.ndarray:
    """The matrices (…, 3, 3) of a × …, N (6)."""
    out = np.zeros((*a.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def limbs_of(model: Model, cables: Mapping[str, str] | None = None) -> Limbs:
    """The limbs of a robot: the way from its base to every tip, in the order of the model.

    cables: by joint the joint right before it that its cable passes: its angle then counts from the body before that,
    N (29), and both axes have to be parallel. UnsupportedModel for a robot that is no body with limbs.
    """
    why = why_no_limbs(model)
    if why or model.mimic is not None:
        raise UnsupportedModel(f"'{model.name}' is none of {ONLY}: {why or 'it has mimic joints'}")
    parents = model.topology[:, PARENT] - 1
    chains = []
    for tip in sorted(set(range(model.n_bodies)) - set(parents.tolist())):
        chain = [tip]
        while parents[chain[0]] >= 0:
            chain.insert(0, int(parents[chain[0]]))
        chains.append(chain if model.is_floating else [-1, *chain])
    bodies = np.full((len(chains), max(map(len, chains))), -1, dtype=np.int64)
    for row, chain in zip(bodies, chains, strict=True):
        row[: len(chain)] = chain
    cables = dict(cables or {})
    for name, over in cables.items():
        own, before = model.joint(name), model.joint(over)
        if parents[own.body] != before.body:
            raise ValueError(f"cables: '{over}' is not the joint right before '{name}'")
        if 1.0 - abs(model.constants[own.body, ROTATION + 8]) > PARALLEL:
            raise ValueError(f"cables: the axes of '{name}' and '{over}' are not parallel")
    return Limbs(model, bodies, cables)
