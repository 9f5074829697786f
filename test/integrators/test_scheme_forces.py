# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Schemes without drives as integrators: efforts, what resists, springs, gravity that changes, books and failures."""

from __future__ import annotations

import numpy as np
import pytest
from planar_chains import WEIGHT, random_chain
from scheme_robots import ball_pendulum, covered_robot, moving, rods, spherical_pendulum

from mbsim_ros import Simulation
from mbsim_ros.integrators import registry
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.particles.bar_motion import joints_of, places_of
from mbsim_ros.integrators.particles.bar_tree import bars_of
from mbsim_ros.model.assembly.builder import ModelBuilder

RESISTED = [row.name for row in registry.rows() if row.damping and not row.drives]
WITHOUT_DRIVES = [row for row in registry.rows() if not row.drives]


def driven(integrator, robot, h=2e-3, seconds=1.0, **options):
    sim = Simulation(robot, dt=h, integrator=integrator, **options)
    moving(sim)
    sim.advance(round(seconds / h), [9.0, -5.0, 2.5])
    return sim


def stopped_rods():
    return rods(kind="revolute", lower=-0.61, upper=0.61, effort=20.0, velocity=10.0, damping=0.1, friction=0.05)


def test_rows_that_resist_are_those_of_the_planar_and_the_coordinate_schemes():
    of_planar_chains = ["circle_variational", "coordinate_variational", "energy_stable", "planar_midpoint"]
    assert sorted(RESISTED) == [*of_planar_chains, "quasicoordinates"]


@pytest.mark.parametrize("integrator", RESISTED)
def test_efforts_damping_friction_and_stops_are_those_of_the_flagship(integrator):
    robot, h = stopped_rods(), 2.5e-4 if integrator == "quasicoordinates" else 1e-3  # RK4 does not see a stop coming
    flagship, sim = driven("lie_variational", robot, h), driven(integrator, robot, h)
    books = flagship.ledger()
    assert min(abs(books.damping), abs(books.friction), abs(books.stops)) > 0.01 < abs(books.actuator_work)
    assert np.abs(sim.q - flagship.q).max() < 5e-3  # stops begin within a step, so that their steps are not smooth
    for work in ("actuator_work", "damping", "friction", "stops"):
        assert getattr(sim.ledger(), work) == pytest.approx(getattr(books, work), rel=5e-3)


def test_the_books_of_energy_stable_close_to_rounding_whatever_acts():
    """G (3.8): the power of f is torque · mean rate, so that energy changes by just the works."""
    for robot in (rods(), rods(damping=0.3, friction=0.1), stopped_rods()):
        books = driven("energy_stable", robot, h=3e-3).ledger()
        assert books.turned_over > 1.0
        assert abs(books.residue) < 1e-12 * books.turned_over


def test_the_books_of_energy_momentum_close_to_rounding_under_efforts():
    sim = Simulation(spherical_pendulum(), dt=5e-3, integrator="energy_momentum")
    moving(sim)
    sim.advance(200, [2.0, -1.0, 0.5, 1.5])
    assert abs(sim.ledger().actuator_work) > 0.5
    assert abs(sim.ledger().residue) < 1e-12 * sim.ledger().turned_over


@pytest.mark.parametrize("integrator", [name for name in RESISTED if name != "energy_stable"])
def test_books_of_the_others_are_off_by_their_own_order(integrator):
    residues = [driven(integrator, rods(damping=0.3), h).ledger().residue for h in (4e-3, 2e-3)]
    assert residues[0] / residues[1] == pytest.approx(16.0 if integrator == "quasicoordinates" else 4.0, rel=0.1)


