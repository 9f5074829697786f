# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Simulation` with W's integrator in maximal coordinates: drives, contact, books, snapshots, loops, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation, load_urdf
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.integrators.errors import UnsupportedModel

MAXIMAL = "quaternion_variational"


def arm(**sidecar):
    builder = ModelBuilder("arm").link("world")
    builder.link("upper", mass=2.0, com=(0.2, 0, 0), box=(0.4, 0.05, 0.05))
    builder.link("lower", mass=1.0, com=(0.15, 0, 0), box=(0.3, 0.04, 0.04))
    limits = {"lower": -2.0, "upper": 2.0, "effort": 40.0, "velocity": 10.0}
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), damping=0.2, **limits)
    builder.joint("elbow", "revolute", "upper", "lower", xyz=(0.4, 0, 0), axis=(0, 1, 0), rotor_inertia=0.01, **limits)
    return builder.build("fixed")


def box():
    return ModelBuilder("box").link("box", mass=2.0, box=(0.3, 0.2, 0.1), collision=True).build("floating")


def test_an_arm_under_drives_is_that_of_the_flagship_as_the_step_shrinks():
    model, ends = arm(), {}
    for integrator, dt in (("lie_variational", 1e-4), (MAXIMAL, 2e-3), (MAXIMAL, 1e-3)):
        sim = Simulation(model, dt, integrator)
        sim.reset([0.3, -0.4], [0.0, 1.0])
        sim.drive(position={"shoulder": 1.0, "elbow": 0.5}, kp={"shoulder": 60.0, "elbow": 20.0}, kd={"shoulder": 4.0, "elbow": 1.0})  # fmt: skip
        sim.advance(round(0.3 / dt), tau={"elbow": 2.0})
        ends[integrator, dt] = np.concatenate([sim.q, sim.v])
        assert sim.ledger().relative_residue < 1e-3
    true = ends["lie_variational", 1e-4]
    errors = [np.abs(ends[MAXIMAL, dt] - true).max() for dt in (2e-3, 1e-3)]
    assert errors[1] < 1e-3 and errors[1] < 0.35 * errors[0]


def test_efforts_and_stops_hold_as_the_urdf_says():
    sim = Simulation(arm(), 1e-3, MAXIMAL)
    sim.reset([0.0, 0.0])
    sim.advance(2000, tau={"shoulder": 500.0})  # cut at 40
    assert sim.q[0] == pytest.approx(2.0, abs=0.1)
    assert sim.has_stops


def test_a_box_falls_and_rests_on_four_corners_and_the_books_balance():
    sim = Simulation(box(), 1e-3, MAXIMAL, terrain="flat")
    sim.reset([0, 0, 0.2, 0, 0, 0, 1], [0.3, 0, 0, 0, 0.5, 0])
    for _ in range(20):
        sim.advance(100)
        ledger = sim.ledger()
        assert ledger.relative_residue < 0.02
    assert sum(report.mode is ContactMode.STICKING for report in sim.contacts()) == 4
    assert sum(report.force[2] for report in sim.contacts()) == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert np.abs(sim.v).max() < 1e-3


def test_a_push_and_gravity_act_and_snapshots_continue_bit_for_bit():
    sims = [Simulation(box(), 1e-3, MAXIMAL, terrain="flat") for _ in range(2)]
    sims[0].reset([0, 0, 1.0, 0, 0, 0, 1])
    sims[0].push("box", force=[4.0, 0.0, 0.0])
    sims[0].advance(200)
    assert sims[0].v[0] == pytest.approx(4.0 / 2.0 * 0.2, rel=1e-3)
    assert sims[0].v[2] == pytest.approx(-9.81 * 0.2, rel=1e-3)
    sims[1].restore(sims[0].snapshot())
    for sim in sims:
        sim.advance(400)
    assert sims[0].q.tobytes() == sims[1].q.tobytes() and sims[0].time == sims[1].time


def test_a_sidecar_closes_a_loop(tmp_path):
    builder = ModelBuilder("rhombus").link("world")
    for name in ("left", "right", "lower"):
        builder.link(name, mass=1.0, com=(0, 0, -0.25), box=(0.03, 0.03, 0.5))
    builder.joint("a", "continuous", "world", "left", axis=(0, 1, 0))
    builder.joint("b", "continuous", "world", "right", axis=(0, 1, 0), xyz=(0.5, 0, 0))
    builder.joint("c", "continuous", "left", "lower", axis=(0, 1, 0), xyz=(0, 0, -0.5))
    (tmp_path / "rhombus.urdf").write_text(builder.urdf())
    (tmp_path / "rhombus.mbsim.yaml").write_text(
        "closures: {pin: {from: {link: lower, point: [0, 0, -0.5]}, to: {link: right, point: [0, 0, -0.5]}}}\n"
        "initial_states: {home: {joints: {a: 0.2, b: 0.2, c: -1.770796}}}\n"
    )
    model = load_urdf(tmp_path / "rhombus.urdf")
    with pytest.raises(UnsupportedModel, match="'rk4' does not go with closed loops pin: use 'lie_variational'"):
        Simulation(model, integrator="rk4")
    for integrator in (MAXIMAL, "lie_variational"):
        sim = Simulation(model, 2e-3, integrator)
        sim.advance(300)
        assert sim.integrator.closure_error() < 1e-12
        assert sim.q[0] == pytest.approx(sim.q[2], abs=1e-9)  # a parallelogram: q is (a, c, b)
        assert sim.ledger().relative_residue < 1e-3


def test_what_it_cannot_do_is_refused_by_name():
    with pytest.raises(UnsupportedModel, match="does not go with coupling"):
        Simulation(arm(), 1e-3, MAXIMAL, coupling={"locked": ["elbow"], "name": "stiff"})
    with pytest.raises(ValueError, match="order: expected 2 with 'quaternion_variational', got 4"):
        Simulation(arm(), 1e-3, MAXIMAL, order=4)
    sim = Simulation(arm(), 1e-3, MAXIMAL)
    with pytest.raises(UnsupportedModel, match="quaternion_variational has none"):
        sim.couple({"locked": ["elbow"], "name": "stiff"})
    with pytest.raises(UnsupportedModel, match="step_bound"):
        sim.step_bound()
