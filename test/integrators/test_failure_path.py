# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What happens to a step that the iteration does not solve: Newton's method, smaller steps, an error that says enough."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest
from integrator_robots import discrete_momentum

from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor
from mbsim_ros.dynamics import inverse_dynamics
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance import recovery, robot_steps
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder, chain


def long_steps(count, low, high):
    """Single steps of a pendulum of three links that are long for it, from random states."""
    model, rng = chain(3), np.random.default_rng(0)
    for dt in np.geomspace(low, high, count):
        q, v = rng.uniform(-1, 1, 3), 2.0 * rng.normal(size=3)
        engine = LieVariational(model, dt)
        engine.reset(q, v)
        p = engine.p.copy()
        try:
            engine.step()
        except SimulationDiverged:
            continue
        yield engine, q, v, p


def test_what_newton_finds_is_a_solution():
    """Whether it is one of the motion is another question, which recover asks; here it is taken as it is."""
    by_newton, still, model, rng = 0, np.zeros(3), chain(3), np.random.default_rng(0)
    for dt in np.geomspace(0.1, 1.0, 60):
        q, v = rng.uniform(-1, 1, 3), 2.0 * rng.normal(size=3)
        engine = LieVariational(model, dt)
        engine.reset(q, v)
        p = engine.p.copy()
        if robot_steps.RobotSteps(engine).by_newton() > 0:
            by_newton += 1
            impulse = 0.5 * engine.dt * inverse_dynamics(engine.model, q, still, still)
            minus, scale = discrete_momentum(engine, q, engine.mean_velocity)
            assert np.abs(minus - p + impulse).max() < 1e-10 * max(scale, np.abs(p).max(), np.abs(impulse).max())
    assert by_newton > 10


def thrown_box(dt):
    """A heavy box that slides over a floor whose damper sets in at once, W 5.3, after 2 s."""
    model = ModelBuilder("box").link("box", mass=70.0, box=(0.3, 0.4, 0.2), collision=True).build("floating")
    law = ContactParameters(75e3, 2e3, 75e3, 2e3, 0.4, 0.4, 1e-3, 1e-4, 17.5)
    engine = LieVariational(model, dt, points=contact_points(model), ground=floor(), contact=law)
    unit = np.array([0.9239, 0.2706, 0.2706, 0.0]) / np.linalg.norm([0.9239, 0.2706, 0.2706])
    velocity = quaternion.to_matrix(unit).T @ [5.0, 0.0, -0.04]
    engine.reset([0, 0, 0.3, *quaternion.to_ros(unit)], [*velocity, 0, 0, 0])
    engine.step(steps=round(2.0 / dt))
    return engine


def test_newton_takes_a_coarse_run_through_its_impacts():
    coarse, fine = thrown_box(4e-3), thrown_box(5e-4)
    assert 0 < coarse.counts.newton_steps < 20 and coarse.counts.halvings == 0
    assert fine.counts.newton_steps == fine.counts.halvings == 0
    np.testing.assert_allclose(coarse.q[:3], fine.q[:3], atol=0.01)
    np.testing.assert_allclose(np.abs(coarse.q[3:]), np.abs(fine.q[3:]), atol=0.02)


@pytest.mark.slow
def test_a_step_that_only_smaller_ones_solve_is_these(caplog):
    """Bit for bit it need not be: the small steps guess differently. It is counted, and logged with its parts."""
    caplog.set_level(logging.INFO, logger=recovery.__name__)
    halved, equal, parts = 0, 0, set()
    for engine, q, v, _ in long_steps(200, 0.2, 2.0):
        if engine.counts.halvings:
            halved += 1
            said = re.search(r"t = 0 s: taken in (\d+) parts, the smallest 1/(\d+) ", caplog.records[-1].getMessage())
            count, smallest = map(int, said.groups())
            parts.add(count)
            small = LieVariational(engine.model, engine.dt / count)
            small.reset(q, v)
            small.step(steps=count)
            if count == smallest and small.counts.newton_steps == small.counts.halvings == 0:
                equal += 1
                np.testing.assert_allclose(engine.q, small.q, rtol=1e-8, atol=1e-8)
                np.testing.assert_allclose(engine.v, small.v, rtol=1e-7, atol=1e-7)
    assert halved >= 5 and equal >= 2 and max(parts) >= 4 and min(parts) >= 2
    assert len(caplog.records) >= halved  # the small ones may be halved, too


@pytest.mark.slow
def test_what_smaller_steps_give_is_close_to_the_motion():
    close = 0
    for engine, q, v, _ in long_steps(200, 0.2, 2.0):
        if engine.counts.halvings:
            exact = LieVariational(engine.model, engine.dt / 4096)
            exact.reset(q, v)
            exact.step(steps=4096)
            close += bool(np.abs(engine.q - exact.q).max() < 0.3)
            assert engine.step_count == 1
    assert close >= 3


def standing(law=None, dt=1e-3):
    """A ball on a rod, which rests on the floor."""
    builder = ModelBuilder("toy").link("body", mass=2.0, box=(0.2, 0.2, 0.1), collision=True)
    builder.link("arm", mass=0.5, com=(0, 0, 0.2), box=(0.02, 0.02, 0.4))
    builder.joint("shoulder", "continuous", "body", "arm", xyz=(0, 0, 0.05), axis=(0, 1, 0))
    model = builder.build("floating")
    engine = LieVariational(model, dt, points=contact_points(model), ground=floor(), contact=law)
    engine.reset([0, 0, 0.05, 0, 0, 0, 1, 0.1])
    engine.step(steps=100)
    return engine


def test_one_that_nothing_solves_says_when_where_and_what_touches():
    engine = standing()
    before = engine.saved()
    tau = np.zeros(7)
    tau[6] = 1e18
    with pytest.raises(SimulationDiverged) as raised:
        engine.step(tau, steps=5)
    said = str(raised.value)
    assert re.search(r"t = 0\.1 s: the step was not taken: .* hard to solve since t = 0\.1 s", said)
    assert re.search(r"in dt = 0\.001 s '(base|shoulder)' turns \S+ rad, 4 of 8 points are in contact; try dt = ", said)
    after = engine.saved()
    for name, array in before.items():
        if not name.startswith("matrix") and name not in ("state.memory", "counts"):
            assert np.array_equal(array, after[name]), name
    assert all(np.isfinite(array).all() for name, array in after.items() if name not in ("joints", "drives", "motors"))
    engine.step(steps=50)  # and it goes on
    other = standing()
    other.step(steps=50)
    np.testing.assert_allclose(engine.q, other.q, atol=1e-12)


def test_a_robot_too_large_for_newton_is_taken_in_smaller_steps(monkeypatch):
    """Newton's matrix is full, so beyond a size only smaller steps are tried."""
    monkeypatch.setattr(robot_steps, "LARGEST_NEWTON", 2)
    halved = [engine.counts for engine, *_ in long_steps(40, 0.1, 0.6) if engine.counts.halvings]
    assert halved and all(counts.newton_steps == 0 for counts in halved)


def test_a_reset_without_velocities_is_at_rest():
    engine = LieVariational(chain(2), 1e-3)
    engine.reset([0.3, 0.1])
    assert not engine.v.any() and not engine.p.any()
