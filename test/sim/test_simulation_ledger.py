# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ledger: every entry against work that was integrated independently, and what is left over falls with h²."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sim_robots import crawler, gripper, pendulum

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.contact.points import contact_points
from mbsim_ros.dynamics import forward_dynamics, frame_jacobian, mass_matrix
from mbsim_ros.elastic import attach, spring_action, spring_forces
from mbsim_ros.model.sidecar.settings import Attachment, Spring

START, SPAN = np.array([0.5, 0.3]), 1.0
DAMPING, EFFORT, FORCE = np.array([0.3, 0.2]), np.array([1.5, -0.7]), np.array([2.0, 0.0, 1.0])
SPRING = Spring("band", (Attachment("world", (0.5, 0, 1.0)), Attachment("lower_rod", (0, 0, -0.8))), 30.0, 0.4, 0.8)


def damped_pendulum():
    builder = ModelBuilder("pendulum").link("world")
    for parent, child, joint, damping in zip(
        ("world", "upper_rod"), ("upper_rod", "lower_rod"), ("shoulder", "elbow"), DAMPING, strict=True
    ):
        builder.link(child, mass=1.0, com=(0, 0, -0.5), cylinder=(0.02, 1.0))
        height = 2.2 if parent == "world" else -1.0
        builder.joint(joint, "continuous", parent, child, xyz=(0, 0, height), axis=(0, 1, 0), damping=float(damping))
    return builder.build()


@pytest.fixture(scope="module")
def model():
    return damped_pendulum()


def forced(model, n):
    """One second of the pendulum with an effort, a push, damping and a damped spring, in n steps."""
    sim = Simulation(model, SPAN / n, springs=[SPRING])
    sim.reset(START)
    sim.drive(effort=EFFORT)
    sim.push("lower_rod", FORCE)
    sim.advance(n)
    return sim


