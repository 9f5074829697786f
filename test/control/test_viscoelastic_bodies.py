# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Bodies in visco-elastic feedback against equations of motion of their own: full matrices, the point of contact, a
constrained body, several that are coupled, muscles; and v, which never increases.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import Simulation
from mbsim_ros.control.viscoelastic.controller import (
    UnstableGains,
    ViscoelasticController,
    ViscoelasticParameters,
)
from mbsim_ros.control.viscoelastic.elements import Anchor, Muscle, read_elements
from mbsim_ros.control.viscoelastic.law import GAINS, ViscoelasticLaw, angle_rates, angles_of, attitude
from mbsim_ros.dynamics import forward_dynamics, frame_jacobian, link_twist
from mbsim_ros.experiments.hemami import in_simulation, random_starts
from mbsim_ros.experiments.hemami.body import ANGLES, PHI, PLACE, SUPPORT, TURN, HemamiBody
from mbsim_ros.experiments.hemami.hopping import hop
from mbsim_ros.experiments.hemami.parameters import CONTACT, GRAVITY, body, hopping_body, kicked, solution
from mbsim_ros.experiments.hemami.simulation_2 import pressed
from mbsim_ros.experiments.hemami.simulation_3 import coupled_bodies, start
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder

MASS, MOMENTS = 41.0, np.array([10.0, 8.0, 8.4])
KICK = np.array([2.0, -3.0, 4.0])


def full_gains(seed=3):
    """Positive definite matrices that are not diagonal, as the parameters have them."""
    rng, gains = np.random.default_rng(seed), {}
    for name in GAINS:
        root = rng.normal(size=(3, 3))
        gains[name] = tuple((random_starts.SCALES[name] * (np.eye(3) + 0.2 * root @ root.T)).ravel())
    return gains


def law_of(gains, alpha):
    return ViscoelasticLaw(**{name: np.reshape(gain, (3, 3)) for name, gain in gains.items()}, alpha=np.full(3, alpha))


def rotation(q):
    return np.asarray(quaternion.to_matrix(quaternion.from_ros(q)))


def run_noting(sim, controller, seconds):
    """v at every update, the last included."""
    values = []

    def update(sim):
        command = controller.update(sim.seconds, sim.state())
        values.append(controller.lyapunov)
        return command

    sim.run(seconds, controller=update, progress=False)
    update(sim)
    return np.array(values)


def is_first_order(errors):
    """Halving the step halves each error."""
    ratios = np.array([np.divide(coarse, fine) for coarse, fine in pairwise(errors)])
    return np.abs(ratios - 2.0).max() < 0.25, ratios


