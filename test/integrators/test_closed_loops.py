# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Closed loops in the flagship with all that it has: floating, coupled, sprung, clutched; against W's scheme and a tree."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_loop_closures import angles, closure, linkage

from mbsim_ros.coupling import couple
from mbsim_ros.dynamics import energy, forward_kinematics, mass_matrix
from mbsim_ros.dynamics.mean_momentum import mean_momentum
from mbsim_ros.elastic.springs import attach
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.sidecar.settings import Attachment, Closure, Spring

WEIGHTLESS = (0.0, 0.0, 0.0)
Y = ((0.0, 1.0, 0.0), (0.0, 1.0, 0.0))
ROD = [Closure("pin", (Attachment("rod", (0, 0, -0.3)), Attachment("shank", (0.06, 0, 0))), Y)]
STIFFNESS, REST, RATIO, ROTOR = 30.0, 0.1, 0.5, 0.004


@functools.cache
def floating_leg():
    """A body that floats, with a leg whose shank a rod turns: thigh, shank, rod and crank are a parallelogram."""
    builder = ModelBuilder("leg").link("body", mass=4.0, box=(0.3, 0.2, 0.1))
    builder.link("thigh", mass=0.6, com=(0, 0, -0.15), box=(0.03, 0.03, 0.3))
    builder.link("shank", mass=0.4, com=(0, 0, -0.12), box=(0.03, 0.03, 0.34))
    builder.link("crank", mass=0.15, com=(0.03, 0, 0), box=(0.06, 0.02, 0.02))
    builder.link("rod", mass=0.2, com=(0, 0, -0.15), box=(0.02, 0.02, 0.3))
    builder.joint("hip", "continuous", "body", "thigh", axis=(0, 1, 0))
    builder.joint("knee", "continuous", "thigh", "shank", xyz=(0, 0, -0.3), axis=(0, 1, 0))
    builder.joint("drive", "continuous", "body", "crank", axis=(0, 1, 0))
    builder.joint("bearing", "continuous", "crank", "rod", xyz=(0.06, 0, 0), axis=(0, 1, 0))
    return builder.build("floating")


def tumbling(scheme, h):
    """The leg in flight, turning about all axes, while hip and crank swing and a damper is on the crank."""
    model = floating_leg()
    turns = {"hip": 0.4, "knee": -0.7, "drive": -0.3, "bearing": 0.7}
    rates = {"hip": 2.0, "knee": -3.0, "drive": -1.0, "bearing": 3.0}
    q, v = np.array(model.neutral), np.zeros(model.nv)
    q[:7] = 0.3, -0.2, 1.0, 0.1, 0.2, -0.1, np.sqrt(0.94)
    v[:6] = 0.3, 0.1, -0.2, 1.0, -0.7, 0.5
    for joint in model.joints:
        q[joint.iq], v[joint.iv] = turns[joint.name], rates[joint.name]
    ours = scheme(model, h, gravity=WEIGHTLESS, closures=ROD)
    ours.drives.kd[model.joints[2].iv] = 0.02
    ours.reset(q, v)
    return ours


def test_a_floating_loop_moves_as_in_maximal_coordinates_and_keeps_its_momentum():
    """Both are of second order. The momentum is measured from where the bodies are, not what the scheme carries."""
    apart, wander = [], []
    for h in (8e-3, 4e-3):
        ours, other = tumbling(LieVariational, h), tumbling(QuaternionVariational, h)
        carried, before, found = ours.mu.copy(), ours.q, []
        for _ in range(round(0.4 / h)):
            ours.step()
            found.append(mean_momentum(ours.model, before, ours.q, h))
            before = ours.q
        other.step(steps=round(0.4 / h))
        np.testing.assert_array_equal(ours.mu, carried)
        assert ours.closure_error() < 1e-15
        apart.append([np.abs(ours.q - other.q).max(), np.abs(ours.v - other.v).max()])
        wander.append(np.abs(np.array(found) - carried).max())
    np.testing.assert_allclose(np.array(apart[0]) / apart[1], 4.0, rtol=0.1)
    assert apart[1][0] < 1e-4
    assert wander[0] / wander[1] == pytest.approx(4.0, rel=0.15)
    assert wander[1] < 1e-3


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_a_floating_body_hooked_to_the_world_moves_as_one_on_a_joint(retraction):
    """A closure to the world pulls on the root that floats; the arm on a ball joint is a group inside the tree.

    An exponential of SE(3) turns about the hook as the joint does: the two are then the same to rounding.
    """
    free = ModelBuilder("hooked").link("world")
    free.link("body", mass=1.0, com=(0.1, 0, 0), box=(0.4, 0.1, 0.05))
    free.link("arm", mass=0.5, com=(0, 0, -0.2), box=(0.1, 0.2, 0.4))
    free.joint("flight", "floating", "world", "body").joint("elbow", "spherical", "body", "arm", xyz=(0.2, 0, 0))
    tree = ModelBuilder("hinged").link("world")
    tree.link("body", mass=1.0, com=(0.3, 0, -0.05), box=(0.4, 0.1, 0.05))
    tree.link("arm", mass=0.5, com=(0, 0, -0.2), box=(0.1, 0.2, 0.4))
    tree.joint("hook", "continuous", "world", "body", xyz=(0.1, 0, 0), axis=(0, 1, 0))
    tree.joint("elbow", "spherical", "body", "arm", xyz=(0.4, 0, -0.05))
    hook = [Closure("hook", (Attachment("world", (0.1, 0, 0)), Attachment("body", (-0.2, 0, 0.05))), Y)]
    speed, swing = np.array([0.0, 2.0, 0.0]), [1.0, 2.0, -1.0]
    apart = []
    for h in (4e-3, 2e-3):
        ours = LieVariational(free.build("fixed"), h, closures=hook, retraction=retraction, tolerance=0.0)
        ours.reset([0.3, 0, -0.05, 0, 0, 0, 1, 0, 0, 0, 1], [*np.cross(speed, [0.2, 0, -0.05]), *speed, *swing])
        other = LieVariational(tree.build("fixed"), h, retraction=retraction, tolerance=0.0)
        other.reset([0, 0, 0, 0, 1], [2.0, *swing])
        for each in (ours, other):
            each.step(steps=round(0.4 / h))
        assert ours.closure_error() < 1e-14
        assert np.abs(ours.loops.rows(ours.state.q)[1] @ ours.v).max() < 1e-14
        apart.append(np.abs(ours.q[7:] - other.q[1:]).max())
    if retraction == "exp":
        assert max(apart) < 1e-11
    else:
        assert apart[0] / apart[1] == pytest.approx(4.0, rel=0.1)
        assert apart[1] < 1e-4


