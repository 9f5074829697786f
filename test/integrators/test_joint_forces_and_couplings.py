# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Drives, damping, friction, stops and couplings inside the variational step: second order, and every joule booked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros.coupling.configuration import couple
from mbsim_ros.coupling.coupled_dynamics import coupled_forward_dynamics
from mbsim_ros.dynamics import energy, forward_dynamics, mass_matrix, momentum, potential_energy
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf

ROOT = Path(__file__).resolve().parents[2]
START = np.array([0.5, 0.3])


@pytest.fixture(scope="module")
def pendulum():
    return load_urdf(ROOT / "urdf/double_pendulum.urdf")


@pytest.fixture(scope="module")
def walker():
    return load_urdf(ROOT / "mbsim_ros/bench/robots/walker_sized.urdf")


@pytest.fixture(scope="module")
def five_motors(walker):
    """The walker's transmission: femurs with front and rear reversed, tibias measured from the body."""
    motors = {"waist": {"body": 1.0}}
    for frame in "AB":
        legs = [name[:-2] for name in walker.joint_names if name.startswith(frame) and name.endswith("_f")]
        sign = {leg: 1.0 if leg[1] == "F" else -1.0 for leg in legs}
        motors[f"femur_{frame}"] = {
            **{f"{leg}_f": sign[leg] for leg in legs},
            **{f"{leg}_t": -sign[leg] for leg in legs},
        }
        motors[f"tibia_{frame}"] = {f"{leg}_t": 1.0 for leg in legs}
    return couple(walker, motors, rotor_inertia=dict.fromkeys(motors, 0.05))


def write_forces(kind: str, where: str, simulation: LieVariational) -> None:
    drives = simulation.drives if where == "joint" else simulation.motors
    if kind == "damping":
        simulation.joints.damping[:] = 0.3
    elif kind == "friction":
        simulation.joints.friction[:] = 0.4
        simulation.joints.friction_speed[:] = 0.2  # wide, so that the reference solution is smooth
    elif kind == "stop":
        simulation.joints.upper[:] = 0.45
        simulation.joints.stop_stiffness[:] = 200.0
        simulation.joints.stop_damping[:] = 1.0
    elif kind == "pd":
        drives.kp[:], drives.kd[:], drives.position[:], drives.velocity[:] = 50.0, 2.0, 0.3, 0.1


