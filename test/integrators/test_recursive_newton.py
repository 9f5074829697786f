# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The recursive Jacobian against finite differences of the momenta that it is the Jacobian of.

These come from discrete_momenta_into, which goes another way: body axes, no passes shared with the recursion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_trees import random_tree

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import inverse_dynamics, mass_matrix
from mbsim_ros.integrators.lie_variational.arrays import Tree
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import MIDPOINT, discrete_momenta_into
from mbsim_ros.integrators.lie_variational.midpoint_kernel import V_, midpoint_momenta, move_to_midpoint
from mbsim_ros.integrators.lie_variational.recursive_kernel import (
    RECURSION_COLUMNS,
    add_contact_block,
    begin_recursion,
    eliminate,
    recursion_rows,
    substitute,
)
from mbsim_ros.integrators.retraction import CAYLEY, EXPONENTIAL
from mbsim_ros.jit import kernel
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.model import MASS, ROTOR

GROUPS = ("spherical", "planar", "floating")
SINGLE = ("revolute", "prismatic", "continuous")
RETRACTIONS = {"cayley": CAYLEY, "exp": EXPONENTIAL}
# Groups at the roots, several of them too, and joints with one dof anywhere; half of these have rotors.
ROBOTS = [
    (("revolute",), "fixed"),
    (("prismatic", "revolute", "prismatic", "prismatic"), "fixed"),
    (SINGLE * 4, "fixed"),
    (SINGLE * 4, "floating"),
    ((), "floating"),
    *(((group, *SINGLE * 2), "fixed") for group in GROUPS),
    (("spherical", "revolute", "floating", "prismatic", "planar", *SINGLE * 3), "fixed"),
]


@kernel
def move_into(tree, retraction, q, v, h, sincos, rows, scratch, middle):
    move_to_midpoint(tree, retraction, q, v, h, sincos, rows, scratch, middle)


@kernel
def factor_into(
    tree, retraction, q, v, h, slopes, bodies, points, blocks, weight, sincos, rows, scratch, middle, factors
):
    move_to_midpoint(tree, retraction, q, v, h, sincos, rows, scratch[0], middle)
    midpoint_momenta(tree, retraction, v, h, rows, scratch[1:4], scratch[4], scratch[5])
    begin_recursion(tree, rows, factors)
    for k in range(bodies.shape[0]):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        add_contact_block(blocks[k], x, y, z, weight, factors[bodies[k]])
    return eliminate(tree, retraction, v, h, slopes, rows, factors)


@kernel
def solve_into(tree, factors, x):
    substitute(tree, factors, x)


class Solver:
    """Minus, its Jacobian by differences, and the recursion, for one robot."""

    def __init__(self, model, retraction, h, constants=None):
        self.model, self.retraction, self.h = model, retraction, h
        entries = {"topology": model.topology, "constants": model.constants if constants is None else constants}
        entries |= {"dof_parent": model.dof_parent, "dof_q": np.zeros(model.nv, dtype=np.int64)}
        self.tree = Tree(**entries, **{name: True for name in Tree._fields if name not in entries})
        self.sincos, self.rows = np.zeros((2, model.nq)), np.zeros((model.n_bodies + 1, 64))
        self.scratch, self.middle = np.zeros((6, max(model.nv, 18))), np.zeros(model.nq)
        self.factors = np.full((recursion_rows(model.topology), RECURSION_COLUMNS), np.nan)

    def ends(self, q, v):
        """−D₁L_d and D₂L_d."""
        minus, plus = np.zeros((2, self.model.nv))
        discrete_momenta_into(
            self.tree.topology, self.tree.constants, self.retraction, MIDPOINT, q, v, self.h, self.sincos, self.rows.copy(),
            self.middle, self.scratch, minus, plus,
        )  # fmt: skip
        return minus, plus

    def slope(self, q, v, x):
        """J x by central differences, twice extrapolated."""

        def difference(step):
            return (self.ends(q, v + step * x)[0] - self.ends(q, v - step * x)[0]) / (2.0 * step)

        step = 2e-3 / max(1e-12, np.abs(x).max())
        return (64.0 * difference(0.5 * step) - 20.0 * difference(step) + difference(2.0 * step)) / 45.0

    def jacobian(self, q, v):
        return np.array([self.slope(q, v, unit) for unit in np.eye(self.model.nv)]).T

    def factor(self, q, v, slopes=None, contact=None, weight=0.0):
        slopes = np.zeros(self.model.nv) if slopes is None else slopes
        bodies, points, blocks = contact or (np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 9)))
        return factor_into(
            self.tree, self.retraction, q, v, self.h, slopes, bodies, points, blocks, weight, self.sincos, self.rows,
            self.scratch, self.middle, self.factors,
        )  # fmt: skip

    def solve(self, right):
        x = np.array(right)
        solve_into(self.tree, self.factors, x)
        return x

    def point_jacobian(self, q, body, point):
        """(3, nv) of a point of a body, from twists at unit velocities."""
        columns = []
        for unit in np.eye(self.model.nv):
            move_into(self.tree, self.retraction, q, unit, 0.0, self.sincos, self.rows, self.scratch[0], self.middle)
            twist = self.rows[body + 1, V_ : V_ + 6]
            columns.append(twist[:3] + np.cross(twist[3:], point))
        return np.array(columns).T