def band(model):
    ends = Attachment("world", (0.2, 0, 0.3)), Attachment("coupler", (0.25, 0, 0))
    return attach(model, [Spring("band", ends, STIFFNESS, REST)])


def coupled(model):
    return couple(model, {"engine": {"a": RATIO}}, name="engaged", rotor_inertia={"engine": ROTOR})


def test_with_a_spring_and_a_coupled_motor_it_moves_as_with_one_coordinate():
    """Oracle: Lagrange's equation of the crank's angle, with the spring's energy and the rotor's inertia; order 4, too."""
    model = linkage()

    def slope(function, at, by):
        """Central differences of fourth order: with those of second order rounding decides about the seventh digit."""
        first, second = (function(at + k * by) - function(at - k * by) for k in (1, 2))
        return (8.0 * first - second) / (12.0 * by)

    def terms(crank):
        found = energy(model, angles(crank), slope(angles, crank, 1e-3))
        X = forward_kinematics(model, angles(crank)).X_WB[1]
        length = np.linalg.norm(X[:3, :3] @ [0.25, 0, 0] + X[:3, 3] - [0.2, 0, 0.3])
        inertia = 2.0 * found.kinetic + ROTOR / RATIO**2
        return np.array([inertia, found.potential + 0.5 * STIFFNESS * (length - REST) ** 2])

    def motion(_, y):
        inertia_slope, potential_slope = slope(terms, y[0], 4e-3)
        return [y[1], (-0.4 / RATIO - 0.5 * inertia_slope * y[1] ** 2 - potential_slope) / terms(y[0])[0]]

    true = solve_ivp(motion, (0.0, 0.4), [0.3, 3.0], rtol=1e-9, atol=1e-9).y[:, -1]
    for order, steps in ((2, (4e-3, 2e-3)), (4, (2e-2, 1e-2))):
        errors = []
        for h in steps:
            ours = LieVariational(
                model, h, closures=closure(), springs=band(model), coupling=coupled(model), order=order
            )
            ours.reset(angles(0.3), u=[0.0, 0.0, -3.0 / RATIO])
            ours.motors.effort[2] = 0.4  # turns about y go the other way
            scale = -3.0 / RATIO / ours.u[2]
            ours.reset(angles(0.3), u=ours.u * scale)
            ours.step(steps=round(0.4 / h))
            errors.append([abs(-ours.q[0] - true[0]), abs(-ours.v[0] - true[1])])
            assert ours.closure_error() < 1e-14
        if order == 2:
            np.testing.assert_allclose(np.array(errors[0]) / errors[1], 4.0, rtol=0.1)
        else:
            np.testing.assert_allclose(np.array(errors[0]) / errors[1], 16.0, rtol=0.1)
        assert max(errors[1]) < (1e-4 if order == 2 else 1.5e-6)


