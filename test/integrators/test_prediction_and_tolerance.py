# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The guess that an iteration begins with, friction that slips in its matrix, and how far it goes."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.bench.walker import case
from mbsim_ros.bench.walker.sides import DT, OurWalker
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.lie_variational.arrays import State
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import DIFFERENCES, predict, remember_velocity
from mbsim_ros.integrators.lie_variational.iteration.tolerance import FREE, ROUNDING, TOUCHING, chosen_tolerances
from mbsim_ros.integrators.lie_variational.solve_kernel import MEMORY, PREDICTION_ORDER, SLIPPING
from mbsim_ros.jit import kernel
from mbsim_ros.model.assembly.builder import ModelBuilder, chain


@kernel
def guess_after(state, velocities):
    """Remember all rows but the last, and leave the guess of it in u; what a step does, without solving."""
    predict(state, True)
    for k in range(velocities.shape[0] - 1):
        for i in range(velocities.shape[1]):
            state.u[i] = velocities[k, i]
        remember_velocity(state)
        predict(state, True)


def state_of(nu):
    return State(
        *(np.zeros(0) for _ in range(3)), np.zeros(nu), np.zeros(nu), np.zeros((DIFFERENCES, nu)),
        *(np.zeros(nu) for _ in range(3)), np.zeros(MEMORY),
    )  # fmt: skip


def stepping(state, velocities):
    """Guesses of all rows from the second on, each by its own call."""
    guesses = []
    for k in range(1, len(velocities)):
        fresh = state_of(velocities.shape[1])
        guess_after(fresh, velocities[: k + 1])
        guesses.append(fresh.u.copy())
    return np.array(guesses)


@pytest.mark.parametrize("degree", range(6))
def test_polynomials_are_foretold_once_their_order_is_reached(degree):
    t = np.arange(20.0)
    rng = np.random.default_rng(degree)
    velocities = np.array([np.polyval(rng.normal(size=degree + 1), t / 10.0) for _ in range(3)]).T
    guesses = stepping(state_of(3), velocities)
    np.testing.assert_allclose(guesses[-3:], velocities[-3:], atol=1e-9)
    if degree > 0:
        assert np.abs(guesses[0] - velocities[1]).max() > 1e-3  # of a single velocity nothing is known but itself


def test_noise_is_met_with_a_low_order_and_a_jump_is_forgotten():
    rng = np.random.default_rng(0)
    state = state_of(2)
    guess_after(state, rng.normal(size=(60, 2)))
    assert state.memory[PREDICTION_ORDER] <= 2
    state.u[:] = 7.0  # not the velocity that the table ends with: a reset, another coupling
    kept = state.differences.copy()
    predict_once(state)
    np.testing.assert_array_equal(state.u, [7.0, 7.0])
    np.testing.assert_array_equal(state.differences, kept)  # a step that is not taken changes nothing


@kernel
def predict_once(state):
    """As a kernel of its own."""
    predict(state, True)


def test_a_free_chain_takes_one_iteration_a_step():
    """And stays what it is at rounding: the guess does not change what is solved."""
    motions = []
    for tolerance in (0.0, None):
        swings = LieVariational(chain(10), 1e-3, tolerance=tolerance)
        swings.reset(np.full(10, 0.02), np.full(10, 0.03))
        swings.step(steps=400)
        motions.append((swings.q, swings.iterations / 400))
    assert motions[1][1] < 1.3
    np.testing.assert_allclose(motions[1][0], motions[0][0], atol=1e-12)


def sliding_box(tolerance=None):
    """A brick that slides and turns on a floor, on four corners."""
    brick = ModelBuilder("brick").link("body", mass=2.0, box=(0.4, 0.3, 0.1), collision=True).build("floating")
    sim = Simulation(brick, terrain="flat", contact={"friction": 0.4}, tolerance=tolerance)
    sim.run(0.5)
    v = np.zeros(6)
    v[0], v[5] = 3.0, 1.0
    sim.reset(sim.q, v)
    sim.run(0.05)
    return sim


