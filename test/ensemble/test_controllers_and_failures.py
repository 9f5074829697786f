# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controllers of ensembles, members that fail, and what is said of wrong arguments."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from ensemble_robots import PERIOD, commands, hopper, make, played_alone, same

from mbsim_ros import Ensemble
from mbsim_ros.integrators.errors import SimulationDiverged

STEPS = 60


@numba.njit(nogil=True)
def swing(t, q, v, motor_position, motor_velocity, parameters, command):
    """Legs swing with an amplitude, and are pulled back where they are fast."""
    for i in range(motor_position.shape[0]):
        command[0, i] = parameters[0] * np.sin(20.0 * t + i)
        command[2, i] = -0.01 * motor_velocity[i] - 0.02 * v[6 + i] + 0.01 * q[2]


def swung_alone(sim, amplitude):
    rows = []
    for _ in range(STEPS // PERIOD):
        motors = sim.integrator.motors
        command = np.array([motors.position[6:], motors.velocity[6:], motors.effort[6:]])
        swing(sim.seconds, sim.q, sim.v, sim.motor_position, sim.motor_velocity, np.array([amplitude]), command)
        sim.drive_motors(position=command[0], velocity=command[1], effort=command[2])
        sim.advance(PERIOD)
        rows.append((sim.q, sim.v, sim.motor_position, sim.motor_velocity))
    return [np.array(each) for each in zip(*rows, strict=True)]


@pytest.mark.parametrize("options", [{}, {"integrator": "quaternion_variational"}])
def test_a_compiled_controller_acts_as_from_python(options):
    amplitudes = np.array([[0.1], [0.4]])
    ensemble = Ensemble(lambda i: make(i, **options), 2, threads=2)
    found = ensemble.rollout(controller=swing, parameters=amplitudes, steps=STEPS, period=PERIOD)
    for i in range(2):
        assert same(found, i, swung_alone(make(i, **options), amplitudes[i, 0]))


def test_a_controller_for_arrays_sees_all_members():
    table, seen = commands(3), []

    def follow(t, state):
        seen.append((t.copy(), state.q[:, 2].copy()))
        return table[:, len(seen) - 1]

    found = Ensemble(make, 3, threads=2).rollout(controller=follow, steps=STEPS, period=PERIOD, every=2 * PERIOD)
    assert len(seen) == STEPS // PERIOD
    assert [t[0] for t, _ in seen] == [0.005 * k for k in range(12)]
    for i in range(3):
        alone = [rows[1::2] for rows in played_alone(make(i), table[i])]
        assert same(found, i, alone)
        assert seen[2][1][i] == found.q[i, 0, 2]


def falling_apart(i):
    """Member 1 is turned so fast that at last no step resolves it, member 2 so that some are taken in parts."""
    sim = make(i)
    if i > 0:
        sim.push("body", torque=np.array([0.0, 1.0, 0.75]) * (1e5 if i == 1 else 1e3))
    return sim


@pytest.mark.filterwarnings("ignore::mbsim_ros.sim.resolution.ResolutionWarning")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_member_that_fails_is_told_of_and_the_others_go_on(threads):
    table = commands(3)
    ensemble = Ensemble(falling_apart, 3, threads=threads)
    found = ensemble.rollout(table, period=PERIOD, every=1)
    (failure,) = found.failures
    alone, rows = falling_apart(1), []
    with pytest.raises(SimulationDiverged) as told:
        for position in np.repeat(table[1], PERIOD, axis=0):
            alone.drive_motors(position=position, velocity=np.zeros(2))
            alone.step()
            rows.append(alone.q)
    assert alone.integrator.counts.halvings > 0, "steps before it were taken in parts"
    assert found.q[1, : failure.step].tobytes() == np.array(rows).tobytes()
    assert (failure.member, failure.step, failure.reason) == (1, alone.integrator.step_count, str(told.value))
    assert np.isfinite(found.q[1, : failure.step]).all() and np.isnan(found.q[1, failure.step :]).all()
    assert ensemble.state().q[1].tobytes() == alone.q.tobytes(), "the last good state"
    assert found.reached_end.tolist() == ensemble.state().failed.__invert__().tolist() == [True, False, True]
    for i in (0, 2):
        assert found.q[i, PERIOD - 1 :: PERIOD].tobytes() == played_alone(falling_apart(i), table[i])[0].tobytes()
    assert 0 < ensemble[2].integrator.counts.halvings < STEPS
    assert ensemble.advance(10) == () and ensemble.failures == (failure,), "it waits"
    ensemble.reset(members=[1])
    assert ensemble.failures == () and ensemble.state().time.tolist() == [0.07, 0.0, 0.07]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"commands": np.zeros((2, 5, 3))}, r"commands: expected shape \(rows, 2\) or \(2, rows, 2\), got \(2, 5, 3\)"),
        ({"commands": np.full((5, 2), np.nan)}, "commands: expected finite numbers, got 10 that are not"),
        ({"commands": np.zeros((5, 2)), "efforts": np.zeros((4, 2))}, "as many rows in each table, got 5 in commands, 4"),
        ({"velocities": np.zeros((5, 2))}, "velocities: expected commands beside them"),
        ({}, "steps: expected a number of steps where there are no commands, got None"),
        ({"commands": np.zeros((5, 2)), "steps": 6}, "steps: expected at most 5, for which there are commands, got 6"),
        ({"commands": np.zeros((5, 2)), "period": 0}, "period: expected a whole number of steps of at least 1, got 0"),
        ({"steps": 4, "every": 0}, "every: expected at least 1 step, got 0"),
        ({"controller": swing, "steps": 4, "parameters": np.zeros((3, 1))}, r"parameters: expected .* got shape \(3, 1\)"),
        ({"controller": lambda t, s: {"force": 1}, "steps": 4}, "controller: expected positions, .* got 'force'"),
        ({"controller": lambda t, s: None, "steps": 4, "period": 2, "every": 3}, "every: expected a multiple"),
    ],
)  # fmt: skip
def test_wrong_commands(given, told):
    ensemble = Ensemble(make, 2, threads=1)
    before = ensemble.state().q.tobytes()
    with pytest.raises(ValueError, match=told):
        ensemble.rollout(**given)
    assert ensemble.state().q.tobytes() == before


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n": 0}, "n: expected a whole number of at least 1, got 0"),
        ({"threads": 0}, "threads: expected a whole number of at least 1, got 0"),
        ({"dt": np.ones(3)}, r"dt: expected a number or \(2,\), got shape \(3,\)"),
        ({"kp": np.ones((3, 2))}, r"kp: expected a number or \(2,\) or \(2, 2\), got shape \(3, 2\)"),
        ({"terrain": ["flat"]}, "terrain: expected one, or a list of 2, got 1"),
        ({"frictoin": 1.0}, "frictoin: expected one of"),
    ],
)
def test_wrong_members(given, told):
    with pytest.raises((ValueError, TypeError), match=told):
        Ensemble(hopper(), **{"n": 2, **given})