@pytest.mark.parametrize("follows", ["centre", "point"])
def test_full_matrices_and_the_point_of_contact(follows):
    """H (3), and (11), (12), with eight matrices that are not diagonal."""
    model = ModelBuilder("trunk").link("trunk", mass=MASS, inertia=tuple(MOMENTS)).build("floating")
    gains = full_gains()
    one = HemamiBody(MASS, MOMENTS, GRAVITY, CONTACT, law_of(gains, 0.4), follows)
    z = np.zeros(18)
    z[PLACE], z[SUPPORT] = one.sagging()
    z[TURN] = KICK
    if follows == "point":
        z[PLACE] -= CONTACT  # XC is where the springs leave it
    exact = solution(one.rates, z, np.array([0.0, 0.1]), 1e-10)[-1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        sim = Simulation(model, h, gravity=GRAVITY, terrain=False)
        controller = ViscoelasticController(
            model, ViscoelasticParameters(point=tuple(CONTACT), alpha=0.4, gravity=10.0, feedback=follows, **gains)
        )
        sim.reset(v=[0, 0, 0, *KICK])
        v = run_noting(sim, controller, 0.1)
        assert np.diff(v).max() < 0.0 and v[0] == pytest.approx(0.5 * MOMENTS @ KICK**2)
        A, place = rotation(sim.q[3:7]), sim.q[:3] + z[PLACE]
        found, expected = (angles_of(A), place, controller.Phi), (exact[ANGLES], exact[PLACE], exact[PHI])
        errors.append([np.abs(a - b).max() for a, b in zip(found, expected, strict=True)])
    good, ratios = is_first_order(errors)
    assert good, ratios
    assert max(errors[-1]) < 1e-2


@pytest.mark.parametrize("which", [1, 2, 3])
def test_the_documents_simulations_go_to_the_equations_with_the_step(which):
    """From the files of their launch file; over four steps, first order."""
    if which == 1:
        exact, entries = solution(body().rates, kicked(body()), in_simulation.sampled(0.1), 1e-10), range(9, 12)
    elif which == 2:  # presses, lifts off and flies
        hops = hop(hopping_body(), pressed(hopping_body()), 0.13, in_simulation.SAMPLING)
        exact, entries = hops.z[: len(in_simulation.sampled(0.12))], [2]
        assert len(hops.lift_offs) == 1
    else:
        exact = solution(coupled_bodies().rates, start(), in_simulation.sampled(0.1), 1e-10)[:, :36]
        entries = [*range(3), *range(9, 12), *range(18, 21), *range(27, 30)]
    run = (in_simulation.simulation_1, in_simulation.simulation_2, in_simulation.simulation_3)[which - 1]
    checked = in_simulation.check(run, exact, entries)
    assert 0.9 < checked.order < 1.3, checked
    assert checked.errors[-1] < 0.02
    # From rest a force that is held over the first step meets no damping: v rises by K x²/2 of that step, fourth order.
    assert [one.increase for one in checked.runs] == pytest.approx(
        [0.0] * 4, abs=1e-4 * checked.runs[0].v[0] * (which == 2)
    )


@pytest.mark.slow
def test_v_never_increases_from_random_starts():
    """10⁴ of each by `python -m mbsim_ros.experiments.hemami.random_starts`."""
    one = body()
    z = random_starts.starts(5, 1, one)
    rates = random_starts._rates(one, z)
    for k in range(5):  # those of all at once are those of one
        assert rates[k, :18] == pytest.approx(one.rates(z[k, :18]), rel=1e-12)
        assert rates[k, 18] == pytest.approx(one.transferred_power(z[k, :18]), rel=1e-9)
    for found in (random_starts.in_equations(200, 0.5), random_starts.in_simulation(20, 0.1)):
        assert found.rise < 0.0 and found.last < 0.9


def test_rates_alone_say_where_the_body_is():
    """H (4) to (9): τ and β go on by the rates, and X, Θ are computed in place of being measured; second order."""
    model = ModelBuilder("trunk").link("trunk", mass=MASS, inertia=tuple(MOMENTS)).build("floating")
    errors = []
    for h in (4e-3, 2e-3):
        runs = []
        for measures in ("pose", "rates"):
            wanted = ViscoelasticParameters(point=tuple(CONTACT), gravity=10.0, measures=measures)
            sim, controller = (
                Simulation(model, h, gravity=GRAVITY, terrain=False),
                ViscoelasticController(model, wanted),
            )
            sim.reset(v=[0.5, 0, 0, *KICK])
            v = run_noting(sim, controller, 0.2)
            assert np.diff(v).max() < 0.0
            runs.append(np.concatenate([sim.q, *controller.bodies[0].forces]))
        beta, tau = np.split(runs[1][7:], 2)
        x, angles = np.linalg.solve(controller.law.KTa, beta) + controller.D, np.linalg.solve(controller.law.KRa, tau)
        assert np.abs(x - sim.q[:3] - controller.bodies[0].sagging[0]).max() < 1e-3  # H (9)
        assert np.abs(angles + 0.2 * controller.Phi - angles_of(rotation(sim.q[3:7]))).max() < 1e-3  # H (6)
        errors.append(np.abs(runs[0] - runs[1])[:7].max())
    assert 3.0 < errors[0] / errors[1] < 5.0, errors


def pivoted():
    """The trunk on a ball joint in the origin, its centre of mass 0.42 m above."""
    builder = (
        ModelBuilder("pivoted").link("world").link("trunk", mass=MASS, com=tuple(-CONTACT), inertia=tuple(MOMENTS))
    )
    return builder.joint("pivot", "spherical", "world", "trunk").build("fixed")


def test_a_body_that_is_constrained():
    """H 3.2: the same feedback, projected by the constraint; against the reduced equations of a body on a pivot."""
    model, c = pivoted(), -CONTACT
    wanted = ViscoelasticParameters(links="trunk", gravity=10.0)
    law, weight = wanted.law(), MASS * GRAVITY
    about_pivot = np.diag(MOMENTS) + MASS * (c @ c * np.eye(3) - np.outer(c, c))

    def rates(_, y):
        angles, W, D, Phi = y[:3], y[3:6], y[6:9], y[9:]
        A = attitude(angles)
        x = A @ c - c + law.sagging(weight)[0]
        force = A.T @ (law.force(x, A @ np.cross(W, c), D) + weight)
        turn = law.couple(angles, W, Phi) + np.cross(c, force) - np.cross(W, about_pivot @ W)
        rates = (
            angle_rates(angles) @ W,
            np.linalg.solve(about_pivot, turn),
            law.place_rate(x, D),
            law.angle_rate(angles, Phi),
        )
        return np.concatenate(rates)

    first = np.concatenate([np.zeros(3), KICK, law.sagging(weight)[1], np.zeros(3)])
    exact = solve_ivp(rates, (0.0, 0.1), first, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        sim, controller = Simulation(model, h, gravity=GRAVITY), ViscoelasticController(model, wanted)
        sim.reset(v=KICK)
        v = run_noting(sim, controller, 0.1)
        assert np.diff(v).max() < 0.0
        found = angles_of(rotation(sim.q)), sim.v, controller.D, controller.Phi
        errors.append([np.abs(a - b).max() for a, b in zip(found, np.split(exact, 4), strict=True)])
    good, ratios = is_first_order(errors)
    assert good, ratios


def arm():
    builder = ModelBuilder("arm").link("world")
    builder.link("upper", mass=2.0, com=(0, 0, -0.2), box=(0.05, 0.05, 0.4))
    builder.link("lower", mass=1.5, com=(0, 0, -0.2), box=(0.05, 0.05, 0.4))
    builder.joint("shoulder", "continuous", "world", "upper", axis=(0, 1, 0))
    return builder.joint("elbow", "continuous", "upper", "lower", xyz=(0, 0, -0.4), axis=(1, 0, 0)).build("fixed")


SOFT = {"KTa": (200.0,) * 3, "KTb": (200.0,) * 3, "LTa": (2.0,) * 3, "LTb": (20.0,) * 3, "KRa": (20.0,) * 3,
        "KRb": (20.0,) * 3, "LRa": (0.5,) * 3, "LRb": (2.0,) * 3}  # fmt: skip


def test_the_projection_on_joints():
    """τ = Σ Jᵀ(Λ, N) has the power of the wrenches, moves the arm as they do, and keeps v from rising."""
    model = arm()
    by_joints, by_wrenches = (
        ViscoelasticController(model, ViscoelasticParameters(links="upper,lower", acts_by=acts_by, **SOFT))
        for acts_by in ("joints", "wrenches")
    )
    sim = Simulation(model, 1e-3)
    sim.reset(q=[0.4, -0.3], v=[1.0, 2.0])
    state = sim.state()
    effort, pushes = by_joints.update(0.0, state).effort, by_wrenches.update(0.0, state).wrench
    power = sum(push @ link_twist(model, state.q, state.v, link) for link, push in pushes.items())
    assert effort @ state.v == pytest.approx(power, rel=1e-12)
    by_push = sum(frame_jacobian(model, state.q, link).T @ push for link, push in pushes.items())
    assert forward_dynamics(model, state.q, state.v, effort) == pytest.approx(
        forward_dynamics(model, state.q, state.v, by_push), rel=1e-12
    )
    v = run_noting(sim, by_joints, 0.3)
    assert np.diff(v).max() < 0.0 and v[-1] < 0.8 * v[0]


def test_a_muscle_against_its_equations():
    """Tendon, active and viscous element at a length that swings, with times at which the tendon hangs."""
    K, L, a, slack = 2000.0, 50.0, 20.0, 0.1
    muscle = Muscle("m", (Anchor("", np.zeros(3)), Anchor("b", np.zeros(3))), K, L, slack, a)

    def length(t):
        return 0.5 + 0.2 * np.sin(15.0 * t)

    def rates(t, y):
        tension = K * max(length(t) - slack - y[0], 0.0)
        return [(tension - a) / L, -a * (tension - a) / L, tension * 3.0 * np.cos(15.0 * t), (tension - a) ** 2 / L]

    errors = []
    for n in (200, 400, 800):
        muscle.reset()
        times = np.linspace(0.0, 0.5, n + 1)
        exact = solve_ivp(
            rates, (0.0, 0.5), [0.5 - slack - a / K, 0.0, 0.0, 0.0], rtol=1e-10, atol=1e-12, t_eval=times, max_step=1e-3
        ).y
        pulls = [muscle.update(t, np.array([length(t), 0.0, 0.0]), np.zeros(3))[0] for t in times]
        tensions = K * np.maximum(length(times) - slack - exact[0], 0.0)
        assert (tensions == 0.0).any() and min(pulls) < -50.0 and max(pulls) == 0.0  # it never pushes
        errors.append(np.abs(-np.array(pulls) - tensions).max())
    assert errors[0] / errors[2] > 3.5  # first order or better
    stored = 0.5 * K * max(muscle.stretch, 0.0) ** 2
    assert muscle.put_in == pytest.approx(exact[1, -1], rel=0.01)
    balance = exact[2, -1] + exact[1, -1] - exact[3, -1]  # what the length and the active element put in, less the loss
    assert stored - 0.5 * a**2 / K == pytest.approx(balance, abs=0.05)


MUSCLE = """
biceps: {from: {link: upper, point: [0, 0, -0.1]}, to: {link: lower, point: [0, 0.05, -0.1]}, tendon: 2000, damping: 50}
tie: {from: {link: lower}, to: {point: [0.1, 0, -0.6]}, stiffness: [50, 50, 20], damping: 2}
"""


def test_a_muscle_moves_an_arm_and_v_never_increases():
    model = arm()
    controller = ViscoelasticController(
        model, ViscoelasticParameters(links="upper,lower", elements=MUSCLE, acts_by="joints", **SOFT)
    )
    bent = []
    for force in (0.0, 40.0):
        sim = Simulation(model, 1e-3)
        sim.reset(q=[0.0, 0.1])
        controller.reset()
        controller.activate("biceps", force)
        v = run_noting(sim, controller, 0.5)
        assert np.diff(v).max() < 1e-8 * v[0]  # of the first step, from rest
        bent.append(sim.q[1])
    assert abs(bent[1] - bent[0]) > 0.05
    with pytest.raises(ValueError, match="no muscle named 'tie'; there are: biceps"):
        controller.activate("tie", 1.0)
    with pytest.raises(ValueError, match="biceps: expected an active force of 0 or more"):
        controller.activate("biceps", -1.0)


@pytest.mark.parametrize(
    "text, words",
    [
        ("a: 1", "expected a mapping of names to elements"),
        ("a: {from: {link: nobody}, to: {}, stiffness: 1}", "no link named 'nobody'; there are"),
        ("a: {from: {link: upper}, to: {link: upper}}", "a: expected two bodies"),
        ("a: {from: {link: upper}, to: {}, stiffness: [1, 2]}", "stiffness: expected 3 or 9 numbers"),
        ("a: {from: {link: upper}, to: {}, stiffness: -1}", "stiffness: expected a symmetric positive matrix"),
        ("a: {from: {link: upper}, to: {}, tendon: 5}", "expected damping above 0"),
        ("a: {from: {link: upper}, to: {}, colour: 5}", "got 'colour'"),
        ("a: {to: {}}", "a: expected from:"),
    ],
)
def test_elements_that_are_none(text, words):
    with pytest.raises(ValueError, match=words):
        read_elements(text, arm().frames)


def test_what_it_refuses():
    model = arm()
    for given, words in (
        ({"links": "hand"}, "links: no link that moves is named 'hand'"),
        ({"links": "upper", "acts_by": "joints", "KTa": (1.0, 2.0)}, "KTa: expected 3 numbers, the diagonal, or 9"),
        ({"links": "upper", "KTa": (1.0, 2.0, 0, 0, 1.0, 0, 0, 0, 1.0)}, "KTa: expected a symmetric positive definite"),
        ({"links": "upper,lower", "position": (0.0,) * 3}, "position: expected 6 numbers, got 3"),
    ):
        with pytest.raises(ValueError, match=words):
            ViscoelasticController(model, ViscoelasticParameters(**given))
    with pytest.raises(ValueError, match="acts_by: expected a fixed base and joints of one dof"):
        ViscoelasticController(pivoted(), ViscoelasticParameters(links="trunk", acts_by="joints"))
    sim, controller = Simulation(model), ViscoelasticController(model, ViscoelasticParameters(links="upper"))
    with pytest.warns(UnstableGains, match="gains: with a control period of 0.02 s those of upper are .* times what"):
        for t in (0.0, 0.02):
            controller.update(t, sim.state())
    with pytest.raises(ValueError, match="links, acts_by: expected those that the controller began with"):
        controller.configure(ViscoelasticParameters(links="lower"))