def robot(kinds, base, seed=0):
    """A random tree whose groups hang on the world."""
    rng = np.random.default_rng(100 * len(kinds) + seed)
    description = random_tree(kinds, rng)
    joints = [replace(j, parent="link_00") if j.type in GROUPS else j for j in description.joints]
    model = make_model(replace(description, joints=tuple(joints)), base)
    return model, random_configuration(model, rng), 2.0 * random_velocity(model, rng), rng


def random_contact(model, rng, count=4):
    """Bodies, points and matrices as a stiff normal and soft tangents give them, not symmetric."""
    blocks = 300.0 * np.eye(3).ravel() + 100.0 * rng.uniform(-1.0, 1.0, (count, 9))
    return rng.integers(0, model.n_bodies, count), rng.uniform(-0.5, 0.5, (count, 3)), blocks


def dense_contact(solver, q, contact):
    points = [
        (solver.point_jacobian(q, body, at), block.reshape(3, 3)) for body, at, block in zip(*contact, strict=True)
    ]
    return sum(J.T @ C @ J for J, C in points)


def error(x, expected):
    return np.abs(x - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("h", [1e-3, 0.02, 0.1])
@pytest.mark.parametrize(("kinds", "base"), ROBOTS)
def test_solution_is_that_of_the_differentiated_momenta(kinds, base, h, retraction):
    for seed in range(3):
        model, q, v, rng = robot(kinds, base, seed)
        solver = Solver(model, RETRACTIONS[retraction], h)
        slopes, right = rng.uniform(0.0, 5.0, model.nv), rng.normal(size=model.nv)
        J = solver.jacobian(q, v) + 0.5 * h * np.diag(slopes)
        assert solver.factor(q, v, slopes)
        assert error(solver.solve(right), np.linalg.solve(J, right)) < 1e-8 * max(1.0, 1e-3 * np.linalg.cond(J))


@pytest.mark.parametrize(("kinds", "base"), ROBOTS)
def test_without_a_step_the_jacobian_is_the_mass_matrix(kinds, base):
    model, q, v, rng = robot(kinds, base)
    solver, right = Solver(model, CAYLEY, 0.0), rng.normal(size=model.nv)
    assert solver.factor(q, v, rng.normal(size=model.nv))
    M = mass_matrix(model, q)
    assert np.abs(M @ solver.solve(right) - right).max() < 1e-15 * np.linalg.cond(M)


def test_the_robots_have_rotors_and_several_roots():
    models = [robot(kinds, base)[0] for kinds, base in ROBOTS]
    assert any((model.constants[:, ROTOR] > 0.0).any() for model in models)
    assert max(recursion_rows(model.topology) - model.n_bodies for model in models) >= 3


@pytest.mark.parametrize(("kinds", "base"), ROBOTS)
def test_contact_blocks_at_rest_are_those_of_the_points(kinds, base):
    model, q, _, rng = robot(kinds, base)
    solver, right, contact = Solver(model, CAYLEY, 0.01), rng.normal(size=model.nv), random_contact(model, rng)
    assert solver.factor(q, np.zeros(model.nv), contact=contact, weight=0.05)
    J = mass_matrix(model, q) + 0.05 * dense_contact(solver, q, contact)
    assert np.abs(J @ solver.solve(right) - right).max() < 1e-14 * np.linalg.cond(J)


def test_contact_blocks_in_motion_are_exact_to_first_order_of_the_step():
    model, q, v, rng = robot(SINGLE * 4, "floating")
    right, contact = rng.normal(size=model.nv), random_contact(model, rng)
    errors = []
    for h in (1e-3, 1e-4):
        solver = Solver(model, CAYLEY, h)
        assert solver.factor(q, v, contact=contact, weight=0.05)
        x, middle = solver.solve(right), solver.middle.copy()
        J = solver.jacobian(q, v) + 0.05 * dense_contact(solver, middle, contact)
        errors.append(error(x, np.linalg.solve(J, right)))
    assert errors[0] < 0.05
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.2)


