# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""K's bounds of the time step against checked numbers, and estimates against steps that do and do not converge."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import SCHEMES, WEIGHTLESS, paper_chain, reference, tree, walker

from mbsim_ros.dynamics import generalised_momentum_and_gradient, inverse_dynamics
from mbsim_ros.integrators import step_bound as bounds
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.lie import so3
from mbsim_ros.model.assembly.builder import ModelBuilder, chain

FIGURE_2 = reference("kobilarov_rigid_body.json")["fig2"]
RODS = reference("kobilarov_step_bounds.json")


@pytest.mark.parametrize("row", FIGURE_2, ids=lambda row: f"kappa={row['kappa']}")
def test_bounds_of_the_rigid_body(row):
    """K (19), (20) with the errata; both are proportional to 1 / |ω|."""
    assert bounds.collocation_bound(row["kappa"], 1.0) == pytest.approx(row["b19"], rel=1e-12)
    assert bounds.cayley_bound(row["kappa"], 1.0) == pytest.approx(float(row["b20_corrected"]), rel=1e-12)
    assert bounds.cayley_bound(row["kappa"], 4.0) == pytest.approx(float(row["b20_corrected"]) / 4.0, rel=1e-12)


def test_the_rigid_body_without_restriction():
    assert bounds.collocation_bound(1.0, 5.0) == np.inf
    assert bounds.collocation_bound(3.0, 0.0) == np.inf
    assert bounds.cayley_bound(20.0, 0.0) == np.inf
    just_above = bounds.UNRESTRICTED_CONDITION * (1 + 1e-9)
    assert bounds.cayley_bound(bounds.UNRESTRICTED_CONDITION, 1.0) == np.inf
    b, c = (just_above - 1) / 4, just_above / (2 * (just_above + 1)) - (just_above + 1) / 32
    assert b * b - 4 * c == pytest.approx(0.0, abs=1e-8)  # the two roots meet
    assert np.isfinite(bounds.cayley_bound(just_above, 1.0))
    with pytest.raises(ValueError, match="at least 1"):
        bounds.cayley_bound(0.5, 1.0)


def test_the_jacobian_is_positive_definite_below_the_cayley_bound():
    """K (18) with h²/4 and h²/2, on random inertias and velocities; the inequality is what (20) rests on."""
    rng = np.random.default_rng(7)
    for _ in range(2000):
        kappa = float(np.exp(rng.uniform(np.log(1.001), np.log(60.0))))
        J = np.diag([1.0, rng.uniform(1.0, kappa), kappa])
        x = rng.uniform(0.0, min(bounds.cayley_bound(kappa, 1.0), 20.0))
        w = rng.normal(size=3)
        w *= x / np.linalg.norm(w)
        De = J - 0.5 * so3.hat(J @ w) + 0.5 * so3.hat(w) @ J + 0.25 * (w @ J @ w) * np.eye(3)
        De += 0.5 * np.outer(w, w) @ J
        assert np.linalg.eigvalsh(De + De.T).min() > 0.0


def rods(number):
    """The planar chain of the reference: uniform rods of 1 m and 1 kg, angles relative, under gravity."""
    builder = ModelBuilder("rods").link("world")
    for i in range(number):
        builder.link(f"rod_{i}", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 1e-4))
        parent, height = ("world", 0) if i == 0 else (f"rod_{i - 1}", -1)
        builder.joint(f"joint_{i}", "continuous", parent, f"rod_{i}", xyz=(0, 0, height), axis=(0, 1, 0))
    return builder.build("fixed")


@pytest.mark.parametrize(("number", "row"), [(n, row) for n in (2, 3) for row in (0, 1)])
def test_bounds_of_rods(number, row):
    """K (32), (38), (41) with the errata. The reference was found by scanning in steps of 5 µs."""
    given, case = RODS[f"n{number}"]["consts"], RODS[f"n{number}"]["rows"][row]
    constants = bounds.Regularity(**given)
    model, still = rods(number), np.zeros(number)
    q, v = np.array(case["q"]), np.array(case["v"])
    weight = inverse_dynamics(model, q, still, still)
    bias = float(np.linalg.norm(weight - generalised_momentum_and_gradient(model, q, v).dT_dr))
    speed = float(np.linalg.norm(v))
    assert bounds.regular_jacobian_bound(constants, speed) == pytest.approx(case["h32"], rel=1e-12)
    assert bounds.regular_iterates_bound(constants, speed, bias) == pytest.approx(case["h38_2m1"], abs=5e-6)
    assert bounds.newton_bound(constants, speed, bias) == pytest.approx(case["h41_corrected"], abs=5e-6)


def test_the_bounds_of_k_are_below_where_newton_fails():
    """And far below, which is why they do not refuse steps."""
    for number in ("n2", "n3"):
        for row in RODS[number]["rows"]:
            assert 30.0 < row["h_emp"] / row["h41_corrected"] < 3000.0


def test_forces_that_depend_on_velocity_shorten_the_step():
    plain = bounds.Regularity(1.0, 2.0, 0.5, 0.5, 0.5)
    damped = bounds.Regularity(1.0, 2.0, 0.5, 0.5, 0.5, l4=3.0)
    for bound in (bounds.regular_jacobian_bound, lambda c, s: bounds.newton_bound(c, s, 1.0)):
        assert bound(damped, 1.0) < bound(plain, 1.0)
    assert bounds.regular_jacobian_bound(bounds.Regularity(1.0, 2.0, 0.0, 0.0, 0.0, l4=4.0), 1.0) == 0.5
    assert bounds.regular_jacobian_bound(plain, 0.0) == np.inf


