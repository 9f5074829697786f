# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Springs: energy and forces belong together, action equals reaction, G's geometry, and the hard corners."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import derivative, random_tree

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import frame_jacobian
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.elastic import attach, spring_action, spring_energy, spring_forces, spring_lengths, spring_stiffness
from mbsim_ros.elastic.springs_kernel import DAMPING_TANGENT, STIFFNESS_TANGENT, STORED, TENSION
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.settings import Attachment, Spring

ROBOTS = {
    "arm": (("revolute",) * 4, "fixed"),
    "walker": (("revolute",) * 7, "floating"),
    "mixed": (("revolute", "spherical", "prismatic", "planar", "floating", "fixed", "continuous"), "floating"),
    "mimic": (("revolute", "mimic", "prismatic", "mimic", "revolute"), "floating"),
}


def robot(name, seed):
    types, base = ROBOTS[name]
    return make_model(random_tree(types, np.random.default_rng([seed, 17])), base)


def random_springs(model, rng, tension_only=False, damping=0.0, internal=False):
    """Three springs with two, three and four points on random links; `internal`: none of them to the world."""
    links = [name for name in model.link_names if not internal or model.frame(name).body >= 0]
    springs = []
    for number, count in enumerate((2, 3, 4)):
        while True:
            chosen = [str(name) for name in rng.choice(links, count)]
            if len({model.frame(name).body for name in chosen}) > 1:
                break
        points = tuple(Attachment(name, tuple(rng.uniform(-0.3, 0.3, 3).tolist())) for name in chosen)
        springs.append(Spring(f"s{number}", points, float(rng.uniform(10, 50)), 0.4, damping, tension_only))
    return attach(model, springs)


def slider(**options):
    """A mass on a rail along x with a spring from the world's origin."""
    builder = ModelBuilder("slider")
    builder.link("world")
    builder.link("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    limits = {"lower": -9.0, "upper": 9.0, "effort": 9.0, "velocity": 9.0}
    builder.joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), **limits)
    model = builder.build()
    values = {"stiffness": 100.0, "rest_length": 0.5, "damping": 4.0} | options
    points = (Attachment("world", (0.0, 0.0, 0.0)), Attachment("mass", (0.0, 0.0, 0.0)))
    return model, attach(model, [Spring("spring", points, **values)])


def goetz_chain(springs):
    """G 2.2: three links of length 1 in the plane, fastenings of 0.4 across their ends, the first across the base."""
    builder = ModelBuilder("goetz")
    builder.link("world")
    parent = "world"
    for i in range(3):
        builder.link(f"link_{i}", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
        xyz = (0.0, 0.0, 0.0) if i == 0 else (1.0, 0.0, 0.0)
        builder.joint(f"phi_{i}", "continuous", parent, f"link_{i}", xyz=xyz, axis=(0, 0, 1))
        parent = f"link_{i}"
    model = builder.build()
    # r_i is fixed to link i − 1 (ERRATA A3), of length r_i (A4), the base's along y; r_{i+1} to the end of link i
    ends = [Attachment("world", (0.0, 0.4, 0.0)), *(Attachment(f"link_{i}", (1.0, 0.4, 0.0)) for i in range(3))]
    if springs == "mono":
        return model, attach(model, [Spring(f"s{i}", (ends[i], ends[i + 1]), 1.0, 0.2) for i in range(3)])
    return model, attach(model, [Spring("s", tuple(ends), 1.0, 0.6)])


def test_lengths_of_goetz():
    """The numbers of ERRATA A3, G (2.6) and (4.44)."""
    phi = np.array([0.3, -0.5, 0.8])
    model, springs = goetz_chain("mono")
    lengths = spring_lengths(model, springs, phi)
    np.testing.assert_allclose(lengths, [0.88197, 1.19278, 0.72330], atol=5e-6)
    closed = np.hypot(np.cos(phi) - 0.4 * np.sin(phi), -0.4 + np.sin(phi) + 0.4 * np.cos(phi))  # (4.44)
    np.testing.assert_allclose(lengths, closed, atol=1e-15)


def test_energy_and_gradient_of_goetz():
    """G (2.3), (2.4) and the closed forms of their gradients: s_i depends on phi_i only."""
    phi = np.array([0.3, -0.5, 0.8])
    x, y = np.cos(phi) - 0.4 * np.sin(phi), -0.4 + np.sin(phi) + 0.4 * np.cos(phi)
    s = np.hypot(x, y)
    slope = (x * (-np.sin(phi) - 0.4 * np.cos(phi)) + y * (np.cos(phi) - 0.4 * np.sin(phi))) / s
    model, mono = goetz_chain("mono")
    assert spring_energy(model, mono, phi) == pytest.approx(0.5 * ((s - 0.2) ** 2).sum(), rel=1e-14)
    np.testing.assert_allclose(spring_forces(model, mono, phi), -(s - 0.2) * slope, atol=1e-14)  # (2.8)
    model, multi = goetz_chain("multi")
    assert spring_energy(model, multi, phi) == pytest.approx(0.5 * (s.sum() - 0.6) ** 2, rel=1e-14)
    np.testing.assert_allclose(spring_forces(model, multi, phi), -(s.sum() - 0.6) * slope, atol=1e-14)  # (2.9)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tension_only", [False, True])
def test_forces_are_the_gradient_of_the_energy(name, seed, tension_only):
    model, rng = robot(name, seed), np.random.default_rng(seed)
    springs, q = random_springs(model, rng, tension_only), random_configuration(model, rng)
    forces = spring_forces(model, springs, q)
    differences = [-derivative(lambda q: spring_energy(model, springs, q), model, q, e) for e in np.eye(model.nv)]
    assert np.abs(forces - differences).max() <= 1e-7 * max(1.0, np.abs(forces).max())


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(4))
def test_damping_takes_exactly_what_is_booked(name, seed):
    model, rng = robot(name, seed), np.random.default_rng(seed)
    springs, q = random_springs(model, rng, seed % 2 == 1, 3.0), random_configuration(model, rng)
    v = random_velocity(model, rng)
    action = spring_action(model, springs, q, v)
    power = v @ (spring_forces(model, springs, q, v) - spring_forces(model, springs, q))
    assert action.dissipated >= 0.0
    assert power == pytest.approx(-action.dissipated, abs=1e-11 * max(1.0, action.dissipated))
    rate = derivative(lambda q: spring_energy(model, springs, q), model, q, v)
    assert v @ spring_forces(model, springs, q) == pytest.approx(-rate, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["walker", "mixed", "mimic"])
