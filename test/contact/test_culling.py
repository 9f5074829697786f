# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Points and pairs that are left out of a step: nothing comes out differently, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.bench.robots.standing import crowded
from mbsim_ros.contact.culling import pairs as pair_culling, points as culling
from mbsim_ros.contact.culling.points_kernel import HIGHEST, NEAR, STEEPEST
from mbsim_ros.contact.layout import DEPTH, NORMAL, POSITION
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.contact.terrain import height_field, inclined_plane
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.sim.drives.command_interface import CommandInterface

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(7)
ROUGH = height_field(0.1 * RNG.random((40, 40)), 0.2, (-4.0, -4.0))
STEEP = height_field(0.4 * RNG.random((30, 40)), (0.15, 0.1), (-3.0, -1.5))
SLOPE = inclined_plane((0.0, 0.0, 0.0), (0.2, 0.1, 1.0))
GROUNDS = {"flat": "flat", "rough": ROUGH, "steep": STEEP, "slope": SLOPE}
# A body with a round leg, a ball and a capsule: rims, radii, and links with few points.
MIXED = """<robot name="mixed"><link name="trunk"><inertial><mass value="4"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><cylinder radius="0.15" length="0.3"/></geometry></collision></link>
 {legs}</robot>"""
LEG = """<link name="leg_{n}"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
  <inertia ixx="0.004" iyy="0.004" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 -0.1"/><geometry><cylinder radius="0.03" length="0.2"/></geometry></collision>
  <collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.04"/></geometry></collision></link>
 <joint name="hip_{n}" type="continuous"><origin xyz="{x} {y} -0.15"/><axis xyz="0 1 0"/>
  <parent link="trunk"/><child link="leg_{n}"/></joint>"""
LEGS = "".join(LEG.format(n=n, x=x, y=y) for n, (x, y) in enumerate([(0.1, 0.1), (0.1, -0.1), (-0.12, 0.0)]))


def robot(name):
    return MIXED.format(legs=LEGS) if name == "mixed" else ROOT / "urdf" / f"{name}.urdf.xacro"


def everything(sim):
    states = (sim.integrator.contacts, sim.integrator.pair_contacts)
    arrays = [sim.q, sim.v, *(a for s in states for a in (s.modes, s.deflections, s.results, s.energies))]
    return [array.tobytes() for array in arrays]


def throw(sim, height, linear=(0.5, 0.2, -0.3), angular=(0.0, 0.0, 0.0)):
    """Let go of it in the air, turned by 0.6 rad."""
    q, v, axis = sim.q.copy(), np.zeros(sim.model.nv), np.array([1.0, 1.0, 0.3])
    q[2] += height
    q[3:7] = [*(np.sin(0.3) * axis / np.linalg.norm(axis)), np.cos(0.3)]
    v[:6] = [*linear, *angular]
    sim.reset(q=q, v=v)


MOTIONS = {
    "falls": ("mixed", "flat", 0.1, {}, 500),
    "falls on a rough field": ("mixed", "rough", 0.2, {}, 500),
    "rolls down a slope": ("mixed", "slope", 0.1, {"angular": (3.0, 4.0, 0.0)}, 600),
    "tumbles on steep ground": ("mixed", "steep", 0.6, {}, 400),
    "is shot into the ground": ("mixed", "flat", 3.0, {"linear": (0, 0, -1000), "angular": (0, 300, 0)}, 150),
    "is shot into a rough field": ("mixed", "rough", 3.0, {"linear": (10, 0, -60), "angular": (500, 0, 100)}, 150),
    "the biped falls": ("biped", "flat", 0.1, {}, 400),
    "the walker falls": ("walker", "flat", 0.3, {}, 400),
    "the box tumbles": ("box", "rough", 0.3, {"angular": (8.0, 3.0, 0.0)}, 500),
}