def test_a_clutch_and_the_loop_pull_at_once():
    """Oracle: the balance of momenta with both constraints, as one linear system in all velocities."""
    model = linkage()
    ours = LieVariational(model, 1e-3, closures=closure(), springs=band(model))
    ours.reset(angles(0.3), [-3.0, 0.0, 0.0])
    ours.step(steps=100)
    q, v = ours.q, ours.v
    kinetic = ours.kinetic_energy()

    def gap(q):
        X = forward_kinematics(model, q).X_WB
        ends = X[1][:3] @ [0.5, 0, 0, 1], X[2][:3] @ [0.4, 0, 0, 1]
        return (ends[0] - ends[1])[[0, 2]]

    steps = 1e-6 * np.eye(3)
    G = np.array([(gap(q + step) - gap(q - step)) / 2e-6 for step in steps]).T
    rows = np.block([[G, np.zeros((2, 1))], [np.array([[1.0, 0.0, 0.0, -RATIO]])]])
    M = np.zeros((4, 4))
    M[:3, :3], M[3, 3] = mass_matrix(model, q), ROTOR
    before = np.array([*v, 7.0])
    system = np.block([[M, rows.T], [rows, np.zeros((3, 3))]])
    after = np.linalg.solve(system, np.concatenate([M @ before, np.zeros(3)]))[:4]
    loss = 0.5 * before @ M @ before - 0.5 * after @ M @ after

    idle = couple(model, {"engine": {}}, name="idle", rotor_inertia={"engine": ROTOR})
    ours.engage(idle, motor_speeds={"engine": 7.0})
    done = ours.engage(coupled(model))
    np.testing.assert_allclose(ours.v, after[:3], atol=1e-7)
    assert done.loss == pytest.approx(loss, rel=1e-6)
    assert ours.kinetic_energy() == pytest.approx(kinetic + 0.5 * ROTOR * 49.0 - done.loss, rel=1e-9)
    assert np.abs(ours.loops.rows(ours.state.q)[1] @ ours.v).max() < 1e-14
    assert done.loss > 5e-3
    ours.step(steps=50)
    assert ours.closure_error() < 1e-14
    assert ours.v[0] == pytest.approx(RATIO * ours.u[2], rel=1e-12)


def test_with_other_masses_it_goes_on_at_the_same_velocities():
    ours = LieVariational(linkage(), 1e-3, closures=closure())
    ours.reset(angles(0.3), [-3.0, 0.0, 0.0])
    ours.step(steps=50)
    q, v = ours.q, ours.v
    heavier = linkage(10.0)
    ours.set_inertias(heavier)
    np.testing.assert_array_equal(ours.q, q)
    np.testing.assert_allclose(ours.v, v, atol=1e-13)
    done = ours.engage(coupled(heavier))
    other = LieVariational(heavier, 1e-3, closures=closure())
    other.reset(q, v)
    other.engage(coupled(heavier))
    np.testing.assert_allclose(done.u, other.u, atol=1e-12)
    for each in (ours, other):
        each.step(steps=50)
    np.testing.assert_allclose(ours.q, other.q, atol=1e-11)


def test_a_folded_start_is_refused():
    """From a parallelogram that lies flat a loop can go two ways."""
    builder = ModelBuilder("flat").link("world")
    for name in ("left", "right", "lower"):
        builder.link(name, mass=1.0, com=(0.25, 0, 0), box=(0.5, 0.03, 0.03))
    builder.joint("a", "continuous", "world", "left", axis=(0, 1, 0))
    builder.joint("b", "continuous", "world", "right", axis=(0, 1, 0), xyz=(0.5, 0, 0))
    builder.joint("c", "continuous", "left", "lower", axis=(0, 1, 0), xyz=(0.5, 0, 0))
    pin = [Closure("pin", (Attachment("lower", (0.5, 0, 0)), Attachment("right", (0.5, 0, 0))))]
    ours = LieVariational(builder.build("fixed"), 1e-3, closures=pin)
    with pytest.raises(ValueError, match="the closures pin are folded here"):
        ours.reset([0.0, 0.0, 0.0])
    ours.reset([0.2, -0.2, 0.2])


def test_a_step_that_cannot_be_taken_leaves_everything_as_it_was():
    ours = LieVariational(linkage(), 0.05, closures=closure())
    ours.reset(angles(0.3), [-3.0, 0.0, 0.0])
    ours.step()
    before = ours.saved()
    ours.drives.effort[0] = before["drives"][0, 0] = 1e9
    with pytest.raises(SimulationDiverged):
        ours.step(steps=1000)
    after = ours.saved()
    taken = int(after["counts"][0] - before["counts"][0])
    again = LieVariational(linkage(), 0.05, closures=closure())
    again.restore(before)
    again.step(steps=taken)
    for name in ("state.q", "state.p", "state.u", "loops.force", "ledger"):
        np.testing.assert_array_equal(again.saved()[name], after[name])
    assert ours.closure_error() < 1e-9


def test_a_jammed_linkage_stands_still():
    """A brake on the crank leaves the loop no motion: rows that the brake makes dependent are left out."""
    model = linkage()
    ours = LieVariational(model, 1e-3, closures=closure(), coupling=couple(model, locked=["a"], name="braked"))
    ours.reset(angles(0.3))
    ours.step(steps=200)
    np.testing.assert_allclose(ours.q, angles(0.3), atol=1e-13)
    locked = couple(model, locked=["a", "d"], name="both")
    ours.engage(locked)
    ours.step(steps=200)
    np.testing.assert_allclose(ours.q, angles(0.3), atol=1e-13)
    assert ours.closure_error() < 1e-14