@pytest.mark.parametrize("integrator", ["energy_stable", "circle_variational", "planar_midpoint"])
def test_springs_are_those_of_the_flagship_and_stored_once(integrator):
    model, springs = random_chain(3)
    ends = {}
    for name, h in (("lie_variational", 2.5e-4), (integrator, 4e-3), (integrator, 2e-3)):
        sim = Simulation(model, dt=h, integrator=name, gravity=WEIGHT, springs=springs)
        moving(sim)
        start = sim.energy()
        sim.advance(round(0.5 / h))
        ends[name, h] = sim.q
        assert abs(sim.energy().elastic - start.elastic) > 0.1
        assert abs(sim.ledger().residue) < {"energy_stable": 1e-9}.get(name, 2e-3)
    errors = [np.abs(ends[integrator, h] - ends["lie_variational", 2.5e-4]).max() for h in (4e-3, 2e-3)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("row", WITHOUT_DRIVES, ids=lambda row: row.name)
def test_gravity_may_change_while_it_runs(row):
    robot = covered_robot(row)
    changed, made = (Simulation(robot, integrator=row.name, gravity=g) for g in ((0, 0, -9.81), (1.0, 2.0, -3.0)))
    changed.integrator.gravity[:] = (1.0, 2.0, -3.0)
    for sim in (changed, made):
        moving(sim)
        sim.advance(50)
    assert np.array_equal(changed.q, made.q) and changed.energy() == made.energy()


@pytest.mark.parametrize(
    ("integrator", "dt", "speed"),
    [*((name, 0.3, 4.0) for name in (*RESISTED, "energy_momentum")), ("shake", 0.2, 1.0), ("rattle", 0.2, 1.0)],
)
def test_steps_that_fail_in_one_call_leave_what_single_steps_leave(integrator, dt, speed):
    """Solvers write into their state: guesses, multipliers, increments. All of that is as after the last good step."""
    good = {}
    for steps in (1, 60):
        sim = Simulation(rods() if integrator in RESISTED else spherical_pendulum(), dt=dt, integrator=integrator)
        moving(sim, seed=1)
        sim.reset(sim.q, speed * sim.v)
        with pytest.raises(SimulationDiverged):
            for _ in range(60):
                good = sim.integrator.saved() if steps == 1 else good
                sim.advance(steps)
        assert sim.time > 0
        for name, array in sim.integrator.saved().items():
            assert np.array_equal(array, good[name]), name


@pytest.mark.parametrize("integrator", ["shake", "rattle", "energy_momentum"])
def test_point_masses_keep_what_their_scheme_is_known_for(integrator):
    sim = Simulation(ball_pendulum(), dt=5e-3, integrator=integrator)
    moving(sim)
    start, about_z = sim.energy().total, []
    for _ in range(40):
        sim.advance(10)
        about_z.append(sim.momentum()[5])
    # joints do not know what momenta of energy_momentum have along bars, which is O(h²)
    assert np.ptp(about_z) < (1e-3 if integrator == "energy_momentum" else 1e-11)
    assert sim.integrator.residual < 1e-14
    assert abs(sim.energy().total - start) < (1e-11 if integrator == "energy_momentum" else 2e-2)


def test_joints_follow_the_places_through_full_turns():
    model = spherical_pendulum()
    bars, problems = bars_of(model)
    assert problems == []
    q = np.zeros(4)
    for t in np.linspace(0.0, 1.0, 400):
        true = np.array([9.0 * t, 0.9 * np.sin(5.0 * t), -7.0 * t, 1.2 * np.sin(3.0 * t)])
        q = joints_of(model, bars, places_of(model, bars, true, np.zeros(4))[0], q)
    np.testing.assert_allclose(q, true, atol=1e-12)


def test_a_bar_that_turns_about_itself_is_no_point():
    sim = Simulation(ball_pendulum(), integrator="rattle")
    with pytest.raises(ValueError, match="link 'bar_0' turns about itself by 2 rad/s"):
        sim.reset(v=[0.0, 0.0, 2.0, 0.0, 0.0, -2.0])
    assert not sim.v.any()


def crossed(second_at=(0, 0, -1.0), inertia=(0, 0, 0)):
    builder = (
        ModelBuilder("crossed").link("world").link("cross").link("bar", mass=1.0, com=(0, 0, -1.0), inertia=inertia)
    )
    builder.joint("roll", "continuous", "world", "cross", axis=(1, 0, 0))
    builder.joint("pitch", "continuous", "cross", "bar", axis=(0, 1, 0))
    builder.link("ball", mass=1.0, com=(0, 0, -1.0), inertia=(0, 0, 1))
    return builder.joint("ball", "spherical", "bar", "ball", xyz=second_at).build("fixed")


def turned():
    builder = ModelBuilder("turned").link("world")
    for name, parent, axis in (("upper", "world", (0, 1, 0)), ("lower", "upper", (1, 0, 0))):
        builder.link(name, mass=1.0, com=(0, 0, -0.5), cylinder=(0.02, 1.0))
        builder.joint(f"to_{name}", "continuous", parent, name, axis=axis)
    return builder.build("fixed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("integrator", "robot", "reason"),
    [
        ("energy_stable", turned, "planar chains: the axes of to_lower are not parallel to that of to_upper"),
        ("energy_stable", spherical_pendulum, "the axes of pitch_0, pitch_1 are not parallel to that of roll_0"),
        ("planar_midpoint", ball_pendulum, r"joints that are not revolute: ball_0 \(spherical\), ball_1 \(spherical\)"),
        ("circle_variational", lambda: rods(rotor_inertia=0.1), "rotors at hinge_0, hinge_1, hinge_2"),
        ("coordinate_variational", ball_pendulum, "ball_0, ball_1 of 'ball_pendulum' have several dofs"),
        ("cayley_rigid_body", lambda: rods(1), "joint 'hinge_0' of link 'rod_0' is continuous"),
        ("rattle", rods, "link 'rod_0': it has neither a ball joint nor two hinges that cross in one point"),
        ("rattle", lambda: crossed(inertia=(0.1, 0.1, 0.1)), "link 'bar': its mass is no point: it has 0.1 kg m²"),
        ("shake", lambda: crossed((0, 0, -0.7)), "link 'ball' does not hang from the mass of 'bar'"),
    ],
)
def test_a_refusal_names_joint_or_link_and_who_can_do_it(integrator, robot, reason):
    with pytest.raises(UnsupportedModel, match=f"'{integrator}' does not go with .*{reason}.*: use 'lie_variational'$"):
        Simulation(robot(), integrator=integrator)


@pytest.mark.filterwarnings("ignore")
def test_ball_joints_and_crossed_hinges_go_together():
    truth, found = (Simulation(crossed(), dt=h, integrator=name) for name, h in (("rk4", 2e-4), ("rattle", 1e-3)))
    for sim in (truth, found):
        moving(sim)
        sim.advance(round(0.5 / sim.dt), [0.7, -0.4])
    np.testing.assert_allclose(found.q, truth.q, atol=2e-5)
    np.testing.assert_allclose(found.v, truth.v, atol=2e-4)
