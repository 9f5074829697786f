# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the kernels of Gauss collocation take: the tree, the coefficients, the state, and room to work in.

Arrays of lanes are (rows, columns, LANES), to be taken by `lane_row`; lanes that no stage uses repeat the last stage.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbsim_ros.dynamics.layout import MOMENTUM_COLUMNS
from mbsim_ros.integrators.gauss.coefficients import gauss_points, integrals, lagrange
from mbsim_ros.integrators.gauss.lanes import LANES
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import END, KIND, MASS, Model

# Columns of a body's row, beside X_PB (0…11), its twist and the momentum of its subtree (dynamics/layout.py).
# Of all that it carries, in its axes at its origin: (3) Σ m c, (6) inertia; (3) gravity γ in its axes.
ROW_MOMENT, ROW_INERTIA, ROW_GRAVITY = MOMENTUM_COLUMNS, MOMENTUM_COLUMNS + 3, MOMENTUM_COLUMNS + 9
ROW_COLUMNS = MOMENTUM_COLUMNS + 12

# Rows of the stages: joint positions, velocities, forces, residuals, cosines and sines, by dof.
STAGE_Q, STAGE_V, STAGE_F, STAGE_R, STAGE_COS, STAGE_SIN = range(6)
STAGE_ROWS = 6

# Columns of a floating base: orientation ε, its rate, angular momentum Π in its axes, h d Π; h d; two sums.
TURN_RATE, TURN_SPIN, TURN_GYRE, TURN_REACH, TURN_SUMS = 4, 8, 11, 14, 15
TURN_COLUMNS = 17

# Columns of the coefficients: h a_ij, and how stage slopes continue from one and from two steps before.
HA, ONE_BEFORE, TWO_BEFORE = 0, LANES, 2 * LANES
DIAGONAL = 4 * LANES  # h d_i
COEFFICIENT_COLUMNS = 4 * LANES + 1

# d in place of A where a diagonal has to do, by the number of stages: chosen so that an oscillation of y rad a step is
# solved by (1 − i y d)⁻¹ i y (A − d) with a spectral radius below 0.05 y where y < 1, and below 0.7 whatever y is.
DIAGONALS = {2: (0.4115, 0.1198), 3: (0.2742, 0.0853, 0.16), 4: (0.2154, 0.083, 0.1348, 0.1901)}


class GaussTree(NamedTuple):
    """The robot: arrays of its model, and what follows from them."""

    topology: np.ndarray  # (bodies, INT_COLUMNS)
    constants: np.ndarray  # (bodies, FLOAT_COLUMNS)
    carried: np.ndarray  # (bodies,) mass of a body and all that it carries
    dof_parent: np.ndarray  # (nv,) the dof before each on its branch, −1 at the root
    floats: int  # 1 where body 0 floats, and carries all others


class Coefficients(NamedTuple):
    """The scheme of a step h."""

    stages: int
    h: float
    lanes: np.ndarray  # (1, COEFFICIENT_COLUMNS, LANES), columns HA, ONE_BEFORE, TWO_BEFORE
    weights: np.ndarray  # (LANES,) h b_j


class GaussState(NamedTuple):
    """All that a step begins with; what has a dof before the joints of a floating robot is not used there."""

    r: np.ndarray  # (nv,) positions of the joints
    p: np.ndarray  # (nv,) their momenta, where the centre of mass rests
    lost: np.ndarray  # (2, nv) what the last sums to r and p have rounded off
    turn: np.ndarray  # (4,) of a floating base: orientation (x, y, z, w)
    spin: np.ndarray  # (3,) angular momentum about the centre of mass, in the frame that the base moves in
    centre: np.ndarray  # (3,) centre of mass
    linear: np.ndarray  # (3,) linear momentum
    astray: np.ndarray  # (2, 3) what the last sums to these two have rounded off
    history: np.ndarray  # (2, nv, LANES) velocities of the stages of the last step and the one before
    known: np.ndarray  # (1,) how many of them there are


class GaussWork(NamedTuple):
    """Room to work in; nothing of it counts from one step to the next."""

    rows: np.ndarray  # (bodies + 1, ROW_COLUMNS, LANES)
    chord: np.ndarray  # (nv, nv, LANES) the matrix of the chord, and its factors
    stages: np.ndarray  # (STAGE_ROWS, nv, LANES)
    positions: np.ndarray  # the joints' part of STAGE_Q, flat, and of STAGE_COS and STAGE_SIN
    cosines: np.ndarray
    sines: np.ndarray
    turning: np.ndarray  # (1, TURN_COLUMNS, LANES) of a floating base, and sums


def make_tree(model: Model) -> GaussTree:
    """The tree of a model."""
    masses, ends = model.constants[:, MASS], model.topology[:, END]
    carried = np.array([masses[i:end].sum() for i, end in enumerate(ends)])
    floats = int(len(ends) > 0 and model.topology[0, KIND] == FLOATING)
    return GaussTree(model.topology, model.constants, carried, model.dof_parent, floats)


def make_coefficients(order: int, h: float) -> Coefficients:
    """Of order 4, 6 or 8."""
    s = order // 2
    c, b = gauss_points(s)
    lanes = np.zeros((1, COEFFICIENT_COLUMNS, LANES))
    for at, matrix in (
        (HA, h * integrals(c, c)),
        (ONE_BEFORE, lagrange(c, 1.0 + c)),
        (TWO_BEFORE, lagrange(np.concatenate([c - 1.0, c]), 1.0 + c)),
    ):
        for lane in range(LANES):
            lanes[0, at : at + matrix.shape[1], lane] = matrix[min(lane, s - 1)]
    for lane in range(LANES):
        lanes[0, DIAGONAL, lane] = h * DIAGONALS[s][min(lane, s - 1)]
    weights = np.zeros(LANES)
    weights[:s] = h * b
    return Coefficients(s, h, lanes, weights)


def make_state(nv: int) -> GaussState:
    """At rest, without a history."""
    return GaussState(
        np.zeros(nv), np.zeros(nv), np.zeros((2, nv)), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3),
        np.zeros(3), np.zeros((2, 3)), np.zeros((2, nv, LANES)), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def make_work(tree: GaussTree, nv: int) -> GaussWork:
    """For a tree of nv dofs."""
    stages = np.zeros((STAGE_ROWS, nv, LANES))
    positions, cosines, sines = (stages[row, 6 * tree.floats :].reshape(-1) for row in (STAGE_Q, STAGE_COS, STAGE_SIN))
    rows = np.zeros((len(tree.topology) + 1, ROW_COLUMNS, LANES))
    chord, turning = np.zeros((nv, nv, LANES)), np.zeros((1, TURN_COLUMNS, LANES))
    return GaussWork(rows, chord, stages, positions, cosines, sines, turning)
