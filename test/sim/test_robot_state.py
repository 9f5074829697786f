# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a controller sees: base, contacts, efforts; and accelerations. Over ROS it is the same: test_own_controller.py."""

from __future__ import annotations

import numpy as np
import pytest
from sim_robots import pendulum
from test_standing import table

from mbsim_ros import Simulation, UnsupportedModel
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics import forward_dynamics


def test_base_and_contacts_of_a_table():
    """The legs carry the weight, each where it stands."""
    sim = Simulation(table(), terrain="flat")
    sim.reset([0.5, 0.0, sim.q[2], 0.0, 0.0, np.sin(0.2), np.cos(0.2)])
    sim.run(1.0)
    state = sim.state()
    np.testing.assert_allclose(state.base_pose, sim.link_pose("board"), atol=1e-12)
    np.testing.assert_array_equal(state.base_twist, sim.v[:6])
    assert list(state.contacts) == ["leg_0", "leg_1", "leg_2", "leg_3"]
    assert sum(contact.force for contact in state.contacts.values()) == pytest.approx(
        [0, 0, 10 * 9.81], rel=1e-6, abs=1e-9
    )
    for link, contact in state.contacts.items():
        assert contact.point[:2] == pytest.approx(sim.link_pose(link)[:2, 3], abs=1e-4)
        assert abs(contact.point[2]) < 2e-3
    sim.reset([0.0, 0.0, 2.0, 0, 0, 0, 1])
    sim.step()
    assert not sim.state().contacts, "it flies"


def test_a_state_that_knows_no_contacts_says_so():
    with pytest.raises(RuntimeError, match="set whole_state to true"):
        _ = RobotState(0, np.zeros(1), np.zeros(1)).contacts


def test_efforts_are_of_drive_and_tau_within_the_limit():
    sim = Simulation(pendulum())
    sim.drive(position={"shoulder": 0.2}, kp={"shoulder": 50.0}, kd={"shoulder": 2.0})
    sim.step({"shoulder": 3.0, "elbow": 0.25})
    q, v = sim.q, sim.v
    wanted = [3.0 + 50.0 * (0.2 - q[0]) - 2.0 * v[0], 0.25]
    np.testing.assert_allclose(sim.efforts, wanted, rtol=1e-12)
    np.testing.assert_array_equal(sim.state().effort, sim.efforts)
    np.testing.assert_array_equal(sim.motor_efforts, [0.0, 0.0])
    sim.step()
    assert sim.efforts[1] == 0.0, "tau was for one step"
    limited = sim.model.effort_limit.copy()
    sim.drive(effort={"elbow": 1e9})
    assert limited[1] == 0.0 or sim.efforts[1] == limited[1]


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_the_acceleration_is_that_one_step_ago(dt):
    """Against the equations of motion there: the error is of second order."""
    sim = Simulation(pendulum(), dt, stops=False)
    sim.reset([0.7, -0.4], [1.0, -2.0])
    assert not sim.acceleration.any()
    sim.advance(round(0.1 / dt))
    q, v = sim.q, sim.v
    tau = -sim.model.damping * v
    sim.step()
    wanted = forward_dynamics(sim.model, q, v, tau)
    np.testing.assert_allclose(sim.acceleration, wanted, atol=30.0 * dt**2 * np.abs(wanted).max())
    with pytest.raises(UnsupportedModel, match="acceleration: only 'lie_variational'"):
        _ = Simulation(sim.model, dt, integrator="rk4", stops=False, terrain=False).acceleration
