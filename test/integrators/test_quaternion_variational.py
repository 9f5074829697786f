# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's integrator in maximal coordinates on trees with every kind of joint: against the flagship and against theory."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import tree
from scipy.optimize import fsolve

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import momentum
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.maximal.coordinates import bodies_at
from mbsim_ros.integrators.maximal.coordinates_kernel import joint_momenta_into
from mbsim_ros.integrators.maximal.equations_kernel import equations_into
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.integrators.maximal.sparse_solver import SparseSystem
from mbsim_ros.integrators.maximal.step_kernel import EXTRAPOLATE, begin
from mbsim_ros.integrators.maximal.tree_solver_kernel import solve_tree
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IV, KIND

ROBOTS = {
    "all joints": (("prismatic", "revolute", "spherical", "planar", "revolute", "floating"), "fixed"),
    "floating": (("revolute", "spherical", "prismatic", "planar", "continuous"), "floating"),
}


def robot(name, seed=3):
    kinds, base = ROBOTS[name]
    model = tree(*kinds, base=base)
    rng = np.random.default_rng(seed)
    return model, random_configuration(model, rng), random_velocity(model, rng)


def efforts(model):
    """Constant efforts on all joints but those that float."""
    tau = 0.7 * np.cos(np.arange(model.nv))
    for kind, iv in model.topology[:, [KIND, IV]]:
        if kind == 4:
            tau[iv : iv + 6] = 0.0
    return tau


def same_turns(model, q, of):
    """q with every quaternion of the sign that another q has."""
    for at in model.quaternions:
        if q[at : at + 4] @ of[at : at + 4] < 0.0:
            q[at : at + 4] *= -1.0
    return q


@pytest.mark.parametrize("name", ROBOTS)
def test_it_meets_the_flagship_as_the_step_shrinks(name):
    model, q, v = robot(name)
    true = LieVariational(model, 2e-5)
    true.reset(q, v)
    true.step(efforts(model), steps=1000)
    errors = []
    for h in (2e-3, 1e-3):
        ours = QuaternionVariational(model, h)
        ours.reset(q, v)
        np.testing.assert_allclose(ours.v, v, atol=1e-12)
        np.testing.assert_allclose(same_turns(model, ours.q, q), q, atol=1e-14)
        ours.step(efforts(model), steps=round(0.02 / h))
        errors.append(max(np.abs(same_turns(model, ours.q, true.q) - true.q).max(), np.abs(ours.v - true.v).max()))
        assert ours.gap < 1e-14
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_algorithm_5_1_is_a_dense_solve():
    """Every unknown of a Newton step, against numpy on the whole matrix, with drives that couple bodies."""
    model, q, v = robot("all joints")
    ours = QuaternionVariational(model, 0.01)
    ours.reset(q, v)
    single = model.topology[model.topology[:, KIND] <= PRISMATIC, IV]
    ours.drives.kp[single], ours.drives.kd[single] = 50.0, 2.0
    system = ours.system
    begin(system, 0.01, EXTRAPOLATE)
    system.work.X_next[1:] += 0.01 * np.random.default_rng(0).normal(size=(model.n_bodies, 7))
    equations_into(system, 0.01)
    none = (np.zeros((0, 7)), np.zeros((0, 7)))
    whole = SparseSystem(system, LoopClosures(model, ()))
    expected = np.linalg.solve(whole.matrix(none, none).toarray(), whole.right_side(np.zeros(0)))
    before, multipliers = system.work.X_next.copy(), system.state.multipliers.copy()
    assert solve_tree(system, 1.0)
    first = whole.first
    for i in range(model.n_bodies):
        moved = system.work.X_next[i + 1] - before[i + 1]
        np.testing.assert_allclose(
            moved, expected[first[i] : first[i] + 7], rtol=1e-10, atol=1e-10 * np.abs(moved).max()
        )
        pulls = (system.state.multipliers - multipliers)[i, : first[i + 1] - first[i] - 7]
        scale = np.abs(expected[first[i] + 7 : first[i + 1]]).max()
        np.testing.assert_allclose(pulls, expected[first[i] + 7 : first[i + 1]], rtol=1e-10, atol=1e-10 * scale)


