# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Convergence is not acceptance: a step that makes energy from nothing is not taken, however well it was solved."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.bench.free_flight import Flight, fly, load_floating, random_start, weightless
from mbsim_ros.bench.robot_data import find_robot
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance.divergence import resolving_step
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.sim.resolution import ResolutionWarning
from mbsim_ros.sim.simulation import Simulation

URDF = Path(__file__).parents[2] / "urdf"


@cache
def acrobat(wrist: float = 2e-4):
    """A floating trunk with two arms of three links each, whose last ones are light."""
    builder = ModelBuilder("acrobat").link("trunk", mass=10.0, box=(0.3, 0.4, 0.5))
    for side, y in (("left", 0.25), ("right", -0.25)):
        parent = "trunk"
        for part, mass, axis in (("upper", 2.0, (1, 0, 0)), ("fore", 1.0, (0, 1, 0)), ("hand", None, (0, 0, 1))):
            name = f"{side}_{part}"
            if mass is None:
                builder.link(name, mass=0.1, com=(0.05, 0, 0), inertia=(wrist, wrist, wrist))
            else:
                builder.link(name, mass=mass, com=(0, 0, -0.15), cylinder=(0.04, 0.3))
            xyz = (0, y, 0.2) if parent == "trunk" else (0, 0, -0.3)
            builder.joint(f"{name}_joint", "continuous", parent, name, xyz=xyz, axis=axis)
            parent = name
    return builder.build("floating")


@pytest.mark.parametrize(("name", "speed", "dt"), [("g1", 10.0, 0.01), ("solo12", 10.0, 0.01), ("talos", 10.0, 0.005)])
def test_a_fast_robot_gains_no_energy(name, speed, dt):
    path = find_robot(name)
    if path is None:
        pytest.skip("example-robot-data is not installed")
    done = fly(load_floating(path), Flight(name, speed, dt, seed=1), seconds=3.0)
    assert done.is_well and done.ended is None, done


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("dt", [0.005, 0.02])
def test_neither_does_an_acrobat(dt, order):
    model = acrobat()
    integrator = LieVariational(model, dt, gravity=(0, 0, 0), order=order)
    integrator.reset(*random_start(np.random.default_rng(3), model, 10.0))
    start = integrator.kinetic_energy()
    for _ in range(round(3.0 / dt)):
        integrator.step()
        assert abs(integrator.kinetic_energy() - start) < 0.05 * start


def test_steps_that_are_resolved_are_not_even_looked_at():
    model = acrobat()
    integrator = LieVariational(model, 1e-4, gravity=(0, 0, 0))
    integrator.reset(*random_start(np.random.default_rng(3), model, 3.0))
    integrator.step(steps=5000)
    assert integrator.counts[1:] == (0, 0, 0) and integrator.rough_steps == 0


def test_nor_does_a_walker_on_stiff_drives_split_a_step():
    """The balance is exact where inertia is constant, however stiff the forces: standing and a push split nothing."""
    sim = Simulation(URDF / "walker.urdf.xacro", coupling="normal")
    sim.drive_motors(
        position=sim.motor_position, kp=dict.fromkeys(sim.motor_names, 3000.0), kd=dict.fromkeys(sim.motor_names, 60.0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResolutionWarning)
        sim.run(1.0)
        sim.push("top", (0.0, 80.0, 0.0))
        sim.run(0.5)
    assert sim.integrator.counts.halvings == 0


def test_the_split_of_a_hard_step_is_part_of_a_snapshot():
    model = acrobat()
    sims = [weightless(model, 0.02) for _ in range(2)]
    sims[0].reset(*random_start(np.random.default_rng(3), model, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sims[0].advance(20)
        assert sims[0].integrator.counts.halvings > 5
        sims[1].restore(sims[0].snapshot())
        for sim in sims:
            sim.advance(30)
    assert sims[0].q.tobytes() == sims[1].q.tobytes() and sims[0].v.tobytes() == sims[1].v.tobytes()


def test_it_is_said_where_dt_does_not_resolve_a_joint():
    model = acrobat()
    sim = weightless(model, 0.01)
    sim.reset(*random_start(np.random.default_rng(3), model, 6.0))
    with pytest.warns(
        ResolutionWarning, match=r"dt = 0\.01 s does not resolve .* '(left|right)_hand_joint' turns .* dt = .* would do"
    ):
        sim.run(1.0)
    fine = weightless(model, resolving_step(sim.integrator) / 4)
    fine.reset(*random_start(np.random.default_rng(3), model, 6.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResolutionWarning)
        fine.run(0.5)


def test_a_robot_without_inertia_in_a_joint_is_told_so():
    """Perhaps no dt resolves a joint whose inertia vanishes in some poses: there is another remedy."""
    builder = ModelBuilder("ghost").link("trunk", mass=1.0, box=(0.2, 0.2, 0.2))
    builder.link("head", mass=1e-9, com=(0, 0, 0), inertia=(1e-15, 1e-15, 1e-15))
    builder.joint("neck", "continuous", "trunk", "head", xyz=(0, 0, 0.1), axis=(0, 0, 1))
    builder.link("hat", mass=1.0, com=(0.1, 0, 0), box=(0.1, 0.1, 0.1))
    builder.joint("brim", "continuous", "head", "hat", axis=(0, 0, 1))
    model = builder.build("floating")
    integrator = LieVariational(model, 0.01, gravity=(0, 0, 0))
    integrator.reset(model.neutral, np.r_[np.zeros(6), 1.0, -1.0])
    integrator.drives.effort[-1] = 1e9
    integrator.drives.effort[-2] = -1e12
    with pytest.raises(SimulationDiverged, match="hardly any inertia") as caught:
        integrator.step(steps=100)
    assert caught.value.proposed_dt < integrator.dt and caught.value.joint in ("neck", "brim")
