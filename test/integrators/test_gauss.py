# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gauss collocation: its orders, its structure, its momenta, what it refuses, and the lanes that it computes with."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import WEIGHTLESS, paper_chain, reference, rotation, tree
from scipy.integrate import solve_ivp
from test_symplectic import defect, start

from mbsim_ros import Simulation, dynamics
from mbsim_ros.bench.peers.pinocchio import from_model
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.gauss.arrays import DIAGONALS
from mbsim_ros.integrators.gauss.coefficients import gauss_points, integrals
from mbsim_ros.integrators.gauss.integrator import ORDERS, Gauss
from mbsim_ros.integrators.gauss.lanes import LANES, lane_row
from mbsim_ros.jit import kernel
from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, MASS

ROBOTS = [
    (kinds, base)
    for kinds in (("revolute",), ("prismatic",), ("revolute", "prismatic", "revolute"), ("prismatic", "continuous"))
    for base in ("fixed", "floating")
]


def stepped(model, h, seconds, order, q, v, **options):
    scheme = Gauss(model, h, order=order, **options)
    scheme.reset(q, v)
    scheme.step(steps=round(seconds / h))
    return scheme


def with_rotor():
    builder = ModelBuilder("geared").link("world").link("slide", mass=1.0, box=(0.1, 0.2, 0.3))
    builder.link("arm", mass=0.5, com=(0, 0.1, -0.3), cylinder=(0.03, 0.6))
    limits = {"lower": -9, "upper": 9, "effort": 9, "velocity": 9}
    builder.joint("rail", "prismatic", "world", "slide", axis=(0, 0.6, 0.8), rotor_inertia=0.3, **limits)
    builder.joint("hinge", "continuous", "slide", "arm", xyz=(0, 0.1, 0), axis=(1, 0, 0), rotor_inertia=0.05)
    return builder.build("fixed")


@pytest.mark.parametrize("order", [4, 6])
def test_order_against_the_reference_chain(order):
    model, q, v = paper_chain()
    exact = reference("kobilarov_chain.json")["ode_solution"]["2"]
    errors = []
    for h in (0.1, 0.05):
        end = stepped(model, h, 2.0, order, q, v, gravity=WEIGHTLESS).q
        ours = np.concatenate([rotation(end[3:7]).ravel(), end[:3], end[7:]])
        errors.append(np.abs(ours - np.concatenate([exact["R"], exact["x"], exact["r"]])).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3), errors
    assert errors[1] < 10.0 ** (1 - order), errors


def by_pinocchio(model, q, v, tau, seconds):
    """Joints of a fixed robot after a while, by Pinocchio's forward dynamics and Dormand and Prince's order 8."""
    pinocchio = pytest.importorskip("pinocchio")
    theirs = from_model(model)
    data, nv = theirs.createData(), model.nv

    def rates(_t, y):
        return np.concatenate([y[nv:], pinocchio.aba(theirs, data, y[:nv], y[nv:], tau)])

    y = solve_ivp(rates, (0.0, seconds), np.concatenate([q, v]), "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return y[:nv], y[nv:]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kinds", [("revolute", "revolute", "revolute"), ("revolute", "prismatic", "revolute")])
def test_order_against_pinocchio_and_dormand_prince(kinds, order):
    model = tree(*kinds)
    q, v = start(model)
    tau = 0.3 * np.random.default_rng(6).normal(size=model.nv)
    truth = np.concatenate(by_pinocchio(model, q, v, tau, 0.4))
    errors = []
    for steps in (16, 32):
        scheme = Gauss(model, 0.4 / steps, order=order)
        scheme.reset(q, v)
        scheme.step(tau, steps=steps)
        errors.append(np.abs(np.concatenate([scheme.q, scheme.v]) - truth).max())
    assert errors[1] < 1e-11 or np.log2(errors[0] / errors[1]) > 0.9 * order, errors
    assert errors[1] < 10.0 ** (-1 - order), errors