def test_the_matrix_is_the_derivative_of_the_equations():
    """By differences, with pushes, drives and all joints: Newton's method converges quadratically only then."""
    model, q, v = robot("all joints")
    ours = QuaternionVariational(model, 0.02)
    ours.reset(q, v)
    single = model.topology[model.topology[:, KIND] <= PRISMATIC, IV]
    ours.drives.kp[single], ours.drives.kd[single] = 50.0, 2.0
    ours.joints.damping[single] = 0.3
    ours.external[:] = np.random.default_rng(1).normal(size=ours.external.shape)
    system, none = ours.system, (np.zeros((0, 7)), np.zeros((0, 7)))
    begin(system, 0.02, EXTRAPOLATE)
    system.state.multipliers[:] = np.random.default_rng(2).normal(size=system.state.multipliers.shape)
    whole = SparseSystem(system, LoopClosures(model, ()))
    equations_into(system, 0.02)
    exact = whole.matrix(none, none).toarray()
    numeric = np.zeros_like(exact)
    for column in range(whole.size):
        unit, sides = np.zeros(whole.size), []
        for sign in (1.0, -1.0):
            unit[column] = 1e-6 * sign
            whole.add(unit, np.zeros(0))
            equations_into(system, 0.02)
            sides.append(-whole.right_side(np.zeros(0)))
            whole.add(-unit, np.zeros(0))
        numeric[:, column] = (sides[0] - sides[1]) / 2e-6
    np.testing.assert_allclose(exact, numeric, atol=2e-6 * np.abs(exact).max())


@pytest.mark.parametrize("axis", range(3))
def test_a_body_that_turns_about_its_own_axis_turns_at_its_rate(axis):
    builder = ModelBuilder("top").link("top", mass=1.0, inertia=(0.1, 0.2, 0.25))
    ours = QuaternionVariational(builder.build("floating"), 1e-3, gravity=(0.0, 0.0, 0.0))
    ours.reset([0, 0, 0, 0, 0, 0, 1], [0, 0, 0, *(3.0 * np.eye(3)[axis])])
    ours.step(steps=50)
    turned = ours.q[3:7] * np.sign(ours.q[6])
    np.testing.assert_allclose(turned, [*(np.sin(0.075) * np.eye(3)[axis]), np.cos(0.075)], atol=1e-6)


def test_momentum_is_conserved_while_joints_are_driven():
    model, q, v = robot("floating")
    ours = QuaternionVariational(model, 0.02, gravity=(0.0, 0.0, 0.0))
    ours.reset(q, v)
    np.testing.assert_allclose(ours.momentum(), momentum(model, q, v), atol=1e-12)
    start, driven = ours.momentum(), model.topology[(model.topology[:, KIND] <= PRISMATIC), IV]
    ours.drives.effort[driven] = 0.5
    ours.joints.damping[driven] = 0.1
    ours.step(steps=1000)
    np.testing.assert_allclose(ours.momentum(), start, atol=1e-11 * np.abs(start).max())
    np.testing.assert_allclose(momentum(model, ours.q, ours.v), start, atol=1e-9 * np.abs(start).max())


def test_energy_stays_near_and_a_ledger_of_forces_balances():
    model = tree("revolute", "spherical", "revolute", base="fixed")
    q, v = random_configuration(model, np.random.default_rng(5)), np.zeros(model.nv)
    ours = QuaternionVariational(model, 5e-3)
    ours.reset(q, v)
    start = sum(ours.energies())
    seen = []
    for _ in range(40):
        ours.step(steps=50)
        seen.append(sum(ours.energies()) - start)
    size = max(abs(each) for each in ours.energies())
    assert max(map(abs, seen)) < 2e-2 * size
    assert abs(np.mean(seen[20:]) - np.mean(seen[:20])) < 5e-3 * size
    works = []
    for h in (2e-3, 1e-3):
        ours = QuaternionVariational(model, h)
        ours.reset(q, v)
        ours.joints.damping[:] = 0.2
        ours.drives.effort[0] = 1.0
        ours.external[1] = [0.5, 0.0, 0.3, 0.0, 0.1, 0.0]
        ours.step(steps=round(0.5 / h))
        works.append(abs(sum(ours.energies()) - start - ours.work_done.sum()))
    assert works[1] < 1e-4 and works[1] < 0.3 * works[0]


