# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Nelson and Quinn's formulation against their numbers, and the simulator's dynamics against it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import transforms3d

from mbsim_ros import load_urdf
from mbsim_ros.control.walker import quasicoordinates as nq
from mbsim_ros.coupling import couple, coupled_forward_dynamics, named

ROOT = Path(__file__).parent.parent.parent
REFERENCE = ROOT / "test" / "reference"
PAPER_MOTORS = ("waist", "femur_B", "tibia_B", "femur_A", "tibia_A")


@pytest.fixture(scope="module")
def reference_walker():
    return load_urdf((REFERENCE / "walker_dimensions.urdf").read_text(), base="floating")


@pytest.fixture(scope="module")
def walker():
    return load_urdf(ROOT / "urdf" / "walker.urdf.xacro")


def cases():
    return json.loads((REFERENCE / "nelson_walker.json").read_text())["acceleration_cases"]


@pytest.mark.parametrize("case", cases(), ids=lambda case: "five motors" if case["coupled"] else "17 joints")
def test_the_printed_accelerations(reference_walker, case):
    alpha = np.concatenate([case["R"], case["euler_xyz"], case["q17_tibia_rel_body"]])
    rate = np.concatenate([case["Rdot"], case["eulerdot"], case["qd17"]])
    D = nq.D3() if case["coupled"] else None
    found = nq.accelerations(nq.walker_limbs(reference_walker), alpha, rate, np.array(case["tau"]), D)
    assert np.abs(found - case["acc_[R,euler,joints]"]).max() <= 1e-9


def test_sizes_of_the_transformations():
    sizes = json.loads((REFERENCE / "nelson_walker.json").read_text())["dims"]
    assert {name: list(D.shape) for name, D in (("D1", nq.D1()), ("D2", nq.D2()), ("D3", nq.D3()))} == sizes


def test_partitioned_masses_add_up(walker):
    limbs = nq.walker_limbs(walker)
    assert sum(body.mass for limb in limbs for body in limb.bodies) == pytest.approx(walker.mass, rel=1e-14)


@pytest.mark.parametrize("coupling", ["normal", "femurs_reversed"])
@pytest.mark.parametrize("seed", range(5))
def test_the_simulator_has_the_same_accelerations(walker, coupling, seed):
    """The walker with its rotors, at random states that obey the coupling, under random motor torques."""
    rng = np.random.default_rng(seed)
    D = nq.D3(reversed_femurs=coupling == "femurs_reversed")
    x, u = 0.4 * rng.normal(size=11), rng.normal(size=11)
    tau = np.concatenate([np.zeros(6), 20.0 * rng.normal(size=5)])
    alpha, rate = D @ x, D @ u
    rotors = np.full(17, 0.02)
    found = nq.accelerations(nq.walker_limbs(walker), alpha, rate, tau, D, rotor_inertia=rotors)

    configuration = named(walker)[coupling]
    q, v = to_model(walker, alpha, rate)
    columns = [configuration.column_of(motor) for motor in PAPER_MOTORS]
    rates = np.concatenate([v[:6], np.zeros(5)])
    motor = np.zeros(configuration.nu)
    rates[columns], motor[columns] = u[6:], tau[6:]
    np.testing.assert_allclose(configuration.velocities(rates), v, atol=1e-13)
    a = coupled_forward_dynamics(walker, configuration, q, rates, motor)
    ours = np.concatenate([to_paper(alpha, rate, v, a), a[columns]])
    assert np.abs(ours - found).max() <= 1e-9 * max(1.0, np.abs(found).max())


@pytest.mark.parametrize("seed", range(3))
def test_seventeen_free_joints(walker, seed):
    rng = np.random.default_rng(seed)
    alpha, rate = 0.4 * rng.normal(size=23), rng.normal(size=23)
    found = nq.accelerations(nq.walker_limbs(walker), alpha, rate, rotor_inertia=np.full(17, 0.02))
    q, v = to_model(walker, alpha, rate)
    a = coupled_forward_dynamics(walker, couple(walker), q, v)
    joints = nq.joint_rates_matrix() @ found
    order = [walker.joint(name).iv for name in paper_joints()]
    ours, expected = np.concatenate([to_paper(alpha, rate, v, a), a[order]]), np.concatenate([found[:6], joints])
    assert np.abs(ours - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


def test_a_transposed_velocity_matrix_is_noticed(reference_walker, monkeypatch):
    """ERRATA C1: with the printed Φ transposed in Γ the accelerations are wrong, so the first test can fail."""
    case = cases()[0]
    true = nq._global_velocity

    def misprinted(limb, C_N, w):
        Phi, Phi_rate = true(limb, C_N, w)
        return Phi, Phi_rate.T

    monkeypatch.setattr(nq, "_global_velocity", misprinted)
    alpha = np.concatenate([case["R"], case["euler_xyz"], case["q17_tibia_rel_body"]])
    rate = np.concatenate([case["Rdot"], case["eulerdot"], case["qd17"]])
    found = nq.accelerations(nq.walker_limbs(reference_walker), alpha, rate, np.array(case["tau"]), nq.D3())
    assert np.abs(found - case["acc_[R,euler,joints]"]).max() > 1e-3


def paper_joints():
    return ["body", *(f"{leg}_{part}" for leg in nq.LIMBS for part in "ft")]


def to_model(model, alpha, rate):
    """q and v in the model's layout."""
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    R = nq.euler_matrix(alpha[3:6])
    w, x, y, z = transforms3d.quaternions.mat2quat(R)
    q[:7] = [*alpha[:3], x, y, z, w]
    v[:3], v[3:6] = R.T @ rate[:3], nq.euler_block(alpha[3:6]) @ rate[3:6]
    positions, rates = nq.joint_rates_matrix() @ alpha, nq.joint_rates_matrix() @ rate
    for k, name in enumerate(paper_joints()):
        q[model.joint(name).iq], v[model.joint(name).iv] = positions[k], rates[k]
    return q, v


def to_paper(alpha, rate, v, a):
    """R'' and Euler angles'' from the accelerations of the base in its own axes."""
    R, E = nq.euler_matrix(alpha[3:6]), nq.euler_block(alpha[3:6])
    linear = R @ (a[:3] + np.cross(v[3:6], v[:3]))
    return np.concatenate([linear, np.linalg.solve(E, a[3:6] - nq.euler_block_rate(alpha[3:6], rate[3:6]) @ rate[3:6])])
