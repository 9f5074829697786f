# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Effort limits hold on every way in, and a step to a state that makes no sense is refused, the state kept."""

from __future__ import annotations

import numpy as np
import pytest
from sim_robots import crawler, gripper, pendulum

from mbsim_ros import ModelBuilder, Simulation, SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.state_bounds import FASTEST, FURTHEST
from mbsim_ros.sim.drives.command_interface import CommandInterface

WEIGHTLESS = {"gravity": (0, 0, 0), "stops": False}
LIMIT = 50.0  # N m, of both joints of the pendulum
FAR = 1e6  # N m


def command_motors(sim):
    command = CommandInterface(sim).motors.read(["elbow"], [], [], [FAR])
    command.apply()


# Every way to drive the elbow far beyond its limit; PD from 10⁶ rad away.
WAYS = {
    "tau": lambda sim: sim.advance(20, {"elbow": FAR}),
    "motor": lambda sim: sim.advance(20, motor={"elbow": FAR}),
    "tau and motor": lambda sim: sim.advance(20, {"elbow": FAR}, {"elbow": FAR}),
    "drive": lambda sim: (sim.drive(effort={"elbow": FAR}), sim.advance(20)),
    "drive_motors": lambda sim: (sim.drive_motors(effort={"elbow": FAR}), sim.advance(20)),
    "PD": lambda sim: (sim.drive(position={"elbow": FAR}, kp={"elbow": 10}), sim.advance(20)),
    "PD of motors": lambda sim: (sim.drive_motors(position={"elbow": FAR}, kp={"elbow": 10}), sim.advance(20)),
    "velocity of motors": lambda sim: (sim.drive_motors(velocity={"elbow": FAR}, kd={"elbow": 10}), sim.advance(20)),
    "drive and drive_motors": lambda sim: (
        sim.drive(effort={"elbow": 0.6 * LIMIT}),
        sim.drive_motors(effort={"elbow": 0.7 * LIMIT}),
        sim.advance(20),
    ),
    "motor_commands": lambda sim: (command_motors(sim), sim.advance(20)),
    "a step at a time": lambda sim: [sim.step({"elbow": FAR}, {"elbow": FAR}) for _ in range(20)],
    "run": lambda sim: sim.run(0.02, lambda _: np.array([0.0, FAR])),
}


@pytest.mark.parametrize("integrator", ["lie_variational", "quaternion_variational", "rk4", "lie_euler"])
def test_a_joint_gets_no_more_than_its_limit_on_any_way(integrator):
    """Bit for bit what a constant effort at the limit does."""
    expected = Simulation(pendulum(), integrator=integrator, **WEIGHTLESS)
    expected.advance(20, {"elbow": LIMIT})
    assert 2.0 < np.abs(expected.v).max() < 500.0
    tried = 0
    for way, act in WAYS.items():
        sim = Simulation(pendulum(), integrator=integrator, **WEIGHTLESS)
        try:
            act(sim)
        except UnsupportedModel:  # the baselines have no motors and gains, and say so
            assert integrator in ("rk4", "lie_euler")
            continue
        if way == "motor_commands" and integrator in ("rk4", "lie_euler"):
            continue
        np.testing.assert_allclose(sim.q, expected.q, rtol=1e-12, err_msg=way)
        tried += 1
    assert tried == (len(WAYS) if integrator in ("lie_variational", "quaternion_variational") else 3)


def test_the_limit_of_a_column_is_what_its_joints_could_do_together():
    sim = Simulation(crawler(), coupling="sides", terrain=False, springs=(), **WEIGHTLESS)
    assert sim.integrator.motors.limit[6:].tolist() == [80.0, 80.0]  # two legs of 40 N m, ratios 1 and −1
    belt = Simulation(pendulum(), coupling="belt", **WEIGHTLESS)
    assert belt.integrator.motors.limit.tolist() == [LIMIT + 2 * LIMIT]
    strong, limited = belt.snapshot(), Simulation(pendulum(), coupling="belt", **WEIGHTLESS)
    belt.advance(20, motor={"drum": 1e9})
    limited.advance(20, motor={"drum": 3 * LIMIT})
    np.testing.assert_array_equal(belt.q, limited.q)
    belt.restore(strong)
    belt.advance(20, {"shoulder": FAR, "elbow": -FAR}, {"drum": FAR})  # Dᵀtau alone is at the limit already
    np.testing.assert_allclose(belt.q, limited.q, rtol=1e-12)


def test_limits_follow_the_coupling():
    sim = Simulation(crawler(), terrain=False, springs=(), **WEIGHTLESS)
    assert sim.integrator.motors.limit[6:].tolist() == [40.0] * 4
    free = sim.snapshot()
    sim.couple("sides")
    assert sim.integrator.motors.limit[6:].tolist() == [80.0, 80.0]
    sim.restore(free)
    assert sim.integrator.motors.limit[6:].tolist() == [40.0] * 4


def test_a_joint_that_follows_adds_nothing_to_its_leader():
    sim = Simulation(gripper(), **WEIGHTLESS)
    assert dict(zip(sim.motor_names, sim.integrator.motors.limit, strict=True)) == {"lift": 50.0, "slide_left": 20.0}


def wheel():
    """Nobody knows how strong its motor is."""
    builder = ModelBuilder("wheel").link("world").link("disc", mass=1, cylinder=(0.1, 0.1))
    return builder.joint("axle", "continuous", "world", "disc", axis=(0, 0, 1)).build()


@pytest.mark.parametrize("integrator", ["lie_variational", "quaternion_variational", "rk4", "lie_euler"])
def test_a_state_beyond_sense_is_refused_and_the_last_good_one_kept(integrator):
    sim = Simulation(wheel(), integrator=integrator)
    sim.advance(10, [1.0])
    before = sim.q, sim.v, sim.time
    with pytest.raises(SimulationDiverged, match="The state is that at t = 0.01 s.*smaller efforts") as caught:
        sim.advance(5, [1e12])
    assert "e+06 m/s or rad/s" in str(caught.value) or integrator == "quaternion_variational"
    np.testing.assert_array_equal(sim.q, before[0])
    np.testing.assert_allclose(sim.v, before[1], rtol=1e-15)
    assert sim.time == before[2]
    sim.advance(10, [-1.0])
    np.testing.assert_allclose(sim.v, 0.0, atol=1e-9)


def test_a_speed_that_grows_ends_before_it_makes_no_sense():
    """In one call of many steps: the state is that of the last step within the bounds."""
    sim = Simulation(wheel())
    with pytest.raises(SimulationDiverged, match="beyond the bounds of states"):
        sim.advance(1_000_000, [1e4])
    assert 0.99 * FASTEST < sim.v[0] <= 1.01 * FASTEST


def test_a_start_beyond_sense_is_refused():
    sim = Simulation(pendulum())
    before = sim.snapshot()
    with pytest.raises(ValueError, match=r"q: expected at most 1e\+09, got q\[1\] = 2e\+09"):
        sim.reset([0.0, 2 * FURTHEST])
    with pytest.raises(ValueError, match=r"v: expected at most 1e\+06, got v\[0\] = -2e\+06"):
        sim.reset([0.0, 0.0], [-2 * FASTEST, 0.0])
    with pytest.raises(ValueError, match="v: expected"):
        sim.reset([0.0, 0.0], "\0")
    with pytest.raises(ValueError, match=r"motor_speeds\['drum'\]: expected at most 1e\+06 rad/s, got 1e\+07"):
        sim.couple("belt", motor_speeds={"drum": 1e7})
    assert sim.snapshot() == before
