# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Every scheme on every robot: it runs as the physics node makes it, or its row says why not; and they agree."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scheme_robots import ball_pendulum, body, moving, rods, spherical_pendulum

from mbsim_ros import Simulation
from mbsim_ros.cli.parts.check_integrators import suitable_integrators
from mbsim_ros.integrators import registry
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.nodes.parameters import BadParameter
from mbsim_ros.nodes.physics.parameters import PARAMETERS
from mbsim_ros.nodes.physics.simulation_setup import make_simulation

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "urdf").iterdir() if "<robot name=" in path.read_text(encoding="utf-8"))
BUILT = {
    "double pendulum": lambda: load_urdf(ROOT / "urdf" / "double_pendulum.urdf"), "body": body, "rods": rods, "damped rods": lambda: rods(damping=0.2, friction=0.1),
    "spherical pendulum": spherical_pendulum, "ball pendulum": ball_pendulum,
}  # fmt: skip
DEFAULTS = {parameter.name: parameter.default for parameter in PARAMETERS}
ROWS = registry.rows()
ORDERS = {"lie_euler": 1, "rk4": 4, "quasicoordinates": 4}  # of accuracy, where that is not the row's


def loaded(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shapes and masses of robots are not the matter here
        return BUILT[robot]() if robot in BUILT else load_urdf(robot)


@pytest.mark.parametrize("robot", [*FILES, *BUILT], ids=lambda robot: getattr(robot, "name", robot))
def test_every_cell_runs_a_second_or_is_refused_by_its_row(robot):
    model = loaded(robot)
    fit, others = suitable_integrators(model)
    assert [*fit, *others] and {*fit, *others} == {row.title for row in ROWS}
    for row in ROWS:
        values = {**DEFAULTS, "integrator": row.name, "order": row.order}
        if row.title in others:
            with pytest.raises(BadParameter, match="does not go with") as refusal:
                make_simulation(model, values)
            assert others[row.title] in str(refusal.value)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = make_simulation(model, values)
            sim.advance(1000)
        assert sim.seconds == 1.0
        assert np.isfinite([*sim.q, *sim.v, sim.energy().total]).all()


def after(row, robot, h, seconds=0.4):
    """Where a scheme is after a while, from a start in motion, under constant efforts where joints take them.

    After an even number of steps: velocities of energy_stable and energy_momentum go to and fro, by O(h²) each.
    """
    sim = Simulation(robot, dt=h, integrator=row.name, order=row.order, stops=False)
    moving(sim)
    sim.advance(round(seconds / h), np.linspace(-1.0, 1.0, len(sim.tau_names)) if len(sim.tau_names) else None)
    return np.concatenate([sim.q, sim.v])


@pytest.mark.parametrize("robot", [name for name in BUILT if name != "damped rods"])
def test_schemes_agree_at_their_order_as_the_step_falls(robot):
    model = loaded(robot)
    fit, _ = suitable_integrators(model)
    rows = [row for row in ROWS if row.title in fit]
    truth = after(registry.find("rk4"), model, 2e-4)
    found = {}
    for row in rows:
        expected = ORDERS.get(row.name, row.order)
        coarse = {1: 1e-3, 2: 4e-3, 4: 2e-2, 6: 5e-2, 8: 0.1}[expected]
        errors = [np.abs(after(row, model, h) - truth).max() for h in (coarse, coarse / 2)]
        found[row.title] = np.log2(errors[0] / errors[1])
        assert errors[1] < 2e-2, row.title
        if expected < 6:
            assert found[row.title] == pytest.approx(expected, abs=0.15 * expected), found
        else:  # steps this large gain more than that here and there, and a body alone is at its rounding
            assert found[row.title] > 0.85 * expected or errors[1] < 1e-12, found
    assert len(found) >= 5
