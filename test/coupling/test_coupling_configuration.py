# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""D is what the coupling says, D u are the joint rates, and bad couplings are refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from nelson_walker_cases import BOTTOM, SIGN, five_motors, walker
from random_couplings import ROBOTS, one_dof_joints, random_case, robot

from mbsim_ros.coupling import CouplingError, column_positions, couple, identity, joint_offsets, joint_positions, named
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.settings import Coupling


def small_arm(sidecar=None, tmp_path=None):
    builder = ModelBuilder("arm")
    builder.link("world")
    parent = "world"
    for name in ("a", "b", "c", "d"):
        builder.link(f"link_{name}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        builder.joint(name, "continuous", parent, f"link_{name}", xyz=(0.2, 0, 0), axis=(0, 1, 0))
        parent = f"link_{name}"
    if sidecar is None:
        return builder.build()
    (tmp_path / "arm.urdf").write_text(builder.urdf())
    (tmp_path / "arm.mbsim.yaml").write_text(sidecar)
    return load_urdf(tmp_path / "arm.urdf", sidecar=tmp_path / "arm.mbsim.yaml")


def test_rates_of_the_walker_in_closed_form():
    """N (48), (49): each row of D u written out by hand."""
    model, rng = walker(), np.random.default_rng(1)
    configuration = couple(model, five_motors())
    u = rng.normal(size=configuration.nu)
    v = configuration.expand(u)
    by_name = dict(zip(configuration.column_names, u, strict=True))
    np.testing.assert_array_equal(v[:6], u[:6])
    for joint in model.joint_names:
        if joint == "body":
            expected = by_name["body_motor"]
        else:
            group = "B" if joint[:3] in BOTTOM else "A"
            femur = SIGN[joint[1]] * by_name[f"femur_{group}"]
            expected = femur if joint.endswith("_f") else by_name[f"tibia_{group}"] - femur
        assert v[model.joint(joint).iv] == pytest.approx(expected, abs=1e-15)
    assert configuration.nu == 11  # ERRATA C9


def test_a_tibia_keeps_its_angle_to_the_body_when_only_femurs_turn():
    """N (29): what the cable drive is for."""
    model = walker()
    configuration = couple(model, five_motors())
    u = np.zeros(configuration.nu)
    u[configuration.column_of("femur_B")] = 1.0
    v = configuration.expand(u)
    for leg in BOTTOM:
        assert v[model.joint(f"{leg}_f").iv] + v[model.joint(f"{leg}_t").iv] == 0.0


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(4))
def test_compressed_rows_are_the_matrix(name, seed):
    model, configuration, _, u = random_case(name, seed)
    D = configuration.D
    assert D.shape == (len(model.dof_parent), configuration.nu)
    np.testing.assert_allclose(configuration.expand(u), D @ u, atol=1e-14)
    x = np.random.default_rng(seed).normal(size=len(D))
    np.testing.assert_allclose(configuration.reduce(x), D.T @ x, atol=1e-14)
    assert all(configuration.start[1:] >= configuration.start[:-1])
    for array in (configuration.start, configuration.column, configuration.ratio, configuration.rotor_inertia):
        assert not array.flags.writeable


@pytest.mark.parametrize("name", ROBOTS)
def test_without_couplings_only_mimic_joints_are_tied(name):
    model = robot(name)
    configuration = identity(model)
    G = np.eye(model.nv) if model.mimic is None else model.mimic.matrix(model.nv)
    order = [_model_dof(model, column) for column in configuration.column_names]
    np.testing.assert_array_equal(configuration.D, G[:, order])
    v = np.random.default_rng(3).normal(size=model.nv)
    np.testing.assert_array_equal(configuration.velocities(v[order]), v)
    np.testing.assert_allclose(configuration.expand(v[order]), model.tree_v(v), atol=1e-15)


def test_a_mimic_joint_follows_a_driven_or_locked_leader():
    model = robot("mimic")
    follower = next(joint for joint in model.joints if joint.iv < 0)
    leader_dof = int(model.mimic.source_v[model.topology[follower.body, 3]])
    leader = next(joint for joint in model.joints if joint.iv == leader_dof)
    ratio = model.mimic.ratio_v[model.topology[follower.body, 3]]
    driven = couple(model, {"motor": {leader.name: -2.0}})
    assert driven.D[model.topology[follower.body, 3], -1] == pytest.approx(-2.0 * ratio)
    locked = couple(model, locked=[leader.name])
    assert not locked.D[[model.topology[follower.body, 3], model.topology[leader.body, 3]]].any()


def test_configurations_of_a_sidecar(tmp_path):
    text = """
couplings:
  normal: {motors: {pair: {a: 1, b: -2}, free: {}}, locked: [c]}
  hand: {}
rotor_inertia: {pair: 0.5, free: 0.25, d: 0.125}
"""
    model = small_arm(text, tmp_path)
    both = named(model)
    assert list(both) == ["normal", "hand"]
    normal = both["normal"]
    assert normal.column_names == ("d", "pair", "free")
    np.testing.assert_array_equal(normal.D, [[0, 1, 0], [0, -2, 0], [0, 0, 0], [1, 0, 0]])
    # d's rotor is in the model; that of a motor is on its column
    np.testing.assert_array_equal(normal.rotor_inertia, [0.0, 0.5, 0.25])
    np.testing.assert_array_equal(both["hand"].D, np.eye(4))
    assert not named(small_arm())


