"""Linear and angular momentum of free robots stay what they were, over 100 s."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import SCHEMES, WEIGHTLESS, paper_chain, walker

from mbsim_ros.dynamics import momentum
from mbsim_ros.integrators.lie_variational import LieVariational

ROBOTS = {"chain": paper_chain, "walker": walker}
DURATION = 100.0  # [s]


def drift(robot, dt, quadrature, retraction):
    """Largest relative change of the linear and of the angular momentum at ten instants."""
    model, q, v = ROBOTS[robot]()
    simulation = LieVariational(model, dt, quadrature=quadrature, retraction=retraction, gravity=WEIGHTLESS)
    simulation.reset(q, v)
    before = momentum(model, q, v).reshape(2, 3)
    worst = np.zeros(2)
    for _ in range(10):
        simulation.step(steps=round(DURATION / dt / 10))
        after = momentum(model, simulation.q, simulation.v).reshape(2, 3)
        worst = np.maximum(worst, np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1))
    assert simulation.time == pytest.approx(DURATION)
    return worst


@pytest.mark.parametrize("dt", [0.02, 0.1])
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_momentum_does_not_drift(robot, dt, quadrature, retraction):
    assert drift(robot, dt, quadrature, retraction).max() < 1e-11


def test_a_free_robot_falls_with_its_weight():
    """With gravity the linear momentum grows by m g t, exactly, and sideways not at all."""
    model, q, v = walker()
    simulation = LieVariational(model, 0.01)
    simulation.reset(q, v)
    before = momentum(model, q, v)[:3]
    simulation.step(steps=100)
    gained = momentum(model, simulation.q, simulation.v)[:3] - before
    assert np.abs(gained - model.mass * np.array([0.0, 0.0, -9.81]) * simulation.time).max() < 1e-11 * model.mass * 9.81
