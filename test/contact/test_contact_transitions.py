# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The modes of W section 5.2 and their transitions."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.contact.contact_kernel import finish_step_into
from mbsim_ros.contact.law_kernel import tangential_force
from mbsim_ros.contact.layout import (
    CONTACT_DAMPING,
    CONTACT_RATE,
    DEPTH,
    FN,
    FORCE,
    FRICTION,
    NORMAL,
    PARAMETER_COLUMNS,
    STORED_TANGENTIAL,
    SWITCHING,
    VELOCITY,
)
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.state import contact_state
from mbsim_ros.contact.transition_kernel import next_mode, steady_mode

M = ContactMode
H = 1e-3


def test_the_numbers_are_those_of_wendlandt():
    assert [int(mode) for mode in M] == [1, 2, 3, 4, 5, 6]
    assert [mode for mode in M if mode.is_steady] == [M.NO_CONTACT, M.SLIDING, M.STICKING]
    assert M.NEGATIVE_NORMAL_FORCE.words == "negative normal force"


def test_a_step_begins_in_a_steady_mode():
    assert [steady_mode(int(mode)) for mode in M] == [1, 2, 4, 4, 2, 2]


# mode, depth at the end, depth, normal force, speed, slips → mode. W figure 5.1 with its priorities.
CASES = [
    (M.NO_CONTACT, -1e-3, -1e-3, 0.0, 1.0, False, M.NO_CONTACT),
    (M.NO_CONTACT, 1e-3, -1e-4, 0.0, 0.0, False, M.SLIDING),
    (M.SLIDING, 1e-3, 1e-3, 50.0, 0.1, True, M.SLIDING),
    (M.SLIDING, 1e-3, 1e-3, 50.0, 5e-4, False, M.SLIDING_TO_STICKING),
    (M.SLIDING, 1e-3, 1e-3, 0.0, 5e-4, False, M.NEGATIVE_NORMAL_FORCE),
    (M.SLIDING, -1e-6, 1e-3, 50.0, 5e-4, False, M.NO_CONTACT),
    (M.SLIDING, 1e-5, -1e-5, 0.0, 0.1, False, M.SLIDING),  # back in before its middle force could be negative
    (M.SLIDING_TO_STICKING, 1e-3, 1e-3, 50.0, 0.1, False, M.STICKING),
    (M.STICKING, 1e-3, 1e-3, 50.0, 0.0, False, M.STICKING),
    (M.STICKING, 1e-3, 1e-3, 50.0, 0.0, True, M.STICKING_TO_SLIDING),
    (M.STICKING, 1e-3, 1e-3, 0.0, 0.0, True, M.NEGATIVE_NORMAL_FORCE),
    (M.STICKING, -1e-6, 1e-3, 50.0, 0.0, True, M.NO_CONTACT),
    (M.STICKING_TO_SLIDING, 1e-3, 1e-3, 50.0, 0.1, True, M.SLIDING),
    (M.NEGATIVE_NORMAL_FORCE, 1e-3, 1e-3, 50.0, 0.1, True, M.SLIDING),
]


@pytest.mark.parametrize("mode, depth_end, depth, fn, speed, slips, expected", CASES)
def test_transitions(mode, depth_end, depth, fn, speed, slips, expected):
    assert M(next_mode(int(mode), depth_end, depth, fn, speed, slips, 1e-3)) is expected


def finished(mode, deflection, velocity, fn=100.0, mu=(0.8, 0.5), k=1e5, bt=50.0):
    """State after a step of one point on a floor that has this normal force and tangential velocity."""
    parameters = np.zeros((1, PARAMETER_COLUMNS))
    parameters[0, :8] = k, 0.0, k, bt, *mu, 1e-3, 1e-4
    state = contact_state(1)
    state.modes[0] = mode
    state.deflections[0] = deflection
    row = state.results[0]
    row[DEPTH], row[CONTACT_RATE], row[FN] = fn / k, 0.0, fn
    row[NORMAL : NORMAL + 3] = (0.0, 0.0, 1.0)
    row[VELOCITY : VELOCITY + 3] = velocity
    bound = fn * (mu[0] if steady_mode(int(mode)) == M.STICKING else mu[1])
    fx, fy, fz, _, _, slips = tangential_force(k, bt, bound, H, *deflection, *velocity)
    row[FORCE : FORCE + 3] = (fx, fy, fz + fn)
    row[3] = slips
    finish_step_into(parameters, H, state.modes, state.deflections, state.results, state.energies)
    return state


def test_breaking_away_drops_to_the_dynamic_friction_and_books_it():
    state = finished(M.STICKING, (8e-4, 0.0, 0.0), (0.05, 0.0, 0.0))
    assert M(state.modes[0]) is M.STICKING_TO_SLIDING
    np.testing.assert_allclose(state.deflections[0], [5e-4, 0.0, 0.0], rtol=1e-12)
    assert state.energies[SWITCHING] == pytest.approx(0.5 * 1e5 * (8e-4**2 - 5e-4**2))
    assert state.energies[FRICTION] == pytest.approx(80.0 * 0.05 * H)
    assert state.energies[STORED_TANGENTIAL] == pytest.approx(0.5 * 1e5 * 5e-4**2)


def test_letting_go_loses_the_deflection_as_switching():
    state = finished(M.STICKING, (3e-4, 0.0, 0.0), (0.0, 0.0, 0.0), fn=0.0)
    assert M(state.modes[0]) is M.NO_CONTACT
    assert state.energies[SWITCHING] == pytest.approx(0.5 * 1e5 * 3e-4**2)
    assert not state.deflections.any()


def test_work_equals_what_is_stored_and_lost_and_nothing_is_gained():
    rng = np.random.default_rng(1)
    for _ in range(500):
        mode, scale = int(rng.choice([2, 3, 4, 5, 6])), 10.0 ** rng.uniform(-5, 0)
        deflection, velocity = np.zeros(3), np.zeros(3)
        fn, bt = rng.uniform(1.0, 200.0), rng.choice([0.0, 50.0, 2000.0])
        deflection[:2] = rng.normal(size=2)
        # what a step before, with up to twice the normal force, can have left
        deflection *= rng.uniform(0.0, 2.0 * 0.5 * fn / 1e5) / np.linalg.norm(deflection)
        velocity[:2] = scale * rng.normal(size=2)
        state = finished(mode, deflection, velocity, fn=fn, bt=bt)
        e = state.energies
        work = H * state.results[0, FORCE : FORCE + 3] @ velocity
        before = 0.5 * 1e5 * deflection @ deflection
        turnover = before + abs(work)
        assert e[STORED_TANGENTIAL] + e[CONTACT_DAMPING] + e[FRICTION] + e[SWITCHING] + work == pytest.approx(
            before, abs=1e-12 * turnover
        )
        assert min(e[CONTACT_DAMPING], e[FRICTION], e[SWITCHING]) >= -1e-12 * turnover
