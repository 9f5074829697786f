# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""N's quasicoordinates for any body with limbs, against the tree's forward dynamics and as an integrator."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.bench.cases import robots_folder
from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.coupling import coupled_forward_dynamics, named
from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.quasicoordinates.equations import quasicoordinate_dynamics
from mbsim_ros.integrators.quasicoordinates.limbs import limbs_of
from mbsim_ros.model.assembly.assemble import make_model

sys.path.append(str(Path(__file__).parents[1] / "dynamics"))
from random_trees import random_tree

ROOT, ROBOTS = Path(__file__).parents[2], robots_folder()
TOLERANCE = 1e-10  # of the largest acceleration
LEGS = [f"{frame}{end}{side}" for frame in "AB" for end in "FR" for side in "LR"]
WALKER_CABLES = {f"{leg}_t": f"{leg}_f" for leg in LEGS}


@pytest.fixture(scope="module")
def walker():
    return load_urdf(ROOT / "urdf/walker.urdf.xacro")


def largest_difference(model, cables=None, states=10):
    """Of accelerations by limbs and by the tree, at random states under random forces and gravity."""
    rng, limbs, worst = np.random.default_rng(3), limbs_of(model, cables), 0.0
    for _ in range(states):
        q, v = random_configuration(model, rng), random_velocity(model, rng)
        tau, gravity = random_velocity(model, rng), 9.81 * rng.normal(size=3)
        expected = forward_dynamics(model, q, v, tau, gravity=gravity)
        found = quasicoordinate_dynamics(limbs, q, v, tau, gravity=gravity)
        worst = max(worst, np.abs(found - expected).max() / np.abs(expected).max())
    return worst


def test_the_walker_with_and_without_cables(walker):
    """Shins that count from their frame, N (29), change what the angles are and not how the robot moves."""
    assert largest_difference(walker) <= TOLERANCE
    assert largest_difference(walker, WALKER_CABLES) <= TOLERANCE


@pytest.mark.skipif(ROBOTS is None, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["go2", "solo12", "hyq_no_sensors", "anymal", "anymal-kinova"])
def test_robots_that_others_made(name):
    file = next(path for path in sorted(ROBOTS.rglob("*.urdf")) if path.stem == name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_urdf(file, "floating")
    assert largest_difference(model) <= TOLERANCE


def test_random_robots_of_revolute_joints():
    """Limbs that branch anywhere: bodies in common to some of them, and rotors on half of the joints."""
    rng = np.random.default_rng(11)
    for joints in (1, 3, 6, 9):
        for _ in range(5):
            model = make_model(random_tree(["revolute"] * joints, rng), str(rng.choice(["floating", "fixed"])))
            assert largest_difference(model, states=2) <= TOLERANCE


def test_sizes_and_partition_of_the_walker(walker):
    sizes = json.loads((ROOT / "test/reference/nelson_walker.json").read_text())["dims"]
    limbs = limbs_of(walker)
    assert (list(limbs.D1().shape), list(limbs.D2().shape)) == (sizes["D1"], sizes["D2"])
    assert limbs.masses.sum() == pytest.approx(walker.mass, rel=1e-14)
    assert sorted(set(limbs.shares[limbs.bodies >= 0].tolist())) == [1 / 8, 1 / 4, 1.0]  # N (41)
    u = np.arange(walker.nv) + 1.0
    whole = np.concatenate([rows[np.abs(rows).any(axis=1)] @ u for rows in limbs.places])
    assert whole.tolist() == (limbs.D1() @ limbs.D2() @ u).tolist()


def test_couplings_are_one_more_transformation(walker):
    """N (48): five motors drive 17 joints."""
    rng, configuration = np.random.default_rng(5), named(walker)["normal"]
    u = rng.normal(size=configuration.nu)
    q, v = random_configuration(walker, rng), configuration.velocities(u)
    tau = np.concatenate([np.zeros(6), rng.normal(size=configuration.nu - 6)])
    found = quasicoordinate_dynamics(limbs_of(walker, WALKER_CABLES), q, v, tau, D3=configuration.D)
    expected = configuration.velocities(coupled_forward_dynamics(walker, configuration, q, u, tau))
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()


def test_it_is_simulated_with(walker):
    """The same steps as rk4, by other equations; it falls under efforts."""
    runs = []
    for integrator in ("rk4", "quasicoordinates"):
        sim = Simulation(walker.with_(damping=0.0), dt=2e-3, integrator=integrator, terrain=False, stops=False)
        sim.reset(v=0.3 * np.ones(walker.nv))
        for _ in range(10):
            sim.step(tau={"AFL_t": 2.0, "body": -1.0})
        runs.append(np.concatenate([sim.q, sim.v]))
    assert np.abs(runs[0] - runs[1]).max() <= 1e-11


def test_what_resists_the_joints_is_in_the_books():
    """A floating chain with damping and friction: the ledger closes as the step falls, at fourth order."""
    rng = np.random.default_rng(2)
    model = make_model(random_tree(["revolute"] * 3, rng), "floating")
    residues = []
    for dt in (8e-3, 4e-3):
        sim = Simulation(model, dt=dt, integrator="quasicoordinates", terrain=False, stops=False)
        sim.integrator.joints.damping[6:] = 0.3
        sim.reset(v=0.5 * np.ones(model.nv))
        sim.advance(round(0.4 / dt), tau={"joint_01": 0.2})
        assert sim.ledger().damping < -1e-3
        residues.append(abs(sim.ledger().residue))
    assert residues[1] < 1e-6 and residues[0] / residues[1] > 8.0


def test_what_has_no_limbs_is_refused(walker):
    slide = make_model(random_tree(["revolute", "prismatic"], np.random.default_rng(1)), "floating")
    with pytest.raises(UnsupportedModel, match=r"limbs of revolute joints.*'link_02'"):
        Simulation(slide, integrator="quasicoordinates", terrain=False)
    with pytest.raises(ValueError, match="not the joint right before"):
        limbs_of(walker, {"AFL_t": "AFR_f"})
    with pytest.raises(ValueError, match="not parallel"):
        limbs_of(walker, {"BFL_f": "body"})