def test_a_rotor_under_the_name_of_a_joint_counts_once(tmp_path):
    model = small_arm("couplings: {one: {motors: {a: {a: 1, b: 1}}}}\nrotor_inertia: {a: 0.5}\n", tmp_path)
    assert model.constants[0, 31] == 0.5
    assert not named(model)["one"].rotor_inertia.any()


@pytest.mark.parametrize(
    ("motors", "locked", "rotors", "reason"),
    [
        ({"m": {"e": 1}}, [], {}, "motor 'm' drives 'e': no moving joint of that name"),
        ({"m": {"a": 1}}, ["elbow"], {}, "locked joint 'elbow': no moving joint"),
        ({"m": {"a": 1}}, ["a"], {}, "joint 'a' is both locked and driven by 'm': choose one"),
        ({}, ["a", "a"], {}, "joint 'a' is locked twice"),
        ({"m": {}}, [], {}, "motor 'm' drives nothing and has no rotor inertia"),
        ({"m": {"a": 0.0}}, [], {}, "motor 'm', joint 'a': a ratio of zero"),
        ({"m": {"a": float("nan")}}, [], {}, "expected a finite ratio, got nan"),
        ({"m": {"a": "one"}}, [], {}, "expected a finite ratio, got 'one'"),
        ({"m": {"a": 1}}, [], {"m": -1.0}, "expected a rotor inertia of zero or more, got -1.0"),
        ({"m": {"a": 1}}, [], {"k": 1.0}, "rotor inertia of 'k', which is no motor here"),
        ({"b": {"a": 1}}, [], {}, "motor 'b' is named like a joint that stays free"),
        ({"m": {"a": 1, "b": 2}, "k": {"a": -2, "b": -4}}, [], {}, "motor 'k' moves no joint that 'm' would not move"),
        ({"m": {"a": 1}, "k": {"b": 1}, "n": {"a": 1, "b": 1}}, [], {}, "motor 'n' moves no joint that 'm', 'k' would"),
        ({"m": {"a": 1, "b": 2}, "k": {"a": -2, "b": -4}}, [], {"m": 0.1}, None),
        ({"m": {"a": 1, "b": 2}, "k": {"a": -2}}, [], {}, None),
        ({"m": {}}, [], {"m": 0.1}, None),
        ({"a": {"a": 1}}, [], {}, None),
    ],
)
def test_refusals(motors, locked, rotors, reason):
    model = small_arm()
    if reason is None:
        couple(model, motors, locked, rotor_inertia=rotors)
    else:
        with pytest.raises(CouplingError) as error:
            couple(model, motors, locked, rotor_inertia=rotors)
        assert reason in str(error.value)


def test_all_reasons_at_once_and_joints_that_cannot_be_coupled():
    model = robot("mixed")
    ball = next(joint.name for joint in model.joints if joint.type == "spherical")
    with pytest.raises(CouplingError, match="it is spherical") as error:
        couple(model, {"m": {ball: 1, "nothing": 1}, "k": {}})
    assert len(str(error.value).splitlines()) == 3
    follower = next(joint.name for joint in robot("mimic").joints if joint.iv < 0)
    with pytest.raises(CouplingError, match="it follows"):
        couple(robot("mimic"), {"m": {follower: 1}})
    with pytest.raises(CouplingError, match="named like another column"):
        couple(model, {"base/vx": {one_dof_joints(model)[0]: 1}})


def test_from_a_coupling_and_its_columns():
    model = small_arm()
    configuration = couple(model, Coupling("pair", {"m": {"a": 1.0}}, ("b",)))
    assert (configuration.name, configuration.motors, configuration.locked) == ("pair", ("m",), ("b",))
    assert configuration.column_of("d") == 1
    with pytest.raises(KeyError, match="no column named 'a'; there are: c, d, m"):
        configuration.column_of("a")
    with pytest.raises(ValueError, match="u: expected shape"):
        configuration.expand(np.zeros(2))


def test_offsets_stay_while_a_configuration_is_engaged():
    model = small_arm()
    configuration = couple(model, {"m": {"a": 1.0, "b": -2.0}}, ["c"])
    q = np.array([0.1, 0.2, 0.3, 0.4])
    x = column_positions(configuration, q, {"m": 5.0})
    np.testing.assert_array_equal(x, [0.4, 5.0])
    offsets = joint_offsets(configuration, q, x)
    assert offsets == pytest.approx({"a": -4.9, "b": 10.2, "c": 0.3, "d": 0.0})
    moved = joint_positions(configuration, offsets, x + np.array([0.5, 0.25]))
    assert moved == pytest.approx({"a": 0.35, "b": -0.3, "c": 0.3, "d": 0.9})


def _model_dof(model, column):
    """Place in v of a column that is a dof of its own."""
    group, _, axis = column.partition("/")
    if not axis:
        return model.joint(group).iv
    joint = None if group == "base" else model.joint(group)
    places = {"spherical": "wx wy wz", "planar": "vx vy wz"}.get(joint.type if joint else "", "vx vy vz wx wy wz")
    return (joint.iv if joint else 0) + places.split().index(axis)