@pytest.mark.filterwarnings("ignore::mbsim_ros.sim.resolution.ResolutionWarning")
@pytest.mark.parametrize("motion", MOTIONS)
def test_what_is_left_out_changes_no_bit(motion, monkeypatch):
    name, ground, height, start, steps = MOTIONS[motion]
    sims = []
    for fewest in (culling.FEWEST, 10**9):  # with more no body is ever asked, and every pass takes all points
        monkeypatch.setattr(culling, "FEWEST", fewest)
        sims.append(Simulation(robot(name), terrain=GROUNDS[ground], contact={"friction": 0.7}))
        throw(sims[-1], height, **start)
    culled, whole = sims
    left_out = 0
    for k in range(0, steps, 25):
        for sim in sims:
            sim.advance(25)
        if k % 50 == 0:  # sometimes what was left out is asked for, sometimes it is not
            assert everything(culled) == everything(whole), f"step {k + 25}"
        counts = culled.integrator.contacts.culling.counts
        left_out += len(culled.scene.points) - counts[NEAR]
    assert everything(culled) == everything(whole)
    assert culled.integrator.counts == whole.integrator.counts
    assert culled.integrator.contacts.energy().damping > 0.0  # it has touched
    assert left_out > 0 or name == "walker"  # whose feet are a point each
    assert whole.integrator.contacts.culling.counts[NEAR] == len(whole.scene.points)
    if "shot" in motion:  # steps were taken back, and taken otherwise
        assert culled.integrator.counts.newton_steps + culled.integrator.counts.halvings > 0


@pytest.mark.parametrize("ground", GROUNDS)
def test_no_point_in_the_ground_is_left_out(ground):
    """By the kinematics of the model and the gap of the ground, at the nodes."""
    sim = Simulation(robot("mixed"), terrain=GROUNDS[ground])
    throw(sim, 0.3, angular=(6.0, 2.0, 1.0))
    points, below = sim.scene.points, 0
    for _ in range(400):
        sim.step()
        X_WB = forward_kinematics(sim.model, sim.q).X_WB[points.bodies]
        places = np.einsum("nij,nj->ni", X_WB[:, :3, :3], points.geometry[:, :3]) + X_WB[:, :3, 3]
        gaps = np.array([sim.scene.ground.gap(place) for place in places]) - points.geometry[:, 3]
        is_near = sim.integrator.contacts.culling.is_near.astype(bool)
        assert gaps[~is_near].min(initial=1.0) > 0.0
        below += (gaps < 0.0).sum()
    assert below > 0


def test_results_of_what_was_left_out_are_those_of_the_last_step():
    sim = Simulation(robot("mixed"), terrain="flat")
    throw(sim, 1.0, linear=(0.0, 0.0, 0.0))
    sim.advance(100)  # in the air, where the midpoint of a step is that of its ends
    state, points = sim.integrator.contacts, sim.scene.points
    assert state.culling.counts[NEAR] < len(points)
    before, middle = sim.q.copy(), sim.q.copy()
    sim.step()
    middle[:3] = 0.5 * (before[:3] + sim.q[:3])
    X_WB = forward_kinematics(sim.model, middle).X_WB[points.bodies]
    places = np.einsum("nij,nj->ni", X_WB[:, :3, :3], points.geometry[:, :3]) + X_WB[:, :3, 3]
    places[:, 2] -= points.geometry[:, 3]
    np.testing.assert_allclose(state.results[:, POSITION : POSITION + 3], places, atol=1e-9)
    np.testing.assert_allclose(-state.results[:, DEPTH], places[:, 2], atol=1e-9)
    assert (state.results[:, NORMAL + 2] == 1.0).all()


@pytest.mark.parametrize("start", [30, 90, 200])
def test_a_snapshot_goes_on_bit_for_bit_in_a_simulation_that_looked_elsewhere(start):
    first = Simulation(robot("mixed"), terrain=ROUGH)
    throw(first, 0.2)
    first.advance(start)
    taken = first.snapshot()
    other = Simulation(robot("mixed"), terrain=ROUGH)
    throw(other, 1.5)
    other.advance(50)
    other.restore(taken)
    for sim in (first, other):
        sim.advance(150)
    assert everything(first) == everything(other)


