# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Cable drives, N (29): joints whose rotation is measured from a link further inboard, with axes at any angle."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import Simulation
from mbsim_ros.coupling.configuration import couple
from mbsim_ros.coupling.coupled_dynamics import coupled_forward_dynamics
from mbsim_ros.coupling.definition import CouplingError
from mbsim_ros.dynamics.kinematics import link_twist
from mbsim_ros.model.loading import load_urdf

AXES = {"hip": (0.0, 1.0, 0.0), "knee": (0.0, 0.6, 0.8), "ankle": (1.0, 0.0, 0.0)}


def leg(axes=AXES) -> str:
    """A chain of three links on a fixed body, with these axes."""
    links, joints, parent = (
        '<link name="body"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
        "",
        "body",
    )
    for k, (name, axis) in enumerate(axes.items()):
        link = f"link_{name}"
        links += f"""<link name="{link}"><inertial><origin xyz="0.05 0.02 -{0.1 + 0.03 * k}"/><mass value="{1.5 - 0.3 * k}"/>
            <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>"""
        joints += f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{link}"/>
            <origin xyz="0.02 0 -0.2" rpy="0.1 0 0.2"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/></joint>"""
        parent = link
    return f'<robot name="leg">{links}{joints}</robot>'


def test_a_motor_turns_a_link_about_its_joint_seen_from_the_body():
    """Whatever else moves: its rate is that of the link beyond the joint, about the joint's axis, from where it sits."""
    model = load_urdf(leg(), "fixed")
    cable = couple(model, {"m": {"knee": 1.0}}, measured_from={"knee": "body"}, rotor_inertia={})
    rng = np.random.default_rng(7)
    for _ in range(5):
        q, u = rng.uniform(-2, 2, 3), rng.uniform(-3, 3, cable.nu)
        turn = link_twist(model, q, cable.velocities(u), "link_knee")[3:]
        assert abs(turn @ AXES["knee"] - u[cable.column_of("m")]) < 1e-13
    parallel = load_urdf(leg(dict.fromkeys(AXES, (0.0, 1.0, 0.0))).replace('rpy="0.1 0 0.2"', 'rpy="0 0 0"'), "fixed")
    motors = {"hip_motor": {"hip": 1}, "knee_motor": {"knee": 1}, "ankle_motor": {"ankle": 1}}
    zeros = couple(parallel, motors, measured_from={"knee": "body", "ankle": "body"}, rotor_inertia={})
    assert np.allclose(zeros.D, [[1, 0, 0], [-1, 1, 0], [0, -1, 1]], atol=1e-15)  # N (29): each from the body


def test_accelerations_are_those_of_a_projected_pinocchio():
    """With the coefficient made from Pinocchio's axes, and with a brake in the place of the motor."""
    text = leg()
    model, theirs = load_urdf(text, "fixed"), pinocchio.buildModelFromXML(text)
    data = theirs.createData()
    rng = np.random.default_rng(3)
    cables = couple(model, {"m": {"knee": 2.0}}, measured_from={"knee": "body"}, rotor_inertia={"m": 0.3})
    brake = couple(model, {}, ["knee"], measured_from={"knee": "body"})
    for _ in range(10):
        q = rng.uniform(-2, 2, 3)
        state = np.concatenate([np.column_stack([np.cos(q), np.sin(q)]).ravel()])
        pinocchio.computeJointJacobians(theirs, data, state)
        jacobian = pinocchio.getJointJacobian(theirs, data, 2, pinocchio.ReferenceFrame.WORLD)[3:]
        product = float(jacobian[:, 0] @ jacobian[:, 1])
        for coupling, D, rotor in (
            (cables, np.array([[1.0, 0, 0], [-product, 0, 2.0], [0, 1.0, 0]]), np.diag([0, 0, 0.3])),
            (brake, np.array([[1.0, 0], [-product, 0], [0, 1.0]]), np.zeros((2, 2))),
        ):
            u = rng.uniform(-3, 3, D.shape[1])
            M = np.asarray(pinocchio.crba(theirs, data, state))
            M = np.triu(M) + np.triu(M, 1).T
            bias = pinocchio.nonLinearEffects(theirs, data, state, D @ u)
            expected = np.linalg.solve(D.T @ M @ D + rotor, -D.T @ bias)
            assert np.allclose(coupled_forward_dynamics(model, coupling, q, u), expected, rtol=1e-10, atol=1e-10)


def test_a_simulation_follows_the_equations_of_motion():
    """In second order, under gravity, against a solver of others; the body sees the link turn as the motor does."""
    model = load_urdf(leg(), "fixed")
    definition = {"motors": {"m": {"knee": 1.0}}, "measured_from": {"knee": "body"}, "rotor_inertia": {"m": 0.02}}
    coupling = couple(model, **definition)

    def rates(_, y):
        return np.concatenate([coupling.velocities(y[3:]), coupled_forward_dynamics(model, coupling, y[:3], y[3:])])

    start = np.array([0.4, -0.3, 0.8])
    exact = solve_ivp(rates, (0, 0.5), np.concatenate([start, np.zeros(3)]), rtol=1e-11, atol=1e-12).y[:3, -1]
    errors = []
    for dt in (2e-3, 1e-3):
        sim = Simulation(model, dt=dt, coupling=definition)
        sim.reset(start)
        sim.run(0.5)
        errors.append(np.abs(sim.q - exact).max())
    assert errors[1] < 1e-5 and 3.5 < errors[0] / errors[1] < 4.5


def test_what_would_make_d_change_is_refused():
    """From two axes away that are not parallel, and from a link that is not inboard."""
    model = load_urdf(leg(), "fixed")
    with pytest.raises(CouplingError, match="'link_knee'.*change with the configuration"):
        couple(model, {"m": {"ankle": 1}}, measured_from={"ankle": "body"})
    with pytest.raises(CouplingError, match="not between"):
        couple(model, {"m": {"hip": 1}}, measured_from={"hip": "link_ankle"})
