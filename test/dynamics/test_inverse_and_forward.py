# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The two public functions themselves: arguments, wrenches, mimic joints, links without mass. Oracles: closed forms
and Pinocchio; every robot of example-robot-data is in test_against_pinocchio.py."""

from __future__ import annotations

import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.dynamics.forward import MasslessJoint, forward_dynamics
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.loading import load_urdf

PENDULUM = Path(__file__).resolve().parents[2] / "urdf/double_pendulum.urdf"


@pytest.fixture(scope="module")
def pendulum():
    return load_urdf(PENDULUM)


@pytest.fixture(scope="module")
def floating():
    mass = '<inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial>'
    return load_urdf(
        PENDULUM.read_text().replace('<link name="world"/>', f'<link name="world">{mass}</link>'), base="floating"
    )


def random_state(model, seed=0):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    for start in model.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, v, a


def test_double_pendulum_by_lagrange(pendulum):
    """Two uniform rods (m, l, J about the centre): Lagrange's equations written out by hand."""
    m, length, J, g = 1.0, 1.0, (3 * 0.02**2 + 1.0) / 12.0, 9.81
    (q1, q2), (v1, v2), (a1, a2) = (x.tolist() for x in random_state(pendulum))
    c2, s2 = np.cos(q2), np.sin(q2)
    m22 = J + m * length**2 / 4
    m12 = m22 + m * length**2 / 2 * c2
    m11 = 2 * J + m * length**2 * (1.5 + c2)
    h = -m * length**2 / 2 * s2
    tau1 = m11 * a1 + m12 * a2 + h * (2 * v1 * v2 + v2**2) + g * m * length * (1.5 * np.sin(q1) + 0.5 * np.sin(q1 + q2))
    tau2 = m12 * a1 + m22 * a2 - h * v1**2 + g * m * length * 0.5 * np.sin(q1 + q2)
    tau = inverse_dynamics(pendulum, [q1, q2], [v1, v2], [a1, a2])
    np.testing.assert_allclose(tau, [tau1, tau2], rtol=1e-9)
    np.testing.assert_allclose(forward_dynamics(pendulum, [q1, q2], [v1, v2], tau), [a1, a2], rtol=1e-9)


def test_a_thrown_body_falls(floating):
    """Whatever it does with its joint free: without torques the centre of mass accelerates with gravity."""
    q, v, _ = random_state(floating)
    a = forward_dynamics(floating, q, v, np.zeros(floating.nv), gravity=(0.3, -0.2, -1.6))
    assert np.abs(inverse_dynamics(floating, q, v, a, gravity=(0.3, -0.2, -1.6))).max() < 1e-12
    still = forward_dynamics(floating, floating.neutral, np.zeros(floating.nv), np.zeros(floating.nv))
    np.testing.assert_allclose(still, [0, 0, -9.81, 0, 0, 0, 0, 0], atol=1e-12)


def test_wrenches_act_where_and_as_they_are_given(pendulum):
    """A force on the tip of the lower rod, in its axes: torque = lever arm × force, by hand."""
    q, zero = np.array([0.4, -0.9]), np.zeros(2)
    force = np.array([3.0, 5.0, -2.0])
    moment = np.array([0.1, 0.7, 0.2])
    without = inverse_dynamics(pendulum, q, zero, zero)
    with_it = inverse_dynamics(pendulum, q, zero, zero, wrenches={"lower_rod": [*force, *moment]})
    # The force acts at the elbow (the link's origin): no torque about the elbow but the moment's y component.
    turn = q.sum()
    world = np.array(
        [np.cos(turn) * force[0] + np.sin(turn) * force[2], -np.sin(turn) * force[0] + np.cos(turn) * force[2]]
    )
    elbow = np.array([-np.sin(q[0]), -np.cos(q[0])])  # from the shoulder, (x, z)
    shoulder = elbow[1] * world[0] - elbow[0] * world[1] + moment[1]
    np.testing.assert_allclose(without - with_it, [shoulder, moment[1]], rtol=1e-12)


def test_wrenches_on_the_world_do_nothing(pendulum):
    q, v, a = random_state(pendulum)
    expected = inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_array_equal(inverse_dynamics(pendulum, q, v, a, wrenches={"world": np.ones(6)}), expected)


