# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Linear and angular momentum of free robots, measured from where their bodies are: to second order in the step.

The integrator stores the spatial momentum, so that what it says of it cannot change. Here it is Σ m Δc/h and
Σ m c̄ × Δc/h + R̄ I ω of two configurations, about the centre of mass, where travelling adds nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from integrator_robots import SCHEMES, WEIGHTLESS, paper_chain, rotation, walker

from mbsim_ros.dynamics import centre_of_mass, centroidal_momentum, momentum
from mbsim_ros.dynamics.mean_momentum import mean_centroidal_momentum
from mbsim_ros.integrators.baselines.integrator import LieEuler, Rk4
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational

ROBOTS = {"chain": paper_chain, "walker": walker}
DURATION, SAMPLES = 100.0, 200  # s
LONG, SHORT = 0.1, 0.05  # s: steps


def started(robot, travels):
    """A robot with its state; one that does not travel has its centre of mass at rest."""
    model, q, v = ROBOTS[robot]()
    v = v.copy()
    if not travels:
        v[:3] -= rotation(q[3:7]).T @ centroidal_momentum(model, q, v)[:3] / model.mass
    return model, q, v


def errors(model, simulation, q, v, disturb=None):
    """Errors (samples, 2) of the velocity of the centre of mass [m/s] and of the angular momentum, relative to it."""
    simulation.reset(q, v)
    start, found = centroidal_momentum(model, q, v), []
    for _ in range(SAMPLES):
        simulation.step(steps=round(DURATION / simulation.dt / SAMPLES) - 1)
        before = simulation.q.copy()
        simulation.step()
        if disturb is not None:
            disturb(simulation)
        error = mean_centroidal_momentum(model, before, simulation.q, simulation.dt) - start
        size = np.linalg.norm(start[3:])
        found.append([np.linalg.norm(error[:3]) / model.mass, np.linalg.norm(error[3:]) / size])
    assert simulation.time == pytest.approx(DURATION)
    return np.array(found)


@cache
def of_variational(robot, travels, dt, quadrature, retraction):
    model, q, v = started(robot, travels)
    # To rounding: with steps this long, how many iterations one takes decides whether it is taken in parts.
    scheme = LieVariational(
        model, dt, quadrature=quadrature, retraction=retraction, gravity=WEIGHTLESS, tolerance=0.0
    )  # fmt: skip
    return errors(model, scheme, q, v)


def assert_kept(found, most):
    """Small, and on average about as small in the second half of the run as in the first: a drift would be 2.6 times."""
    first, second = (np.sqrt((half**2).mean(axis=0)) for half in np.split(found, 2))
    assert (found.max(axis=0) < most).all()
    assert (second < 1.9 * first).all()


def assert_second_order(of_long, of_short):
    """Half the step, a quarter of the error; while both still go the same way, for these motions are chaotic."""
    ratio = of_long[: SAMPLES // 5].max(axis=0) / of_short[: SAMPLES // 5].max(axis=0)
    assert (ratio > 2.5).all() and (ratio < 5.5).all()


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_a_robot_that_turns_keeps_its_momentum(robot, quadrature, retraction):
    of_long, of_short = (of_variational(robot, False, dt, quadrature, retraction) for dt in (LONG, SHORT))
    assert_kept(of_long, (2e-4, 1e-2))
    assert_kept(of_short, (1e-4, 3e-3))
    assert_second_order(of_long, of_short)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_a_robot_that_travels_keeps_its_velocity(robot, quadrature, retraction):
    """Its centre of mass; the angular momentum about it moves, with time, but with the square of the step.

    A step on SE(3) couples the way of a base to its turn, so a robot that travels does not turn quite as one at rest.
    """
    of_long, of_short = (of_variational(robot, True, dt, quadrature, retraction) for dt in (LONG, SHORT))
    assert_kept(of_long[:, :1], 2e-3)
    assert_kept(of_short[:, :1], 5e-4)
    assert_second_order(of_long, of_short)


@pytest.mark.parametrize("travels", [False, True])
def test_maximal_coordinates_keep_the_velocity_to_rounding(travels):
    """The bodies move by themselves, so the centre of mass stays on its line however the robot turns."""
    model, q, v = started("chain", travels)
    found = errors(model, QuaternionVariational(model, LONG, gravity=WEIGHTLESS), q, v)
    assert found[:, 0].max() < 1e-11
    assert_kept(found[:, 1:], 1e-3)


def test_what_does_not_keep_momentum_is_found_out():
    """Euler's rule; RK4, which drifts; and this integrator, if a ten-thousandth of its momentum is lost a second."""
    model, q, v = started("chain", False)

    def lose(simulation):
        left = 1.0 - 1e-4 * DURATION / SAMPLES
        simulation.state.mu[:] *= left
        simulation.state.p[:] *= left

    for simulation, disturb in (
        (LieEuler(model, 0.02, gravity=WEIGHTLESS), None),
        (LieVariational(model, SHORT, gravity=WEIGHTLESS), lose),
    ):
        with pytest.raises(AssertionError):
            assert_kept(errors(model, simulation, q, v, disturb), (1e-4, 3e-3))
    travelling = started("chain", True)
    drifts = errors(travelling[0], Rk4(model, LONG, gravity=WEIGHTLESS), *travelling[1:])[:, :1]
    with pytest.raises(AssertionError):
        assert_kept(drifts, 2e-3)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_velocities_at_the_nodes_have_the_momentum_that_is_stored(robot, quadrature, retraction):
    """q and v of the node have it to rounding; whether the bodies move so is for the tests above."""
    model, q, v = ROBOTS[robot]()
    simulation = LieVariational(model, LONG, quadrature=quadrature, retraction=retraction, gravity=WEIGHTLESS)
    simulation.reset(q, v)
    before = momentum(model, q, v).reshape(2, 3)
    for _ in range(5):
        simulation.step(steps=200)
        after = momentum(model, simulation.q, simulation.v).reshape(2, 3)
        assert (np.linalg.norm(after - before, axis=1) < 1e-11 * np.linalg.norm(before, axis=1)).all()


def test_a_free_robot_falls_with_its_weight():
    """With gravity the centre of mass is where it falls to, to second order, and sideways it goes on as before."""
    model, q, v = walker()
    found = []
    for dt in (0.01, 0.005):
        simulation = LieVariational(model, dt)
        simulation.reset(q, v)
        simulation.step(steps=round(1.0 / dt))
        free = centre_of_mass(model, q) + momentum(model, q, v)[:3] / model.mass
        found.append(centre_of_mass(model, simulation.q) - free - np.array([0.0, 0.0, -0.5 * 9.81]))
    assert np.abs(found[0]).max() < 1e-4
    assert np.abs(found[1]).max() < 0.3 * np.abs(found[0]).max()
