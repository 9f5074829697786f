# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Workspace inertia and bias: against the thesis' numbers, and against the whole equations with welded feet."""

from __future__ import annotations

import numpy as np
import pytest
from balancing_bipeds import EXPERIMENT_1, REFERENCE, W_TO_OURS, balance, biped, centaur

from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics import frame_jacobian, inverse_dynamics, link_acceleration, mass_matrix
from mbsim_ros.sim.simulation import Simulation

CENTAUR = {"central_link": "trunk", "feet": "a_foot b_foot c_foot", "support": "assumed"}


def test_inertia_and_bias_are_those_of_the_reference():
    sim = Simulation(biped())
    controller = balance(biped(), **EXPERIMENT_1)
    controller.update(0.0, sim.state())
    P, z = controller.workspace_dynamics()
    np.testing.assert_allclose(W_TO_OURS @ P @ W_TO_OURS, REFERENCE["workspace_inertia_P1"], atol=1e-6)
    np.testing.assert_allclose(W_TO_OURS @ z, REFERENCE["workspace_bias_z1"], atol=1e-6)


def random_state(model, seed: int) -> RobotState:
    rng = np.random.default_rng(seed)
    q = model.neutral.copy()
    q[:3] = rng.normal(size=3)
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:] = rng.uniform(-0.9, 0.9, size=model.nq - 7)
    return RobotState(0, q, rng.normal(size=model.nv))


def welded(model, feet: tuple[str, ...], state: RobotState, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P and z at the base's origin from the equations of motion with constraints: feet and arms do not accelerate.

    held (nv,): accelerations of the joints that no leg has; NaN for the others.
    """
    n, still = model.nv, np.zeros(model.nv)
    arms = [k for k in range(6, n) if np.isfinite(held[k])]
    J = np.vstack([frame_jacobian(model, state.q, foot) for foot in feet] + [np.eye(n)[arms]])
    bias = [-link_acceleration(model, state.q, state.v, still, foot) for foot in feet] + [held[arms]]
    M, h = mass_matrix(model, state.q), inverse_dynamics(model, state.q, state.v, still)
    # A force on the arms' actuators is allowed, one on the legs' is not: their constraints act through J only.
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    accelerations = []
    for F in (np.zeros(6), *np.eye(6)):
        right = np.concatenate([np.concatenate([F, np.zeros(n - 6)]) - h, *bias])
        accelerations.append(np.linalg.lstsq(system, right, rcond=None)[0][:6])
    free = accelerations[0]
    P = np.linalg.inv(np.array([a - free for a in accelerations[1:]]).T)
    return P, -P @ free


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("workspace", ["exact", "big_base"])
def test_welded_feet_against_the_whole_equations_of_motion(workspace, seed):
    model = centaur()
    state = random_state(model, seed)
    controller = balance(model, workspace=workspace, singular_reach=1e-6, hold_kp=0.0, hold_kv=3.0, **CENTAUR)
    controller.update(0.0, state)
    P, z = controller.workspace_dynamics()
    held = np.full(model.nv, np.nan)
    for name in ("shoulder", "slide"):
        held[model.joint(name).iv] = -3.0 * state.v[model.joint(name).iv]
    expected, bias = welded(model, ("a_foot", "b_foot", "c_foot"), state, held)
    to_centre = np.eye(6)
    x, y, w = model.constants[0, 22:25]
    to_centre[:3, 3:] = [[0, -w, y], [w, 0, -x], [-y, x, 0]]
    expected, bias = to_centre.T @ expected @ to_centre, to_centre.T @ bias
    tolerance = 1e-9 if workspace == "exact" else 1e-4
    np.testing.assert_allclose(P, expected, atol=tolerance * abs(expected).max())
    np.testing.assert_allclose(z, bias, atol=tolerance * abs(bias).max())


def test_a_straight_knee_keeps_the_inertia_finite():
    model = biped()
    q = model.neutral.copy()
    q[2] = 1.23  # all joints zero: straight legs
    controller = balance(model, position=(0.0, 0.0, 1.3), rpy=(0.0, 0.0, 0.0))
    command = controller.update(0.0, RobotState(0, q, np.zeros(model.nv)))
    P = controller.workspace_dynamics()[0]
    assert controller.straightness < 1e-6
    assert np.isfinite(P).all() and np.linalg.eigvalsh(P)[0] > 0.0
    assert np.linalg.eigvalsh(P)[-1] < 100 * model.mass
    assert np.abs(command.effort).max() < 100.0


def test_away_from_singularities_the_remedy_changes_nothing():
    sim = Simulation(biped())
    found = []
    for reach in (1e-6, 0.05):
        controller = balance(biped(), workspace="exact", singular_reach=reach, **EXPERIMENT_1)
        controller.update(0.0, sim.state())
        assert controller.straightness > 0.05
        found.append(controller.workspace_dynamics()[0])
    assert (found[0] == found[1]).all()