def test_every_work_is_that_of_the_differential_equation(model):
    """Works are integrated with the motion by DOP853, from forces and velocities that `dynamics` gives."""
    springs = attach(model, [SPRING])

    def rate(t, y):
        q, v = y[:2], y[2:4]
        push = frame_jacobian(model, q, "lower_rod").T @ np.concatenate([FORCE, np.zeros(3)])
        tau = EFFORT + push - DAMPING * v + spring_forces(model, springs, q, v)
        works = [EFFORT @ v, push @ v, -DAMPING @ v**2, -spring_action(model, springs, q, v).dissipated]
        return np.concatenate([v, forward_dynamics(model, q, v, tau), works])

    exact = solve_ivp(rate, (0, SPAN), [*START, *np.zeros(6)], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for n in (250, 500, 1000):
        sim = forced(model, n)
        books = sim.ledger()
        found = [books.actuator_work, books.external_work, books.damping, books.spring_damping]
        assert np.abs(found).min() > 0.03
        errors.append(np.abs(np.array([*sim.q, *found]) - [*exact[:2], *exact[4:]]))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(slopes - 2.0).max() < 0.1, slopes
    assert errors[-1].max() < 1e-4


def test_what_is_left_falls_with_the_square_of_the_step(model):
    left = [abs(forced(model, n).ledger().residue) for n in (125, 250, 500, 1000)]
    assert (np.log2(np.array(left[:-1]) / left[1:]) > 1.8).all(), left
    assert left[-1] < 1e-5


def test_the_balance_is_the_sum_of_its_entries(model):
    books = forced(model, 500).ledger()
    works = books.actuator_work + books.external_work + books.damping + books.friction + books.stops
    works += books.spring_damping
    losses = books.contact_dissipated + books.contact_friction + books.contact_switching + books.clutch_loss
    assert books.residue == pytest.approx(books.change - works + losses, abs=1e-12)
    assert books.total == pytest.approx(books.kinetic + books.potential + books.elastic)
    assert books.turned_over > abs(books.actuator_work) + abs(books.damping)
    assert books.relative_residue == abs(books.residue) / books.turned_over


def test_a_reset_begins_new_books(model):
    sim = forced(model, 100)
    sim.reset(START)
    books = sim.ledger()
    assert books.turned_over == books.residue == books.change == 0.0
    assert books.relative_residue == 0.0


def test_friction_and_stops_are_booked():
    builder = ModelBuilder("slide").link("world").link("block", mass=2.0, box=(0.1, 0.1, 0.1))
    builder.joint(
        "rail", "prismatic", "world", "block", axis=(1, 0, 0), lower=-1, upper=0.5, effort=100, velocity=9, friction=3.0
    )
    sim = Simulation(builder.build(), 1e-4)
    sim.reset([0.0], [2.5])
    sim.advance(1000)  # before the stop: v falls by f/m
    assert sim.ledger().stops == 0.0
    assert sim.ledger().friction == pytest.approx(-3.0 * sim.q[0], rel=1e-6)
    np.testing.assert_allclose(sim.v, 2.5 - 1.5 * 0.1, rtol=1e-6)
    sim.advance(4000)
    books = sim.ledger()
    assert books.stops < -0.5 and sim.q[0] < 0.5
    assert books.relative_residue < 1e-3


def test_a_clutch_takes_exactly_the_kinetic_energy_that_is_gone():
    sim = Simulation(pendulum())
    sim.reset([0.4, 0.2], [1.0, 1.5])
    before, books = sim.energy(), sim.ledger()
    M, v = mass_matrix(sim.model, sim.q), sim.v
    D = np.array([1.0, -2.0])  # of the belt
    kept = D * (D @ M @ v) / (D @ M @ D)
    done = sim.couple("belt")
    assert done.loss == pytest.approx(0.5 * (v - kept) @ M @ (v - kept), rel=1e-12)
    np.testing.assert_allclose(sim.v, kept, rtol=1e-12)
    assert before.kinetic - sim.energy().kinetic == pytest.approx(done.loss, rel=1e-12)
    assert sim.ledger().clutch_loss == done.loss and books.clutch_loss == 0.0
    assert abs(sim.ledger().residue) < 1e-12
    sim.couple({"motors": {}})  # opening loses nothing
    assert sim.ledger().clutch_loss == pytest.approx(done.loss, abs=1e-14)


def test_a_rotor_that_was_spun_up_outside_is_work():
    sim = Simulation(crawler(), terrain=False, gravity=(0, 0, 0), springs=())
    done = sim.couple("sides", motor_speeds={"left": 10.0})
    books = sim.ledger()
    assert books.actuator_work == pytest.approx(0.5 * 0.02 * 10.0**2)
    assert books.clutch_loss == done.loss > 0.0
    assert abs(books.residue) < 1e-12


def test_a_robot_on_the_ground_with_springs_motors_and_clutches():
    sim = Simulation(crawler())
    kinds = set()
    for k in range(10):
        sim.couple("sides" if k % 2 == 0 else "braked")
        if k % 2 == 0:
            amplitude = 0.3 * (-1.0) ** (k // 2)
            sim.drive_motors(position={"left": amplitude, "right": -amplitude})
        for _ in range(4):
            sim.advance(50)
            kinds |= {report.mode.name for report in sim.contacts()}
    books = sim.ledger()
    for name in ("actuator_work", "damping", "spring_damping", "contact_dissipated", "contact_friction", "clutch_loss"):
        assert abs(getattr(books, name)) > 1e-5, name
    assert books.turned_over > 1.0
    assert books.relative_residue < 2e-3
    assert {"STICKING", "SLIDING"} <= kinds


def test_a_start_within_the_ground_has_what_its_springs_hold():
    ball = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.05, collision=True).build("floating")
    assert len(contact_points(ball)) == 1
    sim = Simulation(ball, 1e-4, terrain="flat", contact={"damping_ratio": 0.0})
    sim.reset([0, 0, 0.05 - 3e-3, 0, 0, 0, 1])
    held = 0.5 * 9810.0 * 3e-3**2
    assert sim.energy().contact == pytest.approx(held)
    assert sim.ledger().residue == 0.0
    sim.advance(2000)
    books = sim.ledger()
    assert abs(books.residue) < 1e-5 * books.turned_over
    # it leaves with that energy: all of it is kinetic and potential in the air
    assert max(books.kinetic + books.potential, books.total) == pytest.approx(held + 9.81 * (0.05 - 3e-3), rel=1e-3)


def test_mimic_joints_resist_through_their_leader():
    """Both fingers have damping: with the right one at −1 times the left one's rate the work is that of twice it."""
    sim = Simulation(gripper(), 1e-4, gravity=(0, 0, 0))
    sim.reset({}, {"slide_left": 0.05})
    sim.advance(2000)
    rate = 2 * 0.5 / (2 * 0.2)  # damping over mass of the two
    assert sim.v[1] == pytest.approx(0.05 * np.exp(-rate * 0.2), rel=1e-6)
    assert sim.ledger().damping == pytest.approx(-0.5 * 0.4 * 0.05**2 * (1 - np.exp(-2 * rate * 0.2)), rel=1e-5)


@pytest.mark.parametrize("integrator", ["rk4", "lie_euler"])
def test_the_baselines_book_their_efforts(integrator):
    sim = Simulation(pendulum(), 1e-4, integrator)
    sim.advance(5000, [1.0, -0.5])
    books = sim.ledger()
    assert abs(books.actuator_work) > 0.02
    assert books.relative_residue < (1e-9 if integrator == "rk4" else 1e-3)


def test_the_table_is_aligned(model):
    lines = str(forced(model, 100).ledger()).splitlines()
    numbers = [line for line in lines if line.endswith((" J", " %"))]
    assert len(numbers) == 18
    assert len({len(line) for line in numbers}) == 1
    assert any(line.startswith("left over (discretisation)") for line in lines)