def body(moments, com=(0.0, 0.0, 0.0)):
    builder = ModelBuilder("body").link("world").link("body", mass=1.0, com=com, inertia=moments)
    return builder.joint("ball", "spherical", "world", "body").build("fixed")


def test_a_body_on_a_ball_joint_has_a_proved_bound():
    """The condition number is that of the inertia about the pivot: (1, 1, 2) and 1 kg at 3 m give (1, 10, 11)."""
    model = body((1.0, 1.0, 2.0), (3.0, 0.0, 0.0))
    bound = bounds.step_bound(model, model.neutral, [0.0, 3.0, 4.0])
    assert bound.kind == "proved K (20)"
    assert bound.value == pytest.approx(bounds.cayley_bound(11.0, 5.0), rel=1e-12)
    assert "condition number 11" in bound.sentence
    round_body = bounds.step_bound(body((2.0, 2.0, 2.5)), model.neutral, [0.0, 3.0, 4.0])
    assert round_body.value == np.inf and "any length" in round_body.sentence
    assert bounds.step_bound(model, model.neutral, [0.0, 3.0, 4.0], retraction="exp").kind == "estimate"


def test_a_free_body_is_proved_only_while_it_just_turns():
    """The Cayley map of SE(3) couples translation to rotation, which K's section 3 does not have."""
    model = ModelBuilder("free").link("free", mass=1.0, inertia=(1.0, 6.0, 6.5)).build("floating")
    turning = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert bounds.step_bound(model, model.neutral, turning, gravity=WEIGHTLESS).kind == "proved K (20)"
    assert bounds.step_bound(model, model.neutral, turning).kind == "estimate"
    assert bounds.step_bound(model, model.neutral, turning + np.eye(6)[0], gravity=WEIGHTLESS).kind == "estimate"


@pytest.mark.parametrize("robot", [paper_chain, walker])
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_an_estimate_is_where_steps_begin_to_fail(robot, quadrature, retraction):
    model, q, v = robot()
    options = {"quadrature": quadrature, "retraction": retraction, "gravity": WEIGHTLESS}
    bound = bounds.step_bound(model, q, v, **options)
    assert bound.kind == "estimate" and "not proved" in bound.sentence
    simulation = LieVariational(model, 0.6 * bound.value, **options)
    simulation.reset(q, v)
    simulation.step()
    # Half as fast, twice as long: time has no scale of its own without gravity.
    assert bounds.step_bound(model, q, 0.5 * v, **options).value == pytest.approx(2 * bound.value, rel=0.03)


def test_a_step_just_above_an_estimate_is_not_found_by_the_plain_iteration():
    model, q, v = paper_chain()
    bound = bounds.step_bound(model, q, v, gravity=WEIGHTLESS)
    iteration = bounds._Iteration(
        model, q, v, np.zeros(3), bounds.QUADRATURES["midpoint"], bounds.RETRACTIONS["cayley"]
    )
    factors = [iteration.factor(share * bound.value) for share in (0.1, 0.3, 0.6, 1.1)]
    assert factors == sorted(factors) and factors[-1] == 1.0


def test_gravity_alone_restricts_a_robot_at_rest():
    model = tree("revolute", "revolute")
    still = np.zeros(model.nv)
    assert bounds.step_bound(model, model.neutral, still, gravity=WEIGHTLESS).value == np.inf
    assert 0.05 < bounds.step_bound(model, model.neutral, still).value < 5.0


def test_bad_arguments():
    model, q, v = paper_chain()
    with pytest.raises(ValueError, match="v: expected finite numbers"):
        bounds.step_bound(model, q, v * np.nan)
    with pytest.raises(ValueError, match="quadrature: expected one of"):
        bounds.step_bound(model, q, v, quadrature="simpson")


@pytest.mark.parametrize("gravity", [WEIGHTLESS, None])
def test_extreme_states_give_a_bound_that_says_so(gravity):
    model, q, v = paper_chain()
    for speed in (1e-300, 1e-30, 1e10, 1e100, 1e200, 1e300):
        bound = bounds.step_bound(model, q, speed * v, gravity=gravity)
        assert bound.value >= 0.0
        if speed >= 1e10:
            assert bound.value == 0.0 and ("even a step of 1e-07 s" in bound.sentence or "too large" in bound.sentence)


def test_a_robot_that_merely_stands_has_a_bound():
    """Rounding is its velocity. A trial step that runs away left the numbers in the solve, and that was an error."""
    model = chain(5, base="floating")
    v = np.zeros(model.nv)
    v[8] = 1e-15
    assert 0.1 < bounds.step_bound(model, model.neutral, v).value < np.inf


def test_every_bound_says_that_it_is_about_free_motion():
    model, q, v = paper_chain()
    for bound in (
        bounds.step_bound(model, q, v), bounds.step_bound(model, q, 1e200 * v),
        bounds.step_bound(body((1.0, 5.0, 5.5)), [0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0]),
    ):  # fmt: skip
        assert bound.scope == "free motion only" and bound.sentence.startswith("free motion only: ")
