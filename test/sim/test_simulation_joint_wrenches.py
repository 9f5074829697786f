# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What joints carry in a simulation: against Newton-Euler as the step falls, along axes, at rest, after snapshots."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import sim_robots

from mbsim_ros import Simulation
from mbsim_ros.dynamics import forward_dynamics, joint_wrenches
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.model.assembly.builder import ModelBuilder

sys.path.append(str(Path(__file__).parents[1] / "integrators"))
from integrator_robots import tree

KINDS = ("revolute", "prismatic", "spherical", "planar", "revolute")
PUSH = np.array([3.0, -2.0, 1.0, 0.4, 0.3, -0.2])


@pytest.mark.parametrize(
    ("scheme", "base"),
    [
        ({}, "fixed"),
        ({"quadrature": "trapezoidal", "retraction": "exp"}, "floating"),
        ({"integrator": "quaternion_variational"}, "floating"),
    ],
)
def test_wrenches_tend_to_those_of_newton_and_euler(scheme, base):
    """At second order, on a tree with joints of every kind that is driven and pushed."""
    model = tree(*KINDS, base=base)
    link = model.joints[-1].child_link
    rng = np.random.default_rng(4)
    efforts = dict(zip(sim_efforts(model), rng.normal(size=9), strict=False))
    start = 0.5 * rng.normal(size=model.nv)
    errors = []
    for dt in (3.2e-3, 1.6e-3):
        sim = Simulation(model, dt=dt, terrain=False, **scheme)
        sim.reset(model.neutral, start)
        sim.push(link, PUSH[:3], PUSH[3:])
        tau = np.zeros(model.nv)
        for name, effort in efforts.items():
            tau[model.joint(name).iv] = effort
        states, found = [(sim.q, sim.v)], []
        for _ in range(round(0.032 / dt)):
            sim.step(tau=efforts)
            states.append((sim.q, sim.v))
            found.append(sim.joint_wrench_rows())
        expected = [newton_euler(model, q, v, tau, {link: PUSH}) for q, v in states]
        if scheme.get("integrator") == "quaternion_variational":  # at the node where the step began
            pairs = zip(found[1:], expected[1:], strict=False)
        else:  # mean over the step
            means = 0.5 * (np.array(expected[1:]) + np.array(expected[:-1]))
            pairs = zip(found, means, strict=True)
        errors.append(max(np.abs(ours - theirs).max() for ours, theirs in pairs))
    assert errors[1] < 2e-3 * np.abs(expected).max()
    assert errors[0] / errors[1] > 3.4


def sim_efforts(model):
    """Joints that take an effort."""
    return [joint.name for joint in model.joints if joint.nv == 1]


def newton_euler(model, q, v, tau, wrenches):
    """Wrenches (joints, 6) at an instant."""
    a = forward_dynamics(model, q, v, tau, wrenches=wrenches)
    return np.array(list(joint_wrenches(model, q, v, a, wrenches=wrenches).values()))


def test_along_the_axis_it_is_exactly_what_acts_on_the_joint():
    """Drive, damping and effort of the same step, and a spring and the ground on other bodies; less what the rotor is."""
    sim = Simulation(sim_robots.crawler(), dt=1e-3, tolerance=0.0)
    sim.reset("tossed")
    sim.drive(position={"fl": 0.3, "rr": -0.2})
    sim.advance(300)  # it has landed on some of its feet
    for _ in range(20):
        q, v = sim.q, sim.v
        sim.step(tau={"fr": 2.0})
        mean = (sim.q[7:] - q[7:]) / sim.dt
        middle = 0.5 * (sim.q[7:] + q[7:])
        found = sim.joint_wrenches()
        for place, name in enumerate(sim.model.joint_names):
            expected = 2.0 if name == "fr" else 0.0
            expected -= 0.05 * mean[place]
            if name in ("fl", "rr"):
                gains, target = sim.gains[name], 0.3 if name == "fl" else -0.2
                expected += gains.kp * (target - middle[place]) - gains.kd * mean[place]
            assert found[name][4] == pytest.approx(expected, abs=1e-8)
    assert any(report.is_touching for report in sim.contacts()), v


