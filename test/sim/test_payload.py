# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Loads that are put on a robot and taken off while it moves."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.bags.replay import replay
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.payload import payload_texts, read_payloads
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.snapshots.snapshot import Snapshot

ARM, WALKER = "urdf/arm.urdf.xacro", "urdf/walker.urdf.xacro"
LOAD = (3.0, (0.0, 0.02, 0.1), (0.01, 0.012, 0.015))


def moving_arm(**options):
    sim = Simulation(load_urdf(ARM), stops=False, **options)
    sim.reset("home", np.linspace(-0.5, 0.5, sim.model.nv))
    sim.run(0.1)
    return sim


@pytest.mark.parametrize("integrator", ["lie_variational", "quaternion_variational"])
def test_it_goes_on_as_a_robot_that_was_built_with_the_load(integrator):
    sim = moving_arm(integrator=integrator)
    q, v, time, before, bare = sim.q, sim.v, sim.time, sim.ledger(), sim.model
    sim.set_payload("hand", *LOAD)
    assert sim.time == time
    np.testing.assert_array_equal(sim.q, q)
    np.testing.assert_allclose(sim.v, v, rtol=1e-11)
    after, small = sim.ledger(), 1e-12 * sim.ledger().turned_over
    brought = energy(sim.model, q, v).total - energy(bare, q, v).total
    assert after.external_work - before.external_work == pytest.approx(brought, abs=small)
    assert after.residue == pytest.approx(before.residue, abs=small)

    built = Simulation(bare.with_(payload={"hand": LOAD}), stops=False, integrator=integrator)
    built.reset(q, v)
    for each in (sim, built):
        each.run(0.2)
    assert sim.q.tobytes() == built.q.tobytes()
    assert sim.v.tobytes() == built.v.tobytes()
    own = sim.ledger().residue - before.residue
    assert own == pytest.approx(built.ledger().residue, abs=1e-9 * sim.ledger().turned_over)

    sim.set_payload("hand", 0.0)
    assert sim.model is bare and not sim.payloads.loads
    assert sim.ledger().residue - before.residue == pytest.approx(own, abs=small)


def test_the_mass_matrix_is_that_of_pinocchio_with_a_body_added():
    pinocchio = pytest.importorskip("pinocchio")
    sim = moving_arm()
    other = pinocchio.buildModelFromXML(to_urdf(sim.model.description, for_ros=True))
    frame = other.frames[other.getFrameId("hand")]
    moments = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.04]])
    load = pinocchio.Inertia(2.5, np.array([0.1, -0.05, 0.2]), moments)
    other.inertias[frame.parentJoint] += frame.placement.act(load)
    sim.set_payload("hand", 2.5, (0.1, -0.05, 0.2), moments)
    M = pinocchio.crba(other, other.createData(), sim.model.q_to_pinocchio(sim.q))
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(sim.mass_matrix(), M, rtol=1e-9, atol=1e-12)


def test_the_ground_carries_it_and_lets_go():
    block = ModelBuilder("block").link("block", mass=1.0, box=(0.2, 0.2, 0.1), collision=True).build()
    for integrator in ("lie_variational", "quaternion_variational"):
        sim = Simulation(block, terrain="flat", integrator=integrator)
        law = sim.scene.contact
        for mass in (1.5, 0.0):
            sim.set_payload("block", mass, (0.02, 0.0, 0.0))
            sim.run(1.0)
            weight = sum(contact.force[2] for contact in sim.contacts())
            assert weight == pytest.approx((1.0 + mass) * 9.81, rel=1e-6)
        assert sim.scene.contact is law, "it is the same ground"


def test_a_snapshot_knows_the_loads(tmp_path):
    """Of a robot with a floating base, contact and a coupling, in another simulation, also from a file."""
    sim, other = (Simulation(WALKER, terrain="flat") for _ in range(2))
    configurations = list(sim.couplings.values())
    sim.run(0.05)
    sim.set_payload(sim.model.link_names[0], 2.0, (0.1, 0.0, 0.05))
    sim.couple(configurations[0])  # made before the load was there
    sim.run(0.05)
    kept = sim.snapshot()
    kept.save(tmp_path / "kept.npz")
    sim.set_payload(sim.model.link_names[0], 0.0)
    sim.run(0.05)
    other.restore(Snapshot.load(tmp_path / "kept.npz"))
    sim.restore(kept)
    assert other.payloads.loads == sim.payloads.loads and other.model.mass == sim.model.mass
    assert sim.snapshot() == kept and other.snapshot() == kept
    for each in (sim, other):
        each.couple("turn")
        each.run(0.05)
    assert sim.snapshot() == other.snapshot()


def test_a_recording_of_it_replays_bit_for_bit(tmp_path):
    """A controller that picks something up and puts it down: looked at again, and as a bag."""
    sim = moving_arm()

    def pick_and_place(sim):
        if sim.time in (120_000_000, 160_000_000):
            sim.set_payload("hand", 3.0 if sim.time < 150_000_000 else 0.0)
        return -0.1 * sim.v

    recording = sim.run(0.1, pick_and_place, record=("q", "ledger"))
    assert recording.model.mass == sim.payloads.bare.mass
    notes = recording.save_bag(tmp_path / "bag")
    assert notes == []
    (report,) = replay(tmp_path / "bag")
    assert report.is_same and report.tolerance == 0.0 and report.untold == 0, report


def test_texts_tell_them():
    given = read_payloads(["", "hand 2.5", "elbow 1 0 0 0.1", "base 1e-3 0 0 0 0.1 0.01 0 0.2 0 0.3"])
    assert given["hand"] == (2.5, (0.0, 0.0, 0.0), (0.0,) * 6)
    assert given["base"].inertia == (0.1, 0.01, 0.0, 0.2, 0.0, 0.3)
    assert read_payloads(payload_texts(given)) == given


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("hand", "expected `link mass`"),
        ("hand 1 2", "expected `link mass`"),
        ("hand one", "mass: expected a finite number"),
        ("hand -1", "0 or more"),
        ("hand 1 0 0 inf", "at: expected 3 finite numbers"),
        ("hand 1 0 0 0 1 0 0 -1 0 1", "no body has the principal moments"),
        ("hnd 1", "no such link: did you mean 'hand'"),
        ("world 1", "fixed to the world"),
        ("hand 1e300", "singular|finite"),
        ("hand 1e100", "singular|finite"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(text, word):
    sim = Simulation(ARM)
    before = sim.snapshot()
    with pytest.raises(ValueError, match=word):
        sim.payloads.set(read_payloads([text]))
    assert sim.snapshot() == before
    sim.step()


def test_the_baselines_do_not_have_it():
    sim = Simulation(load_urdf("urdf/double_pendulum.urdf").with_(damping=0.0), integrator="rk4")
    with pytest.raises(UnsupportedModel, match="with_"):
        sim.set_payload(sim.model.link_names[-1], 1.0)
