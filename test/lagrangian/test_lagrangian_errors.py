# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What `variational_integrator` refuses, in which words, and that nothing changes then."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from mbsim_ros import SimulationDiverged, variational_integrator


def free(q, v):
    return 0.5 * v @ v


def sphere(q):
    return q @ q - 1.0


REFUSED = [
    (lambda q, v: v, None, {}, "lagrangian: expected one number, got an array of shape \\(3,\\)"),
    (lambda q, v: "energy", None, {}, "lagrangian: expected numbers, got \\['energy'\\]"),
    (lambda q: 0.0, None, {}, "lagrangian: fails when it is called with symbols instead of numbers: .*argument"),
    (lambda q, v: math.sin(q[0]), None, {}, "lagrangian: .*use NumPy's functions, not those of math"),
    (lambda q, v: v @ v if q[0] > 0 else v[0], None, {}, "lagrangian: .*use casadi.if_else"),
    (7.0, None, {}, "lagrangian: expected a function, got 7.0"),
    (free, lambda q: np.outer(q, q), {}, "constraints: expected a vector, got an array of shape \\(3, 3\\)"),
    (free, None, {"forces": lambda q, v, t: v[:2]}, "forces: expected 3 numbers, one a coordinate, got shape \\(2,\\)"),
    (free, sphere, {"q": [1, 0, 0.1]}, "q: does not obey the constraints: q\\[0\\] = 1, .*, or project=True"),
    (free, sphere, {"v": [1, 0, 0]}, "v: does not obey the constraints: v\\[0\\] = 1, .* does has 0; give v = "),
    (free, lambda q: q @ q + 1.0, {}, "q: no place that obeys the constraints was found"),
    (free, lambda q: [q[1], q[2], q[1] + q[2]], {}, "constraints: only 2 of 3 are independent here: leave out g\\["),
    (lambda q, v: 0.5 * v[:2] @ v[:2], None, {}, "lagrangian: no kinetic energy where v\\[2\\] changes"),
    (lambda q, v: free(q, v) - np.log(q[1]), None, {}, "lagrangian, forces: expected finite values and slopes at q"),
    (lambda q, v: free(q, v) - np.sqrt(q[1]), None, {}, "lagrangian, forces: expected finite values and slopes at q"),
    (free, None, {"forces": lambda q, v, t: v / t}, "lagrangian, forces: expected finite values and slopes at q"),
    (free, None, {"q": [1, np.nan, 0]}, "q: expected finite numbers, got q\\[1\\] = nan"),
    (free, None, {"q": []}, "q: expected one coordinate at least"),
    (free, None, {"v": [1.0]}, "v: expected shape \\(3,\\), got \\(1,\\)"),
    (free, None, {"dt": 0.0}, "dt: expected a positive number of seconds, got 0.0"),
    (free, None, {"dt": None}, "dt: expected a finite number, got None"),
    (free, None, {"t": np.nan}, "t: expected a finite number, got nan"),
    (free, None, {"quadrature": "simpson"}, "quadrature: expected one of midpoint, trapezoidal, endpoint, got 'simpson'"),
]  # fmt: skip


@pytest.mark.parametrize(("lagrangian", "constraints", "options", "says"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_cannot_be_is_refused(lagrangian, constraints, options, says):
    with pytest.raises(ValueError, match=says):
        variational_integrator(lagrangian, constraints, **{"q": [1, 0, 0], "dt": 0.01, **options})


def test_a_start_off_the_constraints_is_moved_there_on_request():
    state = variational_integrator(free, sphere, q=[2, 0, 0], v=[1, 1, 0], dt=0.01, project=True).state
    assert state.q == pytest.approx([1, 0, 0]) and state.v == pytest.approx([0, 1, 0])


def test_a_step_too_long_leaves_the_state_as_it_was():
    integrator = variational_integrator(free, sphere, q=[1, 0, 0], v=[0, 0.5, 0], dt=1.0)
    integrator.run(3)
    before = integrator.state
    integrator.reset(before.q, 20.0 * before.v, t=before.t)
    fast = integrator.state
    with pytest.raises(
        SimulationDiverged, match=r"t = 3 s: the step was not taken: .*residual is .* smaller dt than 1 s"
    ):
        integrator.run(10)
    after = integrator.state
    assert all((getattr(fast, name) == getattr(after, name)).all() for name in ("q", "v", "p", "multipliers"))
    assert (after.t, after.energy) == (3.0, fast.energy)
    integrator.reset(before.q, before.v)
    assert np.isfinite(integrator.run(3).q).all()


@pytest.mark.filterwarnings("error")
def test_numbers_that_leave_the_finite_ones_are_not_given_out():
    """Verlet of a spring that is too stiff for the step grows without bound."""
    spring = variational_integrator(lambda q, v: 0.5 * v @ v - 5e7 * q @ q, q=[1.0], dt=0.1, quadrature="trapezoidal")
    with pytest.raises(SimulationDiverged, match="the numbers are not finite any more"):
        spring.run(1000)
    state = spring.state
    assert np.isfinite([state.t, state.energy, *state.q, *state.v, *state.p]).all() and state.t > 1.0


def test_a_refused_start_leaves_the_state_as_it_was():
    integrator = variational_integrator(free, sphere, q=[1, 0, 0], v=[0, 0.5, 0], dt=0.1)
    before = integrator.step()
    for refused in (
        lambda: integrator.reset([1, 1, 0]),
        lambda: integrator.reset([1, 0, 0], [np.inf, 0, 0]),
        lambda: integrator.start_between([1, 0, 0], [1, 1, 0]),
        lambda: integrator.run(-1),
        lambda: integrator.run("3"),
        lambda: integrator.energy([1.0, 2.0], [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match="^[qv]:|^steps:"):
            refused()
    assert (integrator.state.q == before.q).all() and integrator.state.t == before.t


def test_without_casadi_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match="by CasADi, which is not installed: .* -m pip install casadi"):
        variational_integrator(free, q=[1.0], dt=0.1)