@pytest.mark.parametrize("seed", range(4))
def test_action_equals_reaction(name, seed):
    """Springs between bodies put no force and no torque on the whole: the floating base's forces are zero."""
    model, rng = robot(name, seed), np.random.default_rng(seed)
    springs, q = random_springs(model, rng, damping=2.0, internal=True), random_configuration(model, rng)
    v = random_velocity(model, rng)
    wrenches = spring_action(model, springs, q, v).wrenches
    assert np.abs(wrenches.sum(axis=0)).max() <= 1e-13 * np.abs(wrenches).max()
    forces = spring_forces(model, springs, q, v)
    assert np.abs(forces[:6]).max() <= 1e-13 * np.abs(forces).max()


@pytest.mark.parametrize("name", ROBOTS)
def test_forces_by_jacobians(name):
    """The same from the tensions and the links' Jacobians, point by point."""
    model, rng = robot(name, 5), np.random.default_rng(5)
    listed = random_springs(model, rng, damping=2.0)
    q, v = random_configuration(model, rng), random_velocity(model, rng)
    kinematics, tau = forward_kinematics(model, q), np.zeros(model.nv)
    tensions = spring_action(model, listed, q, v).states[:, TENSION]
    names = {frame.body: link for link, frame in reversed(model.frames.items())}
    for s, tension in enumerate(tensions):
        places, jacobians = [], []
        for k in range(listed.start[s], listed.start[s + 1]):
            body = int(listed.point_row[k]) - 1
            X = kinematics.X_WB[body] if body >= 0 else np.eye(4)
            places.append(X[:3, :3] @ listed.point[k] + X[:3, 3])
            J = frame_jacobian(model, q, names[body], "world") if body >= 0 else np.zeros((6, model.nv))
            jacobians.append(J[:3] - np.cross(places[-1], J[3:], axisb=0).T)
        for k in range(len(places) - 1):
            n = places[k + 1] - places[k]
            tau -= tension * n / np.linalg.norm(n) @ (jacobians[k + 1] - jacobians[k])
    np.testing.assert_allclose(spring_forces(model, listed, q, v), tau, atol=1e-12 * np.abs(tau).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_stiffness_is_semidefinite_and_damping_is_the_derivative(name):
    model, rng = robot(name, 6), np.random.default_rng(6)
    springs, q = random_springs(model, rng, damping=2.0), random_configuration(model, rng)
    v = random_velocity(model, rng)
    K, C = spring_stiffness(model, springs, q, v)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.abs(K).max()
    difference = spring_forces(model, springs, q, v) - spring_forces(model, springs, q)
    np.testing.assert_allclose(difference, -C @ v, atol=1e-12 * np.abs(C).max())


def test_stiffness_of_a_straight_spring_is_exact():
    model, springs = slider()
    K, C = spring_stiffness(model, springs, [0.8], [0.0])
    np.testing.assert_allclose([K[0, 0], C[0, 0]], [100.0, 4.0], rtol=1e-15)


@pytest.mark.parametrize(
    ("x", "rate", "tension", "stored"),
    [
        (0.8, 0.0, 30.0, 4.5),
        (0.8, 2.0, 38.0, 4.5),
        (0.4, 0.0, 0.0, 0.0),  # slack
        (0.4, 9.0, 0.0, 0.0),
        (0.8, -9.0, 0.0, 4.5),  # shortened faster than it pulls: it does not push
        (0.5025, 1.0, 0.25 + 4.0 * 0.5, 0.5 * 100 * 0.0025**2),  # damping fades in over a hundredth of its length
    ],
)
def test_a_cable_pulls_and_never_pushes(x, rate, tension, stored):
    model, springs = slider(tension_only=True)
    action = spring_action(model, springs, np.array([x]), np.array([rate]))
    assert action.states[0, TENSION] == pytest.approx(tension, abs=1e-12)
    assert action.states[0, STORED] == pytest.approx(stored, abs=1e-12)
    assert spring_forces(model, springs, [x], [rate])[0] == pytest.approx(-tension, abs=1e-12)
    assert action.dissipated == pytest.approx((tension - 100.0 * max(0.0, x - 0.5)) * rate, abs=1e-12)
    assert action.dissipated >= 0.0
    assert action.states[0, [STIFFNESS_TANGENT, DAMPING_TANGENT]].min() >= 0.0


def test_a_cable_becomes_taut_continuously():
    model, springs = slider(tension_only=True)
    at = [spring_forces(model, springs, [0.5 + x], [3.0])[0] for x in (-1e-9, 0.0, 1e-9)]
    np.testing.assert_allclose(at, 0.0, atol=1e-4)


@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_a_spring_of_no_length_has_no_direction(rest):
    model, springs = slider(rest_length=rest)
    forces = spring_forces(model, springs, [0.0], [1.0])
    assert forces[0] == 0.0
    assert spring_energy(model, springs, [0.0]) == pytest.approx(0.5 * 100 * rest**2)
    K, _ = spring_stiffness(model, springs, [0.0])
    assert np.isfinite(K).all()


def test_points_that_meet_leave_the_rest_of_a_spring_at_work():
    """Via point on the mass itself, where the spring ends: the first segment acts as if it were alone."""
    model, _ = slider()
    here = Attachment("mass", (0.0, 0.0, 0.0))
    springs = attach(model, [Spring("s", (Attachment("world", (0.0, 0.0, 0.0)), here, here), 100.0, 0.5)])
    assert spring_forces(model, springs, [0.8])[0] == pytest.approx(-30.0)
    action = spring_action(model, springs, np.array([0.8]))
    assert np.isfinite(action.segments).all()


def test_springs_of_a_sidecar(tmp_path):
    builder = ModelBuilder("slider")
    builder.link("world")
    builder.link("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("rail", "continuous", "world", "mass", axis=(0, 0, 1))
    (tmp_path / "s.urdf").write_text(builder.urdf())
    (tmp_path / "s.mbsim.yaml").write_text(
        "springs: {one: {from: {link: world, point: [0, 2, 0]}, to: {link: mass, point: [1, 0, 0]}, stiffness: 3, "
        "rest_length: 0.5}}"
    )
    model = load_urdf(tmp_path / "s.urdf", sidecar=tmp_path / "s.mbsim.yaml")
    springs = attach(model)
    assert springs.names == ("one",)
    assert spring_energy(model, springs, [0.0]) == pytest.approx(1.5 * (np.sqrt(5) - 0.5) ** 2)
    bare = slider()[0]
    assert len(attach(bare)) == 0
    assert not spring_forces(bare, attach(bare), [0.1]).any()


@pytest.mark.parametrize(
    ("spring", "reason"),
    [
        (Spring("s", (Attachment("world", (0, 0, 0)),), 1.0, 0.1), "expected two points or more, got 1"),
        (Spring("s", (Attachment("world", (0, 0, 0)), Attachment("mas", (0, 0, 0))), 1.0, 0.1), "did you mean 'mass'?"),
        (
            Spring("s", (Attachment("mass", (0, 0, 0)), Attachment("mass", (1, 0, 0))), 1.0, 0.1),
            "all its points are on",
        ),
        (
            Spring("s", (Attachment("world", (0, 0, 0)), Attachment("mass", (0, 0, 0))), -1.0, 0.1),
            "stiffness of zero or",
        ),
        (
            Spring("s", (Attachment("world", (0, 0, 0)), Attachment("mass", (0, 0, 0))), 1.0, np.nan),
            "rest length of zero",
        ),
        (Spring("s", (Attachment("world", (0, 0, 0)), Attachment("mass", (0, 0, np.inf))), 1.0, 1.0), "three finite"),
    ],
)
def test_refusals_of_springs(spring, reason):
    model, _ = slider()
    with pytest.raises(ValueError, match="spring 's'") as error:
        attach(model, [spring])
    assert reason in str(error.value)


def test_springs_of_another_model_and_twice_the_same_name():
    model, springs = slider()
    with pytest.raises(ValueError, match="expected those of model 'slider'"):
        spring_energy(slider()[0], springs, [0.1])
    ends = (Attachment("world", (0, 0, 0)), Attachment("mass", (0, 0, 0)))
    with pytest.raises(ValueError, match="spring 's': given twice"):
        attach(model, [Spring("s", ends, 1.0, 0.1)] * 2)
    with pytest.raises(ValueError, match="q: expected finite numbers"):
        spring_energy(model, springs, [np.nan])
