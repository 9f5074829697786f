# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`quaternion_variational` with the laws of contact/laws inside its solve: derivative, oracles, and the other scheme."""

from __future__ import annotations

from math import cos, radians, sin, tan

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.contact.layout import FN, SLIPS
from mbsim_ros.contact.modes import SLIDING, STICKING
from mbsim_ros.contact.terrain import inclined_plane
from mbsim_ros.integrators.maximal.contact.contact_kernel import add_contact_forces

G = 9.81
LAWS = ("spring_damper", "hunt_crossley")
MAXIMAL = "quaternion_variational"
BOX = ModelBuilder("box").link("box", mass=2.0, box=(0.3, 0.2, 0.1), collision=True).build("floating")
BALL = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.1, collision=True).build("floating")
SLOPE = radians(10)
PLANE = inclined_plane((0, 0, 0), (sin(SLOPE), 0, cos(SLOPE)))


def simulation(robot, law, dt=1e-3, integrator=MAXIMAL, terrain="flat", **contact):
    return Simulation(robot, dt=dt, integrator=integrator, terrain=terrain, contact={"law": law, **contact})


@pytest.mark.parametrize("robot", [BOX, BALL], ids=lambda model: model.name)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slips", [False, True])
def test_the_derivative_is_that_of_the_force(robot, law, slips):
    """−2/h of what is added to M against central differences of the forces, by X_next, sticking and clipped."""
    h, friction = 1e-3, 0.3 if slips else 50.0
    sim = simulation(robot, law, terrain=PLANE, max_penetration=5e-3, friction=friction, tangential_stiffness=300.0)
    contact, random = sim.integrator.system.contact, np.random.default_rng(4)
    turn = np.array([1.0, 0.02, 0.06, -0.03])
    X = np.zeros((2, 7))
    X[:, 3] = 1.0
    X[1, :3], X[1, 3:] = [0.0, 0.0, 0.095 if robot is BALL else 0.045], turn / np.linalg.norm(turn)
    X_next = X.copy()
    X_next[1] += h * np.array([0.3, -0.2, -0.4, 0.05, 0.1, -0.2, 0.3])
    contact.modes[:] = SLIDING if slips else STICKING
    contact.deflections[:] = random.uniform(-1e-4, 1e-4, contact.deflections.shape)

    def forces(X_next):
        found, M = np.zeros((1, 7)), np.zeros((1, 7, 7))
        add_contact_forces(contact, X, X_next, h, found, M)
        return found[0], M[0]

    _, M = forces(X_next)
    touching = contact.results[:, FN] > 0.0
    assert touching.any() and (contact.results[touching, SLIPS] == slips).all()
    numeric = np.empty((7, 7))
    for column in range(7):
        ends = []
        for sign in (1, -1):
            moved = X_next.copy()
            moved[1, column] += sign * 1e-7
            ends.append(forces(moved)[0])
        numeric[:, column] = (ends[0] - ends[1]) / 2e-7
    # The middle's quaternion is not of length one: along itself the force's torque scales, which the columns have.
    np.testing.assert_allclose(-2.0 / h * M, numeric, atol=2e-5 * np.abs(numeric).max())


@pytest.mark.parametrize("law", LAWS)
def test_an_elastic_ball_keeps_its_height(law):
    """DESIGN: 1.00 to 1.03 of its height after 60 bounces at 1 ms; and what was left over is nothing."""
    none = {"law_parameters": {"dissipation": 0.0}} if law == "hunt_crossley" else {"damping_ratio": 0.0}
    sim = simulation(BALL, law, **none)
    sim.reset(q=[0, 0, 0.12, 0, 0, 0, 1])
    z = sim.run(11.0, record=("q",)).q[:, 2]
    tops = (z[1:-1][(z[1:-1] >= z[:-2]) & (z[1:-1] > z[2:])] - 0.1) / 0.02
    assert len(tops) >= 60 and np.abs(tops[:60] - 1.0).max() < 0.005
    assert abs(sim.ledger().residue) < 1e-11 * sim.ledger().turned_over


@pytest.mark.parametrize("law", LAWS)
def test_a_box_at_rest_is_carried_by_its_weight_and_does_not_creep(law):
    sim = simulation(BOX, law)
    sim.reset(q=[0, 0, 0.2, 0, 0, 0, 1], v=[0, 0, 0, 0, 1, 0.3])
    sim.run(3.0)
    assert sum(point.force[2] for point in sim.contacts()) == pytest.approx(2.0 * G, abs=1e-7)
    assert sum(point.mode.name == "STICKING" for point in sim.contacts()) == 4
    before = sim.q
    sim.run(2.0)
    assert np.abs(sim.q - before).max() < 1e-11
    assert abs(sim.ledger().residue) < 1e-4 * sim.ledger().turned_over


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("part", [0.98, 1.02])
def test_an_incline_at_the_angle_of_friction(law, part):
    """Below tan θ it sticks to rounding, above it slides with g (sin θ − μ cos θ)."""
    sim = simulation(BOX, law, terrain=PLANE, friction=part * tan(SLOPE))
    sim.reset(q=[0.05 * sin(SLOPE), 0, 0.05 * cos(SLOPE), 0, sin(SLOPE / 2), 0, cos(SLOPE / 2)])
    sim.run(1.0)
    speed = sim.v[0]
    sim.run(0.5)
    if part > 1.0:
        assert abs(sim.v[0]) < 1e-5
    else:
        assert (sim.v[0] - speed) / 0.5 == pytest.approx(G * (sin(SLOPE) - part * tan(SLOPE) * cos(SLOPE)), rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_it_is_the_motion_of_the_other_scheme(law):
    """A box that slides and turns in contact all along, at a quarter of the difference with half the step."""
    differences = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        ends = []
        for scheme in ("lie_variational", MAXIMAL):
            sim = simulation(BOX, law, dt, scheme, max_penetration=5e-3, friction=0.2)
            sim.reset(q=[0, 0, 0.0475, 0, 0, 0, 1], v=[0.8, 0.3, 0, 0, 0, 0.5])
            sim.advance(round(0.2 / dt))
            ends.append(sim.q)
        differences.append(np.abs(ends[0] - ends[1]).max())
    assert differences[0] < 1e-6
    assert np.log2(differences[0] / differences[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(differences[1] / differences[2]) == pytest.approx(2.0, abs=0.1)


def test_a_tree_that_lands_does_so_as_with_the_other_scheme():
    """Legs, drives that hold, four feet: after landing both stand on the same forces."""
    forces = []
    for scheme in ("lie_variational", MAXIMAL):
        sim = simulation("examples/dog.urdf.xacro", "spring_damper", integrator=scheme)
        sim.hold()
        sim.run(1.5)
        forces.append(np.array([point.force for point in sim.contacts()]))
    assert np.abs(forces[0]).max() > 5.0
    np.testing.assert_allclose(forces[1], forces[0], atol=1e-4)


def test_it_goes_on_from_a_snapshot_bit_for_bit():
    sim = simulation(BOX, "spring_damper", friction=0.3)
    sim.reset(q=[0, 0, 0.12, 0, 0, 0, 1], v=[0.5, 0, 0, 0, 1, 0.3])
    sim.run(0.15)
    assert np.abs(sim.integrator.contacts.deflections).max() > 0.0
    kept = sim.snapshot()
    sim.run(0.2)
    end = sim.q.tobytes() + sim.v.tobytes()
    other = simulation(BOX, "spring_damper", friction=0.3)
    other.restore(kept)
    other.run(0.2)
    assert other.q.tobytes() + other.v.tobytes() == end