def test_rotors_and_rails_move_as_with_forward_dynamics():
    model = with_rotor()
    q, v, tau = np.array([0.2, 0.5]), np.array([-0.4, 2.0]), np.array([0.3, -0.2])

    def rates(_t, y):
        return np.concatenate([y[2:], dynamics.forward_dynamics(model, y[:2], y[2:], tau)])

    truth = solve_ivp(rates, (0.0, 1.0), np.concatenate([q, v]), "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    scheme = Gauss(model, 0.02)
    scheme.reset(q, v)
    scheme.step(tau, steps=50)
    assert np.abs(np.concatenate([scheme.q, scheme.v]) - truth).max() < 1e-9


@pytest.mark.parametrize(("kinds", "base"), ROBOTS, ids=[f"{base}-{'-'.join(kinds)}" for kinds, base in ROBOTS])
@pytest.mark.parametrize("order", ORDERS)
def test_a_step_is_symplectic(kinds, base, order):
    assert defect(Gauss(tree(*kinds, base=base), 0.03, order=order)) < 1e-9


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_way_back_is_the_way(base):
    model = chain(3, base=base)
    q, v = start(model)
    there = stepped(model, 0.02, 2.0, 6, q, v)
    back = stepped(model, 0.02, 2.0, 6, there.q, -there.v)
    assert np.abs(there.q - q).max() > 0.5
    assert np.abs(back.q - q).max() < 1e-9
    assert np.abs(back.v + v).max() < 1e-9


def test_a_free_robot_falls_and_its_velocities_keep_its_momentum():
    model = chain(4, base="floating")
    q, v = start(model)
    scheme = Gauss(model, 0.02)
    scheme.reset(q, v)
    before, centre, mass = (
        dynamics.centroidal_momentum(model, q, v),
        dynamics.centre_of_mass(model, q),
        model.mass,
    )
    for _ in range(50):
        scheme.step(steps=20)
        t = scheme.time
        fall, pull = np.array([0.0, 0.0, -4.905 * t * t]), np.array([0.0, 0.0, -9.81 * mass * t, 0.0, 0.0, 0.0])
        expected = centre + t * before[:3] / mass + fall
        assert np.abs(dynamics.centre_of_mass(model, scheme.q) - expected).max() < 1e-10
        assert np.abs(dynamics.centroidal_momentum(model, scheme.q, scheme.v) - before - pull).max() < 1e-9
        assert np.linalg.norm(scheme.q[3:7]) == pytest.approx(1.0, abs=1e-14)


def spin_of_configurations(model, nodes, h):
    """Angular momentum about the centre of mass by differences of order 8 of where the bodies are, at inner nodes."""
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    poses = np.array([dynamics.forward_kinematics(model, q).X_WB for q in nodes])
    R = poses[:, :, :3, :3]
    mass, centre = model.constants[:, MASS], model.constants[:, CENTRE : CENTRE + 3]
    c = poses[:, :, :3, 3] + np.einsum("tbij,bj->tbi", R, centre)
    c -= np.einsum("b,tbi->ti", mass / mass.sum(), c)[:, None]
    xx, yy, zz, xy, xz, yz = model.constants[:, CENTRAL_INERTIA : CENTRAL_INERTIA + 6].T
    inertia = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)
    found = []
    for t in range(4, len(nodes) - 4):
        rate, turning = (np.einsum("t,t...->...", weights, each[t - 4 : t + 5]) for each in (c, R))
        spin = np.einsum("bji,bjk->bik", R[t], turning)  # R^T R' = [omega]
        omega = 0.5 * np.array(
            [spin[:, 2, 1] - spin[:, 1, 2], spin[:, 0, 2] - spin[:, 2, 0], spin[:, 1, 0] - spin[:, 0, 1]]
        )
        own = np.einsum("bij,bjk,kb->bi", R[t], inertia, omega)
        found.append((own + mass[:, None] * np.cross(c[t], rate)).sum(axis=0))
    return np.array(found)


def test_momentum_as_configurations_show_it_stays_at_its_order():
    model = chain(3, base="floating", radius=0.2)
    q, v = start(model)
    spin = dynamics.centroidal_momentum(model, q, v)[3:]
    errors = []
    for h in (0.04, 0.02):
        scheme = Gauss(model, h, gravity=WEIGHTLESS)
        scheme.reset(q, v)
        nodes = [q]
        for _ in range(round(20.0 / h)):
            scheme.step()
            nodes.append(scheme.q.copy())
        errors.append(np.abs(spin_of_configurations(model, nodes, h) - spin).max(axis=1))
    assert np.log2(errors[0].max() / errors[1].max()) > 5.4
    assert errors[1][-200:].max() < 3 * errors[1][:200].max()  # no drift


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_energy_of_a_hundred_thousand_steps_does_not_drift(base):
    model = chain(2, base=base, radius=0.1)
    q, v = start(model)
    gravity = (0.0, 0.0, -9.81) if base == "fixed" else WEIGHTLESS
    scheme = Gauss(model, 0.02, gravity=gravity)
    scheme.reset(q, v)
    total = dynamics.energy(model, q, v, gravity=gravity).total
    errors = []
    for _ in range(2000):
        scheme.step(steps=50)
        errors.append(dynamics.energy(model, scheme.q, scheme.v, gravity=gravity).total - total)
    assert np.abs(errors).max() < 1e-10 * abs(total)