def continuous_force(kind: str, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    if kind == "damping":
        return -0.3 * v
    if kind == "friction":
        return -0.4 * v / np.sqrt(v**2 + 0.2**2)
    return 50.0 * (0.3 - q) + 2.0 * (0.1 - v)


@pytest.mark.parametrize(
    ("kind", "where"), [("damping", "joint"), ("friction", "joint"), ("pd", "joint"), ("pd", "motor")]
)
def test_second_order_against_the_differential_equation(pendulum, kind, where):
    def rate(t, y):
        q, v = y[:2], y[2:]
        return np.concatenate([v, forward_dynamics(pendulum, q, v, continuous_force(kind, q, v))])

    exact = solve_ivp(rate, (0, 1), [*START, 0, 0], method="DOP853", rtol=1e-11, atol=1e-11).y[:2, -1]
    errors = []
    for n in (125, 250, 500):
        simulation = LieVariational(pendulum, 1 / n)
        simulation.reset(START, [0, 0])
        simulation.state.motor_position[:] = START  # the columns are the joints here
        write_forces(kind, where, simulation)
        simulation.step(steps=n)
        errors.append(np.abs(simulation.q - exact).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(slopes - 2.0).max() < 0.05, errors


@pytest.mark.parametrize("kind", ["damping", "friction", "pd", "stop"])
def test_work_is_booked(pendulum, kind):
    """What the energy changes by is what the forces did, up to the scheme's error, which falls with h²."""
    left = []
    for n in (250, 500, 1000):
        simulation = LieVariational(pendulum, 1 / n)
        simulation.reset(START, [0, 0])
        write_forces(kind, "joint", simulation)
        before = energy(pendulum, simulation.q, simulation.v).total
        simulation.step(steps=n)
        change = energy(pendulum, simulation.q, simulation.v).total - before
        work = simulation.work_done.sum()
        assert abs(work) > 1e-3
        left.append(abs(change - work))
    assert left[-1] < 2e-4 * max(abs(simulation.work_done).sum(), 0.05)
    if kind != "stop":  # a stop is not smooth
        assert np.log2(left[0] / left[-1]) / 2 > 1.8, left


def test_a_stop_sends_back_slower():
    """A slide runs into its stop and comes back: the damper takes energy both ways, the spring gives back the rest."""
    builder = ModelBuilder("slide").link("world").link("sled", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = builder.joint(
        "slide", "prismatic", "world", "sled", axis=(1, 0, 0), lower=-10, upper=10, effort=1, velocity=9
    ).build("fixed")
    speeds = []
    for damping in (0.0, 2.0, 4.0):
        simulation = LieVariational(model, 1e-3)
        simulation.joints.upper[:], simulation.joints.stop_stiffness[:] = 0.1, 400.0
        simulation.joints.stop_damping[:] = damping
        simulation.reset([0.0], [1.0])
        simulation.step(steps=400)
        assert simulation.q[0] < 0.1
        speeds.append(-simulation.v[0])
    assert speeds[0] == pytest.approx(1.0, abs=1e-3) and 0.3 < speeds[2] < speeds[1] < 0.95


def test_effort_is_limited(pendulum):
    simulation = LieVariational(pendulum, 1e-3, gravity=(0, 0, 0))
    simulation.drives.limit[:] = 0.5
    simulation.reset([0, 0], [0, 0])
    simulation.step([100.0, 0.0], steps=100)
    limited = LieVariational(pendulum, 1e-3, gravity=(0, 0, 0))
    limited.reset([0, 0], [0, 0])
    limited.step([0.5, 0.0], steps=100)
    np.testing.assert_array_equal(simulation.q, limited.q)


class TestFiveMotors:
    def test_momentum_and_energy_without_forces(self, walker, five_motors):
        rng = np.random.default_rng(1)
        simulation = LieVariational(walker, 1e-3, gravity=(0, 0, 0), coupling=five_motors)
        simulation.reset(walker.neutral, u=0.5 * rng.normal(size=five_motors.nu))

        def total_energy():
            u, D = simulation.u, five_motors.D
            return 0.5 * u @ (D.T @ mass_matrix(walker, simulation.q) @ D + np.diag(five_motors.rotor_inertia)) @ u

        before, start = momentum(walker, simulation.q, simulation.v), total_energy()
        simulation.step(steps=3000)
        after = momentum(walker, simulation.q, simulation.v)
        assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()
        assert abs(total_energy() - start) < 1e-6 * start
        assert simulation.iterations < 4 * 3000

    def test_joints_follow_their_motors(self, walker, five_motors):
        simulation = LieVariational(walker, 1e-3, coupling=five_motors)
        simulation.reset(walker.neutral, u=np.zeros(five_motors.nu))
        simulation.motors.kp[6:], simulation.motors.kd[6:], simulation.motors.position[6:] = (
            80.0,
            4.0,
            [0.2, 0.1, -0.1, 0.3, 0.2],
        )
        simulation.step(steps=400)
        moved = simulation.q[7:] - walker.neutral[7:]
        np.testing.assert_allclose(moved, five_motors.D[6:, 6:] @ simulation.state.motor_position[6:], atol=1e-12)
        assert np.abs(moved).max() > 0.1

    def test_acceleration_from_rest_is_that_of_the_coupled_dynamics(self, walker, five_motors):
        """Through the small first step; the coupled dynamics are checked against reference numbers and Pinocchio."""
        motor = np.concatenate([np.zeros(6), [1.0, -2.0, 3.0, 0.5, -1.5]])
        expected = coupled_forward_dynamics(walker, five_motors, walker.neutral, np.zeros(five_motors.nu), motor)
        errors = []
        for h in (1e-3, 5e-4):
            simulation = LieVariational(walker, h, coupling=five_motors)
            simulation.reset(walker.neutral, u=np.zeros(five_motors.nu))
            simulation.motors.effort[:] = motor
            simulation.step()
            errors.append(np.abs(simulation.u / h - expected).max())
        assert errors[1] < 1e-3 * np.abs(expected).max()
        assert errors[1] < 0.55 * errors[0]

    def test_the_ledger_of_a_driven_fall(self, walker, five_motors):
        simulation = LieVariational(walker, 1e-3, coupling=five_motors)
        simulation.reset(walker.neutral, u=np.zeros(five_motors.nu))
        simulation.joints.damping[6:] = 0.3
        simulation.motors.kp[6:], simulation.motors.kd[6:], simulation.motors.position[6:] = 50.0, 2.0, 0.3
        height = potential_energy(walker, walker.neutral)
        simulation.step(steps=500)
        u, D = simulation.u, five_motors.D
        kinetic = 0.5 * u @ (D.T @ mass_matrix(walker, simulation.q) @ D + np.diag(five_motors.rotor_inertia)) @ u
        change = kinetic + potential_energy(walker, simulation.q) - height
        turned_over = np.abs(simulation.work_done).sum()
        assert turned_over > 1.0
        assert abs(change - simulation.work_done.sum()) < 1e-4 * turned_over
