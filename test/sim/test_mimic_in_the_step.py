# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Mimic joints within the step: the reduced motion, its order, and that followers follow for a long time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.coupling.configuration import couple
from mbsim_ros.dynamics import forward_dynamics, mass_matrix
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

START, RATES = np.array([0.4, -0.3]), np.array([1.0, 2.0])
# (parent, axis, what it mimics): j2 = −0.5 j1 + 0.3, j3 = 2 j0 − 0.1
JOINTS = (
    (None, (1, 0, 0), None),
    ("l0", (0, 1, 0), None),
    ("l1", (0.6, 0.8, 0), ("j1", -0.5, 0.3)),
    ("l1", (0, 0, 1), ("j0", 2.0, -0.1)),
)
RATIOS = np.array([[1, 0], [0, 1], [0, -0.5], [2, 0]])
OFFSETS = np.array([0.0, 0.0, 0.3, -0.1])


@cache
def linkage(mimics=True, base="fixed"):
    """Four rods on joints with skew axes; two of the joints mimic others, or move on their own."""
    root = "world" if base == "fixed" else "hull"
    builder = ModelBuilder("linkage").link(root, **({} if base == "fixed" else {"mass": 2.0, "box": (0.3, 0.2, 0.1)}))
    for i, (parent, axis, mimic) in enumerate(JOINTS):
        builder.link(f"l{i}", mass=0.8 + 0.1 * i, com=(0.02, 0, -0.15), box=(0.05, 0.04, 0.3))
        builder.joint(
            f"j{i}", "continuous", parent or root, f"l{i}", xyz=(0, 0.05 * i, -0.3 if i else 0), axis=axis,
            damping=0.02, mimic=mimic if mimics else None,
        )  # fmt: skip
    return builder.build("floating" if base == "floating" else "auto")


def after(n, q=START, v=RATES, span=1.0, **options):
    sim = Simulation(linkage(), span / n, **options)
    sim.reset(q, v)
    sim.advance(n)
    return sim


@pytest.mark.parametrize("quadrature", ["midpoint", "trapezoidal"])
def test_the_motion_is_that_of_the_reduced_equations(quadrature):
    """forward_dynamics knows of mimic joints; its damping is that of all four joints, through the ratios."""
    model, damping = linkage(), 0.02 * (RATIOS**2).sum(axis=0)

    def rate(t, y):
        return np.concatenate([y[2:], forward_dynamics(model, y[:2], y[2:], -damping * y[2:])])

    exact = solve_ivp(rate, (0, 1), [*START, *RATES], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for n in (100, 200, 400, 800):
        sim = after(n, quadrature=quadrature)
        assert sim.q.shape == sim.v.shape == (2,)
        errors.append(np.abs(np.concatenate([sim.q, sim.v]) - exact).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(slopes - 2.0).max() < 0.05, slopes
    assert errors[-1] < 1e-4


def test_it_is_the_same_mechanism_with_an_explicit_coupling():
    """Four joints and D in place of mimic tags: the same trajectory to rounding."""
    free = linkage(mimics=False)
    motors = {"a": {"j0": 1.0, "j3": 2.0}, "b": {"j1": 1.0, "j2": -0.5}}
    coupled = LieVariational(free, 2e-3, coupling=couple(free, motors), tolerance=0.0)
    coupled.joints.damping[:] = 0.02
    coupled.reset(RATIOS @ START + OFFSETS, RATIOS @ RATES)
    sim = Simulation(linkage(), 2e-3, tolerance=0.0)
    sim.reset(START, RATES)
    for _ in range(10):
        sim.advance(100)
        coupled.step(steps=100)
        np.testing.assert_allclose(RATIOS @ sim.q + OFFSETS, coupled.q, atol=1e-12)
        np.testing.assert_allclose(RATIOS @ sim.v, coupled.v, atol=1e-12)
    assert sim.energy().kinetic == pytest.approx(coupled.energies()[0], rel=1e-12)
    M = mass_matrix(free, coupled.q)
    np.testing.assert_allclose(mass_matrix(sim.model, sim.q), RATIOS.T @ M @ RATIOS, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_followers_follow_for_a_hundred_thousand_steps(base):
    model = linkage(base=base)
    sim = Simulation(model, 1e-3, gravity=(0, 0, -9.81 if base == "fixed" else 0.0))
    first = 7 if base == "floating" else 0
    assert model.nq == first + 2
    sim.integrator.joints.damping[:] = 0.0
    q, v = sim.q, sim.v
    q[first:], v[len(v) - 2 :] = START, 2.0 * RATES
    sim.reset(q, v)
    momentum = sim.momentum()
    for _ in range(10):
        sim.advance(10_000)
        joints = sim.integrator.state.q[first:]  # those that follow, too
        own = sim.q[first:]
        np.testing.assert_allclose(joints, RATIOS @ own + OFFSETS, rtol=0, atol=1e-12 * max(1.0, np.abs(own).max()))
        np.testing.assert_allclose(model.tree_q(sim.q), sim.integrator.state.q, rtol=1e-12, atol=1e-12)
    if base == "floating":
        assert np.abs(sim.momentum() - momentum).max() < 1e-11 * np.abs(momentum).max()