def test_what_is_computed_does_not_grow_with_points_in_the_air():
    plain = Simulation(robot("biped"), terrain="flat")
    points = plain.scene.points
    CommandInterface(plain).hold()
    plain.advance(200)
    touching = {points.links[i] for i in np.flatnonzero(plain.integrator.contacts.modes != NO_CONTACT)}
    many = crowded(plain.model, points, touching, 20)
    assert touching and len(many) == 20 * len(points)
    full = Simulation(plain.model, terrain="flat", contact_points=many)
    CommandInterface(full).hold()
    full.advance(200)
    few = [sim.integrator.contacts.culling.counts[NEAR] for sim in (plain, full)]
    assert few[1] <= few[0] <= len(points)
    assert full.q.tobytes() == plain.q.tobytes()


def test_bounds_of_a_field_of_heights_hold_everywhere():
    for field in (ROUGH, STEEP, height_field([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]], 0.5)):
        bounds = culling.make_culling(np.zeros(0, dtype=np.int64), np.zeros((0, 4)), field.kind, field.data, field.grid)
        highest, steepest = -np.inf, 0.0
        for x, y in np.random.default_rng(1).uniform(-5.0, 5.0, (20_000, 2)):
            height, slope_x, slope_y = height_of(field, x, y)
            highest, steepest = max(highest, height), max(steepest, np.hypot(slope_x, slope_y))
        assert highest <= bounds.ground[HIGHEST]
        assert np.hypot(1.0, steepest) <= bounds.ground[STEEPEST] <= 8.0 * np.hypot(1.0, steepest)


def height_of(field, x, y):
    """Height and slopes by what the ground says of gap and normal."""
    gap, normal = field.gap((x, y, 10.0)), field.normal((x, y, 10.0))
    return 10.0 - gap / normal[2], -normal[0] / normal[2], -normal[1] / normal[2]


FREE = """<link name="{name}"><inertial><mass value="{mass}"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry>{shape}</geometry></collision></link>
 <joint name="free_{name}" type="floating"><parent link="world"/><child link="{name}"/></joint>"""
SHAPES = (
    '<box size="0.2 0.2 0.2"/>',
    '<box size="0.3 0.1 0.2"/>',
    '<sphere radius="0.1"/>',
    '<box size="0.2 0.2 0.1"/>',
)


def test_pairs_that_are_apart_change_no_bit(monkeypatch):
    """Four bodies that fall on each other and part again."""
    links = "".join(FREE.format(name=f"b{i}", mass=1.0 + 0.2 * i, shape=shape) for i, shape in enumerate(SHAPES))
    sims = []
    for fewest in (pair_culling.FEWEST, 10**9):
        monkeypatch.setattr(pair_culling, "FEWEST", fewest)
        text = f'<robot name="heap"><link name="world"/>{links}</robot>'
        sims.append(Simulation(text, terrain="flat", body_contact="all", contact={"friction": 0.4}))
        rng = np.random.default_rng(2)
        places = [[0.05 * i, 0.04 * i, 0.15 + 0.3 * i, *rng.normal(size=4)] for i in range(len(SHAPES))]
        q = np.array([[*p[:3], *(np.array(p[3:]) / np.linalg.norm(p[3:]))] for p in places])
        sims[-1].reset(q=q.ravel(), v=rng.normal(size=sims[-1].model.nv))
    culled, whole = sims
    left_out = met = 0
    for _ in range(30):
        for sim in sims:
            sim.advance(25)
        assert everything(culled) == everything(whole)
        state = culled.integrator.pair_contacts
        left_out += len(state.modes) - state.culling.counts[0]
        met += (state.modes != NO_CONTACT).sum()
    assert left_out > 0 and met > 0
    assert whole.integrator.pair_contacts.culling.counts[0] == len(whole.integrator.pair_contacts.modes)