def test_the_solution_does_not_need_the_rows_any_more():
    model, q, v, rng = robot(SINGLE * 4, "floating")
    solver, right = Solver(model, CAYLEY, 0.01), rng.normal(size=model.nv)
    assert solver.factor(q, v)
    first = solver.solve(right)
    solver.rows[:] = np.nan
    assert np.array_equal(solver.solve(right), first)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_long_chain_is_solved_to_rounding(base):
    model, rng = chain(300, base=base), np.random.default_rng(3)
    q, v = random_configuration(model, rng), random_velocity(model, rng)
    for h in (1e-3, 0.01):
        solver = Solver(model, CAYLEY, h)
        assert solver.factor(q, v)
        right = solver.slope(q, v, rng.normal(size=model.nv))  # J times something: of the size of momenta
        assert error(solver.slope(q, v, solver.solve(right)), right) < 1e-9


def newton(solver, q, start, wanted, tolerance):
    """The velocity at which −D₁L_d is the wanted one, and the relative size of the updates on the way to it."""
    x, updates = np.array(start), []
    while not updates or updates[-1] > tolerance:
        assert len(updates) < 10, updates
        assert solver.factor(q, x)
        update = solver.solve(wanted - solver.ends(q, x)[0])
        x += update
        updates.append(np.abs(update).max() / max(1.0, np.abs(x).max()))
    return x, np.array(updates)


def squares(updates, tolerance):
    """Whether each update is of the size of the last one's square, down to rounding."""
    return (updates[1:] <= 50.0 * updates[:-1] ** 2 + tolerance).all()


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_newton_converges_quadratically_on_a_long_chain_in_violent_motion(base, retraction):
    model, rng = chain(200, base=base), np.random.default_rng(4)
    q, v = model.neutral.copy(), rng.normal(size=model.nv)
    q[-199:], v[-199:] = 0.5 * rng.normal(size=199), np.diff(5.0 * rng.normal(size=200))
    solver = Solver(model, RETRACTIONS[retraction], 0.01)
    start = v * (1.0 + 0.01 * rng.normal(size=model.nv))
    x, updates = newton(solver, q, start, solver.ends(q, v)[0], 1e-8)
    assert squares(updates, 1e-9)
    assert len(updates) <= 7
    assert error(x, v) < 1e-8


def test_a_chain_of_200_links_swings_with_few_iterations_per_step():
    """A chain bent at random falls from 70°: a mass matrix in place of the Jacobian diverges here from 0.1 s on."""
    model, rng, h = chain(200), np.random.default_rng(4), 0.01
    solver, zero = Solver(model, CAYLEY, h), np.zeros(model.nv)
    q, v, previous, p = 0.3 * rng.normal(size=200), zero, zero, zero
    q[1] += 1.2
    for _ in range(40):
        p = p - 0.5 * h * inverse_dynamics(model, q, zero, zero)
        x, updates = newton(solver, q, 2.0 * v - previous, p, 1e-10)
        assert squares(updates, 1e-10)
        assert len(updates) <= 5
        previous, v = v, x
        p, q = solver.ends(q, v)[1], q + h * v
        p = p - 0.5 * h * inverse_dynamics(model, q, zero, zero)
    assert np.abs(v).max() > 2.0


def test_singular_systems_are_refused():
    for kinds, base in ((("revolute", "revolute"), "fixed"), (("spherical",), "fixed"), ((), "floating")):
        model, q, v, _ = robot(kinds, base)
        constants = model.constants.copy()
        constants[-1, MASS:] = 0.0
        solver = Solver(model, CAYLEY, 0.01, constants)
        assert not solver.factor(q, v)
        assert solver.factor(q, v, np.full(model.nv, 3.0))  # a damper makes it regular


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(("kinds", "base"), [(SINGLE, "fixed"), (("planar",), "fixed"), ((), "floating")])
def test_numbers_that_are_not_finite_are_refused(kinds, base, value):
    model, q, v, _ = robot(kinds, base)
    slopes = np.zeros(model.nv)
    slopes[0] = value
    assert not Solver(model, CAYLEY, 0.01).factor(q, v, slopes)
