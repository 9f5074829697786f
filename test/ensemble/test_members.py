# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Members of an ensemble move as they do alone, to the last bit, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from ensemble_robots import PERIOD, ROWS, commands, hopper, make, played_alone, same

from mbsim_ros import Ensemble, ModelBuilder, Simulation
from mbsim_ros.contact.terrain import floor, inclined_plane
from mbsim_ros.integrators.lie_variational.rollout.robot_rollout import can_roll_out


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_member_moves_as_alone(threads):
    table = commands(5)
    with Ensemble(make, 5, threads=threads) as ensemble:
        found = ensemble.rollout(table, period=PERIOD)
    assert found.q.shape == (5, ROWS, hopper().nq)
    for i in range(5):
        assert same(found, i, played_alone(make(i), table[i]))
    assert np.ptp(found.q[:, -1, 2]) > 0.0, "members differ"


def test_rows_every_so_many_steps_are_those_of_every_step():
    table = commands(2)
    fine, coarse, odd = (
        Ensemble(make, 2, threads=1).rollout(table, period=PERIOD, every=every) for every in (1, PERIOD, 7)
    )
    assert coarse.q.tobytes() == np.ascontiguousarray(fine.q[:, PERIOD - 1 :: PERIOD]).tobytes()
    assert odd.v.tobytes() == np.ascontiguousarray(fine.v[:, 6::7]).tobytes()
    assert np.array_equal(odd.time[0], 7e-3 * np.arange(1, ROWS * PERIOD // 7 + 1))


def test_efforts_and_a_table_for_all():
    table, efforts = commands(1)[0], 10.0 * commands(1, 4)[0]
    found = Ensemble(make, 3, threads=2).rollout(table, efforts=efforts, period=PERIOD)
    for i in range(3):
        assert same(found, i, played_alone(make(i), table, efforts))
    assert not same(found, 0, played_alone(make(0), table)), "efforts act"


def test_members_have_their_own_parameters():
    n, table = 3, commands(3)
    friction, dt, mass = np.array([0.1, 0.5, 1.0]), np.array([1e-3, 2e-3, 5e-4]), np.array([1.0, 1.2, 0.8])
    kp, kd = np.array([[30.0, 40.0], [50.0, 60.0], [70.0, 80.0]]), np.array([1.0, 2.0])
    terrain = [floor(0.0), inclined_plane((0, 0, 0), (0.1, 0, 1)), floor(-0.05)]
    q = np.tile(hopper().neutral, (n, 1))
    q[:, 2] = 0.24, 0.25, 0.26
    ensemble = Ensemble(hopper(), n, dt=dt, mass=mass, friction=friction, terrain=terrain, kp=kp, kd=kd, q=q, threads=2)
    found = ensemble.rollout(table, period=PERIOD)
    for i in range(n):
        sim = Simulation(
            hopper().with_(mass=mass[i]), dt[i], terrain=terrain[i], contact={"friction": float(friction[i])}
        )
        sim.reset(q[i])
        sim.drive_motors(position=np.zeros(2), velocity=np.zeros(2), kp=kp[i], kd=kd)
        assert same(found, i, played_alone(sim, table[i]))
        assert found.time[i, -1] == sim.seconds


def test_a_member_goes_on_as_a_simulation():
    table = commands(2)
    ensemble = Ensemble(make, 2, threads=1)
    ensemble.rollout(table, period=PERIOD)
    alone = make(1)
    played_alone(alone, table[1])
    one = ensemble[1]
    assert one.snapshot().arrays.keys() == alone.snapshot().arrays.keys()
    for sim in (one, alone):
        sim.advance(20)
    assert one.ledger() == alone.ledger()
    assert one.joint_wrenches().keys() == alone.joint_wrenches().keys()
    assert ensemble.state().q[1].tobytes() == alone.q.tobytes(), "a member that was lent is looked at again"
    assert ensemble.state().time.tolist() == [0.06, 0.08]


def test_other_integrators_go_the_same_way():
    table, options = commands(2), {"integrator": "quaternion_variational"}
    ensemble = Ensemble(lambda i: make(i, **options), 2, threads=2)
    found = ensemble.rollout(table, period=PERIOD)
    assert not can_roll_out(ensemble[0].integrator)
    for i in range(2):
        assert same(found, i, played_alone(make(i, **options), table[i]))


def test_a_long_chain_has_recursive_factors():
    builder = ModelBuilder("chain").link("world")
    for k in range(12):
        builder.link(f"l{k}", mass=1.0, com=(0, 0, -0.1), box=(0.05, 0.05, 0.2))
        builder.joint(f"j{k}", "continuous", "world" if k == 0 else f"l{k - 1}", f"l{k}", xyz=(0, 0, -0.2 * (k > 0)),
                      axis=(0, 1, 0))  # fmt: skip
    model = builder.build()
    q = 0.3 * np.arange(24.0).reshape(2, 12) / 24.0
    ensemble = Ensemble(model, 2, q=q, threads=1)
    found = ensemble.rollout(steps=40, every=20)
    assert can_roll_out(ensemble[0].integrator)
    for i in range(2):
        sim = Simulation(model)
        sim.reset(q[i])
        sim.advance(40)
        assert found.q[i, -1].tobytes() == sim.q.tobytes()
        assert found.v[i, -1].tobytes() == sim.v.tobytes()