def test_mimic_joints_move_with_their_leader():
    """Against the same robot without the mimic tag, projected by hand with v_tree = (v, −2 v)."""
    text = PENDULUM.read_text()
    tied = load_urdf(
        text.replace(
            '<origin xyz="0 0 -1"/>', '<origin xyz="0 0 -1"/><mimic joint="shoulder" multiplier="-2" offset="0.3"/>'
        )
    )
    free = load_urdf(text)
    assert (tied.nq, tied.nv, tied.joint_names) == (1, 1, ("shoulder", "elbow"))
    q, v, a, G = np.array([0.7]), np.array([1.3]), np.array([-0.4]), np.array([[1.0], [-2.0]])
    q_tree, v_tree, a_tree = np.array([0.7, -1.4 + 0.3]), G @ v, G @ a
    tau = inverse_dynamics(tied, q, v, a)
    np.testing.assert_allclose(tau, G.T @ inverse_dynamics(free, q_tree, v_tree, a_tree), rtol=1e-14)
    np.testing.assert_allclose(forward_dynamics(tied, q, v, tau), a, rtol=1e-12)


def test_rotor_inertia_adds_to_its_joint(pendulum):
    from dataclasses import replace

    from mbsim_ros.model.assembly.assemble import make_model

    description = pendulum.description
    joints = tuple(replace(joint, rotor_inertia=0.25 * (i + 1)) for i, joint in enumerate(description.joints))
    geared = make_model(replace(description, joints=joints))
    q, v, a = random_state(pendulum)
    added = inverse_dynamics(geared, q, v, a) - inverse_dynamics(pendulum, q, v, a)
    np.testing.assert_allclose(added, [0.25 * a[0], 0.5 * a[1]], rtol=1e-12)
    np.testing.assert_allclose(forward_dynamics(geared, q, v, inverse_dynamics(geared, q, v, a)), a, rtol=1e-12)


def test_a_link_without_inertia_is_named():
    text = PENDULUM.read_text()
    empty = re.sub(r'(<link name="lower_rod">\s*)<inertial>.*?</inertial>', r"\1", text, flags=re.DOTALL)
    with pytest.warns(Warning):
        model = load_urdf(empty)
    with pytest.raises(MasslessJoint, match=r"joint 'elbow' moves no inertia \(link 'lower_rod'"):
        forward_dynamics(model, [0.1, 0.2], [0, 0], [0, 0])
    assert np.isfinite(inverse_dynamics(model, [0.1, 0.2], [0, 0], [0, 0])).all()


class TestBadArguments:
    @pytest.mark.parametrize("function", [inverse_dynamics, forward_dynamics])
    @pytest.mark.parametrize(
        ("position", "value", "says"),
        [
            (0, [0.0], r"q: expected shape \(9,\), got \(1,\)"),
            (0, "abc", "q: expected 9 numbers, got 'abc'"),
            (1, np.zeros((8, 1)), r"v: expected shape \(8,\), got \(8, 1\)"),
            (2, np.zeros(7), r"(a|tau): expected shape \(8,\), got \(7,\)"),
            (0, [np.nan, 0, 0, 0, 0, 0, 1, 0, 0], r"q: expected finite numbers, got q\[0\] = nan"),
            (0, [0, 0, 0, 0, 0, 0, 1, np.inf, 0], r"q: expected finite numbers, got q\[7\] = inf"),
            (1, [0, 0, 0, 0, 0, 0, 0, np.nan], r"v: expected finite numbers, got v\[7\] = nan"),
            (2, [0, 0, -np.inf, 0, 0, 0, 0, 0], r"(a|tau): expected finite numbers, got (a|tau)\[2\] = -inf"),
            (0, [0, 0, 0, 0, 0, 0, 1.1, 0, 0], r"q: expected a unit quaternion at q\[3:7\], got one of length 1\.1"),
            (0, [0, 0, 0, 0, 0, 0, 0, 0, 0], "got one of length 0"),
            (1, np.full(8, 1e200), "too large for double precision"),
        ],
    )
    def test_is_named_with_what_was_expected_and_given(self, floating, function, position, value, says):
        arguments = [floating.neutral, np.zeros(8), np.zeros(8)]
        arguments[position] = value
        with pytest.raises(ValueError, match=says):
            function(floating, *arguments)

    def test_the_next_call_is_not_disturbed(self, floating):
        q, v, a = random_state(floating)
        before = inverse_dynamics(floating, q, v, a)
        with pytest.raises(ValueError, match="finite"):
            inverse_dynamics(floating, q, v, np.full(8, np.nan))
        np.testing.assert_array_equal(inverse_dynamics(floating, q, v, a), before)

    def test_wrenches_and_gravity(self, pendulum):
        zero = np.zeros(2)
        with pytest.raises(KeyError, match="no link named 'arm'; there are: world, upper_rod, lower_rod"):
            inverse_dynamics(pendulum, zero, zero, zero, wrenches={"arm": np.zeros(6)})
        with pytest.raises(ValueError, match=r"wrenches\['lower_rod'\]: expected shape \(6,\)"):
            inverse_dynamics(pendulum, zero, zero, zero, wrenches={"lower_rod": np.zeros(3)})
        with pytest.raises(ValueError, match="gravity: expected finite"):
            forward_dynamics(pendulum, zero, zero, zero, gravity=(0, 0, np.nan))