def test_the_generalised_coordinates_of_2_41_give_the_same_motion():
    """Theorem 2.1: W (2.41) solved for q_next with ψ the kinematics, against (2.28) with multipliers."""
    model = tree("revolute", "prismatic", base="fixed")
    rng = np.random.default_rng(7)
    q, v = random_configuration(model, rng), random_velocity(model, rng)
    h, ours = 0.01, QuaternionVariational(model, 0.01)
    ours.reset(q, v)
    ours.step()
    places, momenta, workspace = [ours.q], ours.P.copy(), Workspace(model)
    X = ours.system.state.X.copy()
    ours.step()
    system = ours.system

    def unbalanced(q_next):
        """Dψᵀ(q_k) of the bodies' balance without multipliers."""
        later = bodies_at(model, system.tree, q_next, workspace)
        twin = QuaternionVariational(model, h)
        twin.system.state.X[:], twin.system.state.P[:] = X, momenta
        twin.system.state.coordinates[:] = places[0]
        begin(twin.system, h, 0)
        twin.system.work.X_next[:] = later
        equations_into(twin.system, h)
        left = twin.system.work.unbalanced.copy()
        p = np.zeros(model.nv)
        joint_momenta_into(system.tree, X, left, np.zeros((model.n_bodies + 1, 6)), p)
        return p

    found = fsolve(unbalanced, places[0] + h * v, xtol=1e-12)
    np.testing.assert_allclose(found, ours.q, atol=1e-11)


def test_a_rotor_turns_with_its_joint():
    """A disc with a rotor of more inertia than its own: v' = τ/(J + I)."""
    builder = ModelBuilder("wheel").link("world").link("disc", mass=1.0, inertia=(0.1, 0.1, 0.2))
    builder.joint("axle", "continuous", "world", "disc", axis=(0, 0, 1), rotor_inertia=0.3)
    model = builder.build("fixed")
    ours = QuaternionVariational(model, 1e-3)
    ours.reset([0.0], [2.0])
    assert ours.v == pytest.approx([2.0])
    ours.step([1.0], steps=4000)
    assert ours.v[0] == pytest.approx(2.0 + 4.0 / 0.5, rel=1e-5)
    assert ours.q[0] == pytest.approx(2.0 * 4.0 + 0.5 * 16.0 / 0.5, rel=1e-5)  # several turns


def test_a_snapshot_continues_bit_for_bit():
    model, q, v = robot("floating")
    ours, other = QuaternionVariational(model, 1e-3), QuaternionVariational(model, 1e-3)
    ours.reset(q, v)
    ours.step(steps=20)
    other.restore(ours.saved())
    for each in (ours, other):
        each.step(steps=20)
    assert ours.q.tobytes() == other.q.tobytes() and ours.P.tobytes() == other.P.tobytes()
    with pytest.raises(ValueError, match="expected 'state.X' of shape"):
        other.restore({})


def test_what_it_does_not_do_is_said():
    leader = ModelBuilder("gear").link("world").link("a", mass=1.0, sphere=0.1).link("b", mass=1.0, sphere=0.1)
    leader.joint("one", "continuous", "world", "a", axis=(0, 0, 1))
    leader.joint("two", "continuous", "world", "b", axis=(0, 0, 1), mimic="one")
    with pytest.raises(UnsupportedModel, match="mimic"):
        QuaternionVariational(leader.build("fixed"), 1e-3)
    model, q, v = robot("floating")
    with pytest.raises(ValueError, match="dt: expected a positive number"):
        QuaternionVariational(model, 0.0)
    with pytest.raises(ValueError, match="guess: expected one of 'current', 'extrapolated', got 'wild'"):
        QuaternionVariational(model, 1e-3, guess="wild")
    fast = QuaternionVariational(model, 1.0)
    fast.reset(q, 1e6 * v)
    before = fast.X.copy()
    with pytest.raises(SimulationDiverged, match="t = 0 s: Newton's method does not solve the step"):
        fast.step()
    assert np.array_equal(fast.X, before)
