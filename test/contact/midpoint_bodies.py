# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A small integrator for tests: free bodies with equal moments of inertia, implicit midpoint, contact from the package.

Such a body has its angular momentum along ω, so the step needs nothing but the contact. The solve is Newton's with the
blocks that the kernels give, which tests those, too.
"""

from __future__ import annotations

import numpy as np
from transforms3d.axangles import axangle2mat

from mbsim_ros.contact.body_pairs_kernel import body_pairs_pass_into, finish_body_pairs_into
from mbsim_ros.contact.contact_kernel import add_point_block, contact_pass_into, finish_step_into
from mbsim_ros.contact.state import contact_state
from mbsim_ros.dynamics.layout import P_WB, R_WB

TOLERANCE = 1e-13


def cross(a, b):
    """a × b row by row; numpy's own takes five times as long for a few rows."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


class Bodies:
    """Bodies with masses and moments (n,), positions x (n, 3), rotations R (n, 3, 3), velocities v, w (n, 3)."""

    def __init__(self, masses, moments, ground, parameters, bodies, geometry, gravity=(0.0, 0.0, -9.81), pairs=None):
        self.m, self.J = np.array(masses, dtype=float), np.array(moments, dtype=float)
        n = len(self.m)
        self.ground, self.gravity = ground, np.array(gravity, dtype=float)
        self.parameters = np.tile(parameters, (max(len(bodies), 0 if pairs is None else len(pairs)), 1))
        self.parameters.setflags(write=False)
        self.bodies = np.array(bodies, dtype=np.int64)
        self.geometry = np.array(geometry, dtype=float).reshape(-1, 4)
        for array in (self.bodies, self.geometry):
            array.setflags(write=False)
        self.x, self.v, self.w = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        self.R = np.tile(np.eye(3), (n, 1, 1))
        self.state = contact_state(len(self.bodies) if ground is not None else 0)
        self.pairs = pairs
        self.pair_state = contact_state(len(pairs) if pairs is not None else 0)
        self.rows, self.twists, self.wrenches = np.zeros((n + 1, 64)), np.zeros((n, 6)), np.zeros((n, 6))
        self.rows[0, [R_WB, R_WB + 4, R_WB + 8]] = 1.0
        self.iterations = 0

    def step(self, h):
        """One step; returns the number of iterations."""
        n = len(self.m)
        v, w = self.v.copy(), self.w.copy()
        inertia = np.concatenate([np.repeat(self.m[:, None], 3, 1), np.repeat(self.J[:, None], 3, 1)], 1)
        for iteration in range(1, 100):  # noqa: B007 (the last one is asked for below)
            self._pass(v, w, h)
            middle = self.x + 0.5 * h * v
            torque = self.wrenches[:, 3:] - cross(middle, self.wrenches[:, :3])
            force = self.wrenches[:, :3] + self.m[:, None] * self.gravity
            left = np.concatenate(
                [self.m[:, None] * (v - self.v) - 0.5 * h * force, self.J[:, None] * (w - self.w) - 0.5 * h * torque], 1
            )
            if self.count or self.pair_count:
                A = np.diag(inertia.ravel())
                self._add_blocks(A, middle, 0.5 * h)
                update = np.linalg.solve(A, -left.ravel()).reshape(n, 6)
            else:
                update = -left / inertia
            v, w = v + update[:, :3], w + update[:, 3:]
            if np.abs(update).max() <= TOLERANCE * (1.0 + max(np.abs(v).max(), np.abs(w).max())):
                break
        else:
            raise AssertionError("the step did not converge")
        self._pass(v, w, h)
        self._finish(h)
        self.x += h * v
        for i in range(n):
            speed = np.linalg.norm(w[i])
            if speed > 0.0:
                self.R[i] = axangle2mat(w[i] / speed, h * speed, True) @ self.R[i]
        self.v, self.w = 2.0 * v - self.v, 2.0 * w - self.w
        self.iterations = max(self.iterations, iteration)
        return iteration

    def energy(self):
        """Kinetic and potential energy."""
        kinetic = 0.5 * (self.m @ (self.v**2).sum(1) + self.J @ (self.w**2).sum(1))
        return kinetic - self.m @ (self.x @ self.gravity)

    def _pass(self, v, w, h):
        for i in range(len(self.m)):
            speed = np.linalg.norm(w[i])
            R = axangle2mat(w[i] / speed, 0.5 * h * speed, True) @ self.R[i] if speed > 0.0 else self.R[i]
            middle = self.x[i] + 0.5 * h * v[i]
            self.rows[i + 1, R_WB : R_WB + 9] = R.ravel()
            self.rows[i + 1, P_WB : P_WB + 3] = middle
            self.twists[i, :3] = v[i] - cross(w[i], middle)
            self.twists[i, 3:] = w[i]
        self.wrenches[:] = 0.0
        self.count = self.pair_count = 0
        if self.ground is not None:
            s, g = self.state, self.ground
            self.count = contact_pass_into(
                self.bodies, self.geometry, g.kind, g.data, g.grid, self.parameters, s.modes, s.deflections, self.rows,
                self.twists, h, False, self.wrenches, s.results, s.blocks, s.active,
            )  # fmt: skip
        if self.pairs is not None:
            s, p = self.pair_state, self.pairs
            self.pair_count = body_pairs_pass_into(
                p.pairs, p.shape_ints, p.shape_floats, self.bodies, self.geometry, self.parameters, s.modes,
                s.deflections, self.rows, self.twists, h, False, self.wrenches, s.results, s.blocks, s.active,
            )  # fmt: skip

    def _add_blocks(self, A, middle, factor):
        for state, count, bodies in ((self.state, self.count, self.bodies), (self.pair_state, self.pair_count, None)):
            for i in state.active[:count]:
                owner = bodies[i] if bodies is not None else self.bodies[self.pairs.pairs[i, 0]]
                self._add(A, owner, state.blocks[i], state.results[i, 7:10] - middle[owner], factor)
                other = self.pairs.shape_ints[self.pairs.pairs[i, 1], 1] if bodies is None else -1
                if other >= 0:
                    self._add(A, other, state.blocks[i], state.results[i, 7:10] - middle[other], factor)

    def _add(self, A, body, block, arm, factor):
        matrix = np.zeros((6, 6))
        add_point_block(block, *arm, factor, matrix)
        A[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] += matrix

    def _finish(self, h):
        s, p = self.state, self.pair_state
        s.energies[:2] = 0.0
        p.energies[:2] = 0.0
        if self.ground is not None:
            finish_step_into(self.parameters, h, s.modes, s.deflections, s.results, s.energies)
        if self.pairs is not None:
            finish_body_pairs_into(
                self.pairs.pairs, self.pairs.shape_ints, self.parameters, self.rows, h, p.modes, p.deflections,
                p.results, p.energies,
            )  # fmt: skip


def ball(ground, parameters, radius=0.0, mass=1.0, gravity=(0.0, 0.0, -9.81)):
    """One ball, of no size unless told."""
    moment = 0.4 * mass * radius**2 if radius > 0.0 else 1.0
    return Bodies([mass], [moment], ground, parameters, [0], [[0.0, 0.0, 0.0, radius]], gravity)


def cube(ground, parameters, edge=0.2, mass=1.0, gravity=(0.0, 0.0, -9.81)):
    """One cube with its eight corners."""
    half = 0.5 * edge
    corners = [[x, y, z, 0.0] for z in (-half, half) for y in (-half, half) for x in (-half, half)]
    return Bodies([mass], [mass * edge**2 / 6.0], ground, parameters, [0] * 8, corners, gravity)
