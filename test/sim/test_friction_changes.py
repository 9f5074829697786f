# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Friction that changes while a simulation runs: exactly as if it had always been so, from that step on."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.contact.terrain import inclined_plane
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.sim.surroundings.friction import change_friction

SLOPE = 0.4  # rad


def block():
    builder = ModelBuilder("block").link("block", mass=1.0, box=(0.2, 0.2, 0.1), collision=True)
    return builder.build()


def on_a_slope(friction):
    ground = inclined_plane((0, 0, 0), (-np.sin(SLOPE), 0.0, np.cos(SLOPE)))
    sim = Simulation(block(), terrain=ground, contact={"friction": friction})
    turn = [0.0, -np.sin(SLOPE / 2), 0.0, np.cos(SLOPE / 2)]
    sim.reset([-0.05 * np.sin(SLOPE), 0.0, 0.05 * np.cos(SLOPE), *turn])
    return sim


def speed(sim):
    return float(np.linalg.norm(sim.v[:3]))


def test_a_block_slides_and_is_stopped_bit_for_bit_as_by_a_rougher_ground():
    sim, rough = on_a_slope(0.2), on_a_slope(0.9)
    sim.advance(300)
    sliding = speed(sim)
    assert sliding > 0.3
    rough.integrator.restore(sim.integrator.saved())
    change_friction(sim, 0.9)
    sim.advance(700)
    rough.advance(700)
    assert sim.q.tobytes() == rough.q.tobytes()
    assert sim.v.tobytes() == rough.v.tobytes()
    assert speed(sim) < 0.01 * sliding
    assert sim.identity == rough.identity
    assert [report.force.tolist() for report in sim.contacts()] == [
        report.force.tolist() for report in rough.contacts()
    ]


def test_snapshots_know_the_friction_they_were_taken_with():
    sim = on_a_slope(0.9)
    rough = sim.snapshot()
    change_friction(sim, 0.2)
    with pytest.raises(ValueError, match="contact parameters"):
        sim.restore(rough)
    change_friction(sim, 0.9)
    sim.restore(rough)


def test_none_is_what_the_sidecar_says_and_nonsense_is_refused():
    sim = on_a_slope(0.2)
    change_friction(sim, None)
    ground = sim.scene.ground
    assert (sim.scene.contact.friction_static, sim.scene.contact.friction_dynamic) == (
        ground.friction_static, ground.friction_dynamic,
    )  # fmt: skip
    before = sim.identity
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="friction"):
            change_friction(sim, wrong)
    assert sim.identity == before
    with pytest.raises(ValueError, match="friction: expected a robot that touches something, got 'block' without"):
        change_friction(Simulation(block(), terrain=False), 0.5)