def walk(with_slips):
    """Half a cycle of the walker of the benches, to rounding, whose feet slide now and then: iterations, and the end."""
    walker, targets = OurWalker(), case.gait(2 * DT)
    system = walker.integrator.system
    slips = system.matrix.slips if with_slips else system.matrix.slips[:, :0]
    walker.integrator._system = system._replace(
        matrix=system.matrix._replace(slips=slips), scheme=system.scheme._replace(tolerances=chosen_tolerances(0.0))
    )
    walker.reset(targets[-1])
    slipping = []
    for target in targets[: len(targets) // 2]:
        walker.target[:] = target
        walker.advance(2)
        slipping.append(walker.integrator.state.memory[SLIPPING])
    return walker.iterations, max(slipping), walker.integrator.q


@pytest.mark.parametrize("tolerance", [1e-9, 1e-11, 1e-13])
def test_a_robot_at_rest_takes_one_iteration_a_step(tolerance):
    """What a last update changes of the forces is in the momentum: it does not come back larger in the next step."""
    walker = OurWalker()
    walker.integrator.system.scheme.tolerances[:] = tolerance
    walker.reset(case.standing_motors())
    walker.advance(3000)
    walker.iterations = walker.steps = 0
    walker.advance(500)
    assert walker.iterations <= 1.02 * walker.steps
    assert np.abs(walker.integrator.u).max() < 1e-12


def test_old_factors_do_not_spoil_the_guesses_of_a_fall():
    model, rng = case.walker(), np.random.default_rng(1)
    v, q = 0.5 * rng.normal(size=model.nv), model.neutral.copy()
    q[7:] = 0.3 * rng.normal(size=model.nq - 7)
    ours = LieVariational(model, DT)
    ours.reset(q, v)
    ours.step(steps=2000)
    assert ours.iterations < 1.1 * 2000


def test_friction_that_slips_is_in_the_matrix():
    """Without it, such steps take several times as many iterations; and it changes nothing but their number."""
    iterations, slipping, q = walk(with_slips=True)
    without, none, q_without = walk(with_slips=False)
    assert (slipping > 1, none) == (True, 0)
    assert iterations < 0.9 * without, (iterations, without)
    np.testing.assert_allclose(q, q_without, atol=1e-9)


def test_tolerances_that_are_chosen():
    np.testing.assert_array_equal(chosen_tolerances(None), [FREE, TOUCHING])
    np.testing.assert_array_equal(chosen_tolerances(0), [ROUNDING, ROUNDING])
    np.testing.assert_array_equal(chosen_tolerances(1e-6), [1e-6, 1e-6])
    for wrong in (-1.0, 0.1, np.nan, "small", [1e-9]):
        with pytest.raises(ValueError, match="tolerance: expected 0"):
            Simulation("arm", tolerance=wrong)
    with pytest.raises(UnsupportedModel, match="tolerance=1e-09"):
        Simulation("arm", integrator="quaternion_variational", tolerance=1e-9)


def test_looser_steps_take_fewer_iterations_and_end_near():
    ends, iterations = [], []
    for tolerance in (0.0, None, 1e-6):
        sim = sliding_box(tolerance)
        sim.run(0.5)
        ends.append(sim.q)
        iterations.append(sim.integrator.counts.iterations)
    assert iterations[0] > iterations[1] > iterations[2]
    assert np.abs(ends[1] - ends[0]).max() < 1e-8
    assert 0.0 < np.abs(ends[2] - ends[0]).max() < 1e-3


def test_a_snapshot_goes_on_with_the_same_guesses():
    sim = sliding_box()
    sim.run(0.05)
    kept = sim.snapshot()
    sim.run(0.1)
    there = sim.q
    sim.restore(kept)
    sim.run(0.1)
    np.testing.assert_array_equal(sim.q, there)