def test_large_steps_of_a_chain_that_is_nearly_straight_are_solved():
    """Thin rods in a row turn about themselves fast; without the gyroscopic terms of its chord it does not get there."""
    model = chain(3, base="floating")
    q, v = model.neutral.copy(), np.array([0.1, 0.0, 0.05, 0.3, 0.5, -0.2, 0.5, -0.4])
    q[7:] = 0.3, -0.4
    scheme = stepped(model, 0.05, 40.0, 6, q, v, gravity=WEIGHTLESS)
    assert scheme.iterations < 13 * scheme.step_count


def test_many_steps_at_once_are_the_same_steps_and_a_snapshot_goes_on_alike():
    first, second = (Simulation(chain(3, base="floating"), integrator="gauss", dt=0.01) for _ in range(2))
    assert first.capabilities.order == 6
    for sim in (first, second):
        sim.reset(*start(sim.model))
    first.advance(40)
    for _ in range(20):
        second.step()
    kept = second.snapshot()
    second.advance(7)
    second.restore(kept)
    second.advance(20)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.v, second.v)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_step_that_is_not_solved_leaves_the_state(base):
    model = chain(3, base=base)
    q, v = start(model)
    scheme = Gauss(model, 0.3)
    scheme.reset(q, 30.0 * v)
    before = {name: array.copy() for name, array in scheme.kept().items()}
    with pytest.raises(SimulationDiverged, match="smaller dt"):
        scheme.step()
    assert scheme.step_count == 0
    assert all(np.array_equal(before[name], array) for name, array in scheme.kept().items())


def test_a_part_without_inertia_is_not_moved():
    builder = ModelBuilder("nothing").link("world").link("ghost", mass=0.0, inertia=(0, 0, 0))
    model = builder.joint("hinge", "continuous", "world", "ghost", axis=(1, 0, 0)).build("fixed")
    with pytest.raises(SimulationDiverged, match="inertia"):
        Gauss(model, 1e-3).step()


def test_what_it_does_not_have_is_refused():
    with pytest.raises(UnsupportedModel, match="neither turns nor slides"):
        Gauss(tree("spherical"), 1e-3)
    with pytest.raises(
        UnsupportedModel, match="integrator 'gauss' does not go with damping of .*use 'lie_variational'"
    ):
        Simulation(chain(2, damping=0.1), integrator="gauss")
    with pytest.raises(ValueError, match="order: expected 6 or 8 or 4 with 'gauss', got 3"):
        Simulation(chain(2), integrator="gauss", order=3)
    free = Gauss(chain(2, base="floating"), 1e-3)
    with pytest.raises(UnsupportedModel, match="floating base"):
        free.step([1.0, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("stages", DIAGONALS)
def test_the_diagonal_of_the_chord_solves_oscillations(stages):
    c, b = gauss_points(stages)
    A, d = integrals(c, c), np.diag(DIAGONALS[stages])
    assert A.sum(axis=1) == pytest.approx(c, abs=1e-15)
    assert b @ c ** (2 * stages - 1) == pytest.approx(0.5 / stages, abs=1e-15)
    for y in (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e4):
        spread = np.linalg.solve(np.eye(stages) - 1j * y * d, 1j * y * (A - d))
        assert np.abs(np.linalg.eigvals(spread)).max() < min(0.05 * y if y <= 1.0 else 0.7, 0.7)


@kernel
def _reckon(rows):
    a, b = lane_row(rows, 0), lane_row(rows, 1)
    b[0] = a[0] * a[1] + 2.0 * a[2] - 3
    b[1] = -a[0] / a[1]
    b[2] = 1.5
    b[2] -= 1.0 / a[2]
    b[2] *= a[0]


def test_lanes_are_numbers_side_by_side():
    rows = np.random.default_rng(3).uniform(0.5, 2.0, (2, 3, LANES))
    x, y, z = rows[0].copy()
    _reckon(rows)
    assert rows[1] == pytest.approx(np.array([x * y + 2.0 * z - 3.0, -x / y, (1.5 - 1.0 / z) * x]), rel=1e-15)
