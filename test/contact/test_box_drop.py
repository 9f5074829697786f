# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The box of W 5.3, thrown on a rubber floor: when it lands, on which vertices, how it comes to rest; four steps."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.dynamics import mass_matrix
from mbsim_ros.lie import quaternion

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/wendlandt_box_drop.json").read_text())
SIZE = (0.3, 0.4, 0.2)
# W's vertices 1 … 8 in the frame of the box
VERTICES = 0.5 * np.array(SIZE) * [[1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, 1]]  # fmt: skip
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
RESTING, WATCHED = 1.5, 10.0  # s


@cache
def box():
    model = ModelBuilder("box").link("box", mass=70.0, box=SIZE, collision=True).build("floating")
    np.testing.assert_allclose(np.diag(mass_matrix(model, model.neutral))[3:], REFERENCE["params"]["I"])
    return model


def thrown(dt, **options):
    """The simulation at W's start: 5 m/s along x."""
    given = REFERENCE["params"]
    depth = given["m"] * given["g"] / (4.0 * given["kn"])
    law = ContactParameters(
        given["kn"], given["bn"], given["kt"], given["bt"], given["mu_d"], given["mu_d"], given["zvt"], 0.05 * depth,
        given["m"] / 4.0,
    )  # fmt: skip
    sim = Simulation(box(), dt, terrain="flat", contact=law, **options)
    x, y, z, *wxyz = REFERENCE["state_x_y_z_qw_qx_qy_qz"]["0.000"]
    unit = np.array(wxyz) / np.linalg.norm(wxyz)
    velocity = quaternion.to_matrix(unit).T @ [5.0, 0.0, -0.04]
    sim.reset([x, y, z, *quaternion.to_ros(unit)], [*velocity, 0, 0, 0])
    return sim


def vertex(report, q):
    """W's number of a contact point that is reported; the box is at q."""
    own = quaternion.to_matrix(quaternion.from_ros(q[3:7])).T @ (report.position - q[:3])
    return int(np.abs(VERTICES - own).sum(axis=1).argmin()) + 1


@cache
def drop(dt):
    """Time of the first contact, vertices that ever touched, first of them, and the simulation at rest."""
    sim = thrown(dt)
    first, ever = None, {}
    while sim.seconds < RESTING:
        sim.step()
        for report in sim.contacts():
            if report.is_touching:
                first = sim.seconds if first is None else first
                ever.setdefault(report.label, vertex(report, sim.q))
    return first, list(ever.values()), sim


@pytest.mark.parametrize("dt", STEPS)
def test_it_lands_when_and_where_it_did_for_wendlandt(dt):
    first, touched, _ = drop(dt)
    features = REFERENCE["features"]
    assert first == pytest.approx(features["first_contact_s"], abs=0.002)
    assert touched[0] == features["first_contact_vertex"]
    assert not set(touched) & set(features["never_touch"])


@pytest.mark.parametrize("dt", STEPS)
def test_it_comes_to_rest_on_a_face_and_does_not_creep(dt):
    _, _, done = drop(dt)
    sim = thrown(dt)
    sim.restore(done.snapshot())
    modes = {vertex(report, sim.q): report.mode for report in sim.contacts()}
    assert [modes[k] for k in (5, 6, 7, 8)] == [ContactMode.STICKING] * 4
    assert [modes[k] for k in (1, 2, 3, 4)] == [ContactMode.NO_CONTACT] * 4
    w, *xyz = REFERENCE["features"]["final_quaternion_wxyz"]
    np.testing.assert_allclose(np.abs(sim.q[3:7]), [*np.abs(xyz), abs(w)], atol=0.01)
    sim.advance(round(0.5 / dt))  # what still rings dies out
    start = sim.q
    sim.advance(round(WATCHED / dt))
    assert np.abs(sim.q - start).max() < 1e-9
    assert np.abs(sim.v).max() < 1e-9
    force = sum(report.force for report in sim.contacts())
    np.testing.assert_allclose(force, [0, 0, 70.0 * 9.81], rtol=1e-9, atol=1e-6)
    assert all(r.mode is ContactMode.STICKING for r in sim.contacts() if vertex(r, sim.q) >= 5)
    assert sim.integrator.counts.halvings == 0


def test_before_and_while_it_lands_it_moves_as_wendlandts_box():
    """His law differs in how the damper begins and how friction is taken; 50 ms after landing that is millimetres."""
    sim = thrown(1e-3)
    for at, bound in (("0.050", 1e-8), ("0.102", 2e-5), ("0.150", 5e-3)):
        sim.advance(round(float(at) / 1e-3) - sim.time // 1_000_000)
        x, y, z, *wxyz = REFERENCE["state_x_y_z_qw_qx_qy_qz"][at]
        np.testing.assert_allclose(sim.q[:3], [x, y, z], atol=bound)
        np.testing.assert_allclose(sim.q[3:7], quaternion.to_ros(wxyz), atol=2.0 * bound)


def test_where_it_rests_converges_with_the_step():
    ends = [drop(dt)[2].q[:3] for dt in STEPS]
    assert np.abs(np.diff(ends, axis=0)).max() < 5e-3
    books = [drop(dt)[2].ledger().relative_residue for dt in STEPS]
    assert max(books) < 2e-3 and books[-1] < 0.3 * books[0]