def test_at_rest_feet_carry_the_weight():
    """The four legs together carry the body, each with the moment of where it stands: a balance of the body alone."""
    sim = Simulation(sim_robots.crawler(), dt=1e-3, springs=())
    sim.hold()
    sim.advance(3000)
    found, total = sim.joint_wrenches(), np.zeros(6)
    body = sim.link_pose("body")
    for joint in sim.model.joints:
        X = sim.link_pose(joint.child_link)
        force, torque = X[:3, :3] @ found[joint.name][:3], X[:3, :3] @ found[joint.name][3:]
        total[:3] += force
        total[3:] += torque + np.cross(X[:3, 3] - body[:3, 3], force)
    weight = sim.model.description.link("body").inertial.mass * 9.81
    assert -total == pytest.approx([0, 0, weight, 0, 0, 0], abs=1e-6)


def test_couplings_show_what_they_transmit():
    """Without motion the torque of a locked joint is that of the weight beyond it, whatever its own drive does."""
    sim = Simulation(sim_robots.pendulum(), dt=1e-3, terrain=False)
    free = Simulation(sim_robots.pendulum(), dt=1e-3, terrain=False)
    sim.reset({"shoulder": 0.5, "elbow": 0.3})
    sim.couple({"locked": ["shoulder", "elbow"]})
    assert not sim.joint_wrench_rows().any()
    sim.step()
    free.reset({"shoulder": 0.5, "elbow": 0.3})
    still = np.zeros(2)
    expected = joint_wrenches(free.model, free.q, still, still)
    for name, wrench in sim.joint_wrenches().items():
        assert wrench == pytest.approx(expected[name], abs=1e-9)


def test_pushes_that_ended_are_forgotten_and_snapshots_remember():
    builder = ModelBuilder("pole").link("world").link("rod", mass=1.0, com=(0, 0, -0.5), box=(0.1, 0.1, 1.0))
    model = builder.joint("pivot", "continuous", "world", "rod", axis=(0, 1, 0)).build("fixed")
    sim = Simulation(model, dt=1e-3, terrain=False)
    assert sim.joint_wrenches()["pivot"].tolist() == [0.0] * 6
    sim.push("rod", force=(0, 5, 0), at=(0, 0, -1))
    sim.step()
    assert sim.joint_wrenches()["pivot"] == pytest.approx([0, -5, 9.81, -5, 0, 0], abs=1e-9)
    kept, before = sim.snapshot(), sim.joint_wrench_rows()
    sim.push("rod")
    assert sim.joint_wrench_rows().tobytes() == before.tobytes()  # of the last step, in which it was there
    sim.step()
    assert sim.joint_wrenches()["pivot"] == pytest.approx([0, 0, 9.81, 0, 0, 0], abs=1e-9)
    sim.restore(kept)
    assert sim.joint_wrench_rows().tobytes() == before.tobytes()
    recording = sim.run(0.01, record=("joint_wrenches",))
    assert recording.joint_wrenches.shape == (11, 1, 6)


def test_after_a_step_that_failed_nothing_is_made_up():
    sim = Simulation(sim_robots.pendulum(), dt=1e-3, terrain=False)
    sim.step()
    sim.push(sim.model.joints[1].child_link, force=(1e200, 0, 0))
    with pytest.raises(SimulationDiverged):
        sim.step()
    with pytest.raises(ValueError, match="take a step"):
        sim.joint_wrenches()
    sim.push(sim.model.joints[1].child_link)
    sim.step()
    assert np.isfinite(sim.joint_wrench_rows()).all()


def test_entities_of_a_scene_have_theirs():
    arm = sim_robots.pendulum()
    scene = Simulation({"left": arm, "right": arm}, dt=1e-3, terrain=False)
    alone = Simulation(arm, dt=1e-3, terrain=False)
    for sim in (scene, alone):
        sim.advance(50)
    found = scene.joint_wrenches()
    for name, wrench in alone.joint_wrenches().items():
        for entity in ("left", "right"):
            assert found[f"{entity}/{name}"] == pytest.approx(wrench, abs=1e-9)


def test_schemes_that_cannot_tell_say_so():
    for scheme in ({"integrator": "rk4"}, {"order": 4}):
        sim = Simulation(sim_robots.pendulum().with_(damping=0.0), dt=1e-3, terrain=False, stops=False, **scheme)
        assert not sim.capabilities.joint_wrenches
        with pytest.raises(UnsupportedModel, match="lie_variational"):
            sim.joint_wrenches()