def test_any_kind_of_array_gives_the_same(floating):
    q, v, a = random_state(floating)
    expected = inverse_dynamics(floating, q, v, a)
    frozen = a.copy()
    frozen.setflags(write=False)
    spread = np.zeros(2 * len(v))
    spread[::2] = v
    for q_, v_, a_ in ((q.tolist(), tuple(v), frozen), (q, spread[::2], a), (q, v, a)):
        np.testing.assert_array_equal(inverse_dynamics(floating, q_, v_, a_), expected)


def test_workspaces_and_threads(floating):
    states = [random_state(floating, seed) for seed in range(2)]
    expected = [forward_dynamics(floating, *state) for state in states]
    own = Workspace(floating)
    np.testing.assert_array_equal(forward_dynamics(floating, *states[0], workspace=own), expected[0])
    with pytest.raises(ValueError, match="workspace: expected one of model"):
        forward_dynamics(load_urdf(PENDULUM), [0, 0], [0, 0], [0, 0], workspace=own)
    wrong = []

    def work(number):
        for _ in range(500):
            if not np.array_equal(forward_dynamics(floating, *states[number]), expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_survives_pickling(floating):
    again = pickle.loads(pickle.dumps(floating))
    np.testing.assert_array_equal(again.constants, floating.constants)
    assert again.joint_names == floating.joint_names
    state = random_state(floating)
    np.testing.assert_array_equal(forward_dynamics(again, *state), forward_dynamics(floating, *state))


def test_the_arrays_of_a_model_cannot_be_changed(pendulum):
    for array in (
        pendulum.topology,
        pendulum.constants,
        pendulum.neutral,
        pendulum.lower,
        pendulum.frame("world").X_BF,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    "axis", ["2e-6 0 -1", "1e-6 0 -1", "1e-5 1e-5 -1", "1e-3 0 -1", "0 1e-8 -1", "0 0 -1", "-0.3 0.2 -0.9"]
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_axes_close_to_minus_z(axis, kind):
    """Axes as CAD programs write them; Pinocchio turns about them as they are."""
    pin = pytest.importorskip("pinocchio")
    inertia = '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/><inertia ixx="1" iyy="1.2" izz="1.5" ixy="0.1" ixz="0.2" iyz="0.05"/></inertial>'
    x, y, z = (float(number) for number in axis.split())
    length = (x * x + y * y + z * z) ** 0.5
    unit = f"{x / length!r} {y / length!r} {z / length!r}"
    joint = f'<joint name="j{{0}}" type="{kind}"><parent link="l{{0}}"/><child link="l{{1}}"/><origin xyz="0.3 0 0.1" rpy="0.3 0.2 0.1"/><axis xyz="{unit}"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
    links = "".join(f'<link name="l{i}">{inertia}</link>' for i in range(3))
    text = f'<robot name="r">{links}{joint.format(0, 1)}{joint.format(1, 2)}</robot>'
    model = load_urdf(text, base="fixed")
    peer = pin.buildModelFromXML(text)
    data = peer.createData()
    q, v, a = random_state(model)
    np.testing.assert_allclose(inverse_dynamics(model, q, v, a), pin.rnea(peer, data, q, v, a), rtol=1e-12, atol=1e-12)
    assert np.abs(forward_dynamics(model, q, v, a) - pin.aba(peer, data, q, v, a)).max() < 1e-11


def test_a_mimic_joint_of_a_mimic_joint():
    from mbsim_ros.model.assembly.builder import ModelBuilder

    builder = ModelBuilder("chain")
    builder.link("world")
    for i in range(4):
        builder.link(f"l{i}", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    limits = {"lower": -9, "upper": 9, "effort": 9, "velocity": 9}
    builder.joint("a", "revolute", "world", "l0", damping=1.0, friction=0.5, **limits)
    builder.joint("b", "prismatic", "l0", "l1", mimic=("a", 2.0, 0.1), damping=2.0, friction=0.25, **limits)
    builder.joint("c", "revolute", "l1", "l2", axis=(0, 1, 0), mimic=("b", -3.0, 0.2), **limits)
    builder.joint("d", "revolute", "l2", "l3", axis=(0, 0, 1), mimic=("c", 0.5, 0.0), **limits)
    model = builder.build()
    np.testing.assert_allclose(model.tree_q(np.array([0.5])), [0.5, 1.1, -3.1, -1.55])
    np.testing.assert_allclose(model.tree_v(np.array([1.0])), [1.0, 2.0, -6.0, -3.0])
    assert model.damping.tolist() == [1.0 + 4.0 * 2.0]
    assert model.friction.tolist() == [0.5 + 2.0 * 0.25]
    with pytest.raises(ValueError, match="read-only"):
        model.mimic.ratio_v[0] = 2.0


def test_parts_that_rounding_alone_gives_inertia_are_refused():
    from mbsim_ros.model.assembly.builder import ModelBuilder

    limits = {"lower": -9, "upper": 9, "effort": 9, "velocity": 9}
    twice = (
        ModelBuilder("twice")
        .link("world")
        .link("between")
        .link("end", mass=1.0, com=(0.1, 0.4, 0.2), inertia=(0.1, 0.2, 0.25))
    )
    twice.joint("a", "revolute", "world", "between", axis=(1, 2, 3), **limits)
    twice.joint("b", "revolute", "between", "end", axis=(1, 2, 3), **limits)
    point = ModelBuilder("point").link("world").link("end", mass=1.0, com=(1, 1, 1), inertia=(0, 0, 0))
    point.joint("a", "revolute", "world", "end", axis=(1, 1, 1), **limits)
    ball = ModelBuilder("ball").link("world").link("end", mass=1.0, com=(0.3, 0.1, 0.2), inertia=(0, 0, 0))
    ball.joint("a", "spherical", "world", "end")
    for builder in (twice, point, ball):
        with pytest.warns(Warning):
            model = builder.build()
        q = model.neutral
        with pytest.raises(MasslessJoint, match="joint 'a' moves no inertia"):
            forward_dynamics(model, q, np.ones(model.nv), np.ones(model.nv))


def test_what_a_lone_sliding_joint_does_not_feel_is_checked_all_the_same():
    from mbsim_ros.model.assembly.builder import ModelBuilder

    builder = ModelBuilder("slider").link("world").link("end", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = builder.joint(
        "a", "prismatic", "world", "end", axis=(0, 0, 1), lower=-1, upper=1, effort=1, velocity=1
    ).build()
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="v: expected finite"):
            inverse_dynamics(model, [0.0], [bad], [1.0])
        with pytest.raises(ValueError, match="v: expected finite"):
            forward_dynamics(model, [0.0], [bad], [1.0])


@pytest.mark.parametrize(
    "value", [[10**400, 0], ["0.1", "0.2"], [1j, 0], np.ma.masked_array([1.0, 2.0], [True, False])]
)
def test_what_is_no_vector_of_numbers_is_refused(pendulum, value):
    with pytest.raises(ValueError, match="q: expected 2 numbers"):
        inverse_dynamics(pendulum, value, [0, 0], [0, 0])


def test_overflow_never_gives_nan():
    from mbsim_ros import dynamics
    from mbsim_ros.model.assembly.builder import ModelBuilder

    builder = ModelBuilder("r").link("world").link("x", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    builder.link("y", mass=1.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.1))
    builder.joint("a", "continuous", "world", "x").joint(
        "b", "prismatic", "x", "y", axis=(0, 1, 0), lower=-1, upper=1, effort=1, velocity=1
    )
    model, far, fast = builder.build(), [0.3, 1e200], [1e200, 1e200]
    calls = (
        lambda: dynamics.mass_matrix(model, far),
        lambda: dynamics.momentum(model, far, fast),
        lambda: dynamics.centroidal_momentum_matrix(model, far),
        lambda: dynamics.link_twist(model, far, fast, "y"),
        lambda: dynamics.Factorisation(model, dynamics.mass_matrix(model, [0.3, 0.1])).solve([1.7e308, 1.7e308]),
    )
    for call in calls:
        with pytest.raises(ValueError, match="too large"):
            call()
