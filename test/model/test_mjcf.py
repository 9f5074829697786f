# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""MJCF: MuJoCo is the oracle of what we make of its files."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from mujoco_oracle import Oracle, random_states

from mbsim_ros.bags.setup import PARAMETERS, SimulationSetup
from mbsim_ros.contact.mesh_points import read_vertices
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model import mjcf
from mbsim_ros.model.assembly.checking import check_file
from mbsim_ros.model.description import Box, Capsule, Mesh
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.problems import UrdfError, UrdfWarning
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.simulation import Simulation

mujoco = pytest.importorskip("mujoco")

# A body of three hinges with anchors beside its origin, one with a reference, one without limits; a slide, a ball, a
# static part, an inertia off its axes, and a rotation by a right angle of pitch, where roll and yaw are one.
ROBOT = """<mujoco model="beast">
 <compiler angle="radian"/>
 <worldbody>
  <geom name="floor" type="plane" size="0 0 1" pos="0 0 -0.3" friction="0.7 0.1 0.1"/>
  <body name="trunk" pos="0 0 1" {turn}>{free}
   <inertial pos="0.01 0.02 0.03" mass="4" fullinertia="0.3 0.2 0.25 0.01 -0.02 0.03"/>
   <geom type="box" size="0.2 0.1 0.05" friction="0.9 0.1 0.1"/>
   <site name="imu"/>
   <body name="leg" pos="0.1 -0.1 0" quat="0.70710678 0 0.70710679 1e-9">
    <joint name="roll" axis="1 0 0" pos="0 0.02 0" range="-1 1" damping="0.3" armature="0.02"/>
    <joint name="pitch" axis="0 1 0.2" pos="0.01 0 0" range="-2 0.5" ref="-0.4" frictionloss="0.1"/>
    <joint name="yaw" axis="0 0 1" pos="0 0 0.03" stiffness="3"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
    <body name="shin" pos="0 0 -0.3">
     <joint name="slide" type="slide" axis="0 0 -1" range="0 0.2"/>
     <geom type="capsule" fromto="0 0 0 0 0.1 -0.2" size="0.02" mass="0.4"/>
     <body name="foot" pos="0 0.1 -0.2" euler="0.2 0.3 0.4">
      <geom type="sphere" size="0.04" mass="0.1"/>
     </body>
    </body>
   </body>
   <body name="tail" pos="-0.2 0 0">
    <joint name="ball" type="ball" pos="0 0 0.01"/>
    <geom type="box" size="0.1 0.02 0.01" mass="0.3" contype="0" conaffinity="0" rgba="1 0 0 1"/>
   </body>
  </body>
 </worldbody>
 <actuator>
  <position joint="roll" kp="30" kv="2" gear="2" forcerange="-5 4"/>
  <motor joint="slide" gear="3" ctrlrange="-2 2" ctrllimited="true"/>
 </actuator>
 <keyframe><key name="crouch" qpos="{base}0.1 -0.6 0.2 0.05 1 0 0 0"/></keyframe>
</mujoco>"""
FREE = ROBOT.format(free="<freejoint/>", turn="", base="0 0 2 0 0 0 1 ")
FIXED = ROBOT.format(free="", turn='euler="0.3 0.4 0.5"', base="")


def loaded(text, **options):
    with pytest.warns(UrdfWarning, match="left out: "):
        return load_urdf(text, **options)


@pytest.mark.parametrize("text", [FREE, FIXED], ids=["free", "fixed"])
def test_mass_matrix_and_bias_forces_are_mujocos(text):
    model = loaded(text)
    oracle = Oracle(mujoco, mujoco.MjModel.from_xml_string(text), model)
    for q, v in random_states(model, np.random.default_rng(4), 5):
        M, bias = oracle.mass_and_bias(q, v)
        np.testing.assert_allclose(mass_matrix(model, q), M, atol=1e-12 * np.abs(M).max())
        ours = inverse_dynamics(model, q, v, np.zeros(model.nv))
        np.testing.assert_allclose(ours, bias, atol=1e-12 * np.abs(bias).max())


def test_what_it_says_of_joints_shapes_and_states():
    model = loaded(FREE)
    joint = model.description.joint
    assert (joint("roll").limits.lower, joint("roll").limits.effort, joint("roll").damping) == (-1.0, 10.0, 0.3)
    assert joint("pitch").limits.lower == pytest.approx(-1.6) and joint("pitch").friction == 0.1  # from ref on
    assert (joint("yaw").type, joint("slide").limits.effort) == ("continuous", 6.0)
    sidecar = model.sidecar
    assert sidecar.gains == {"roll": Gains(120.0, 8.0)} and sidecar.rotor_inertia == {"roll": 0.02}
    assert (sidecar.contact.friction_static, sidecar.terrain.height) == (1.0, -0.3)
    crouch = sidecar.initial_states["crouch"]
    assert crouch.base_xyz == (0.0, 0.0, 2.0) and crouch.base_rpy[2] == pytest.approx(np.pi)
    assert crouch.joints == pytest.approx({"roll": 0.1, "pitch": -0.2, "yaw": 0.2, "slide": 0.05})
    assert sidecar.initial_states["home"].base_xyz == (0.0, 0.0, 1.0)
    (trunk,) = model.description.link("trunk").collisions
    assert trunk.geometry == Box((0.4, 0.2, 0.1))
    (leg,) = model.description.link("leg").collisions
    assert leg.geometry == Capsule(0.03, pytest.approx(0.3)) and leg.origin.xyz == pytest.approx((0, 0, -0.15))
    tail = model.description.link("tail")
    assert not tail.collisions and tail.visuals[0].material.rgba == (1, 0, 0, 1)
    (left,) = model.description.warnings
    assert left.rule == "left out: 1 springs of joints, 1 sites"


def test_it_runs_and_a_recording_has_all_of_it():
    """The text of its description and that of its sidecar are enough, rotors included."""
    sim = Simulation(loaded(FREE))
    sim.run(1.0)
    assert -0.3 < sim.q[2] < 0.0  # on the floor
    kept = dict.fromkeys(PARAMETERS, "") | {"base": "floating"}
    setup = {"robot_description": to_urdf(sim.model.description), "sidecar": sim.model.sidecar.text, "parameters": kept}
    again = SimulationSetup(setup["robot_description"], setup["sidecar"], kept, "", {}).model()
    assert json.dumps(setup)
    assert again.description == sim.model.description
    assert again.constants.tobytes() == sim.model.constants.tobytes()
    assert again.sidecar == sim.model.sidecar


def test_a_mesh_is_where_mujoco_has_it(tmp_path):
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 1, (4, 3)).astype(np.float32)
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(f)].ravel(), 0) for f in faces)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/m.stl").write_bytes(bytes(80) + struct.pack("<I", 4) + body)
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><compiler meshdir="assets"/><asset><mesh name="m" file="m.stl" scale="2 1 0.5"/></asset><worldbody>'
        '<body name="b"><joint name="j" axis="0 1 0"/><geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "robot.mbsim.yaml").write_text("gains: {j: {kp: 5, kd: 1}}")
    model = load_urdf(file)
    assert model.sidecar.gains == {"j": Gains(5.0, 1.0)} and not model.is_floating
    (shape,) = model.description.link("b").collisions
    assert isinstance(shape.geometry, Mesh)
    X = shape.origin.matrix()
    ours = (read_vertices(shape.geometry.path) * shape.geometry.scale) @ X[:3, :3].T + X[:3, 3]
    m = mujoco.MjModel.from_xml_path(str(file))
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, m.geom_quat[0])
    theirs = m.mesh_vert @ R.reshape(3, 3).T + m.geom_pos[0]
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2)
    assert apart.min(axis=1).max() < 1e-6 and apart.min(axis=0).max() < 1e-6
    assert check_file(file).is_fine()


def test_an_equality_of_two_joints_is_a_mimic():
    text = """<mujoco><worldbody><body name="a"><joint name="one" axis="0 1 0"/><geom size="0.1"/><body name="b">
      <joint name="two" axis="0 1 0"/><geom size="0.1"/></body></body></worldbody>
      <equality><joint joint1="two" joint2="one" polycoef="0.1 -2 0 0 0"/></equality></mujoco>"""
    model = load_urdf(text)
    assert model.nv == 1 and model.description.joint("two").mimic.multiplier == -2.0
    np.testing.assert_allclose(model.tree_q(np.array([0.5])), [0.5, -0.9])
    geared = load_urdf(text.replace("axis", 'armature="0.1" axis'))
    assert mass_matrix(geared, [0.0])[0, 0] == pytest.approx(mass_matrix(model, [0.0])[0, 0] + 0.1 + 0.1 * 2.0**2)


@pytest.mark.parametrize(
    "text, words",
    [
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "MuJoCo refuses it, .*mass"),
        ('<mujoco><include file="/etc/passwd"/></mujoco>', "names a file, '/etc/passwd', text has no folder"),
        ("<mujoco><worldbody>", "file"),
    ],
)
def test_a_bad_text_is_refused(text, words):
    with pytest.raises(UrdfError, match=words):
        load_urdf(text)


@pytest.mark.parametrize(
    "inner",
    [
        '<include file="/etc/passwd"/>',
        '<asset><mesh file="../../secret.stl"/></asset>',
        '<asset><texture type="cube" fileup="../../secret.png"/></asset>',
    ],
)
def test_files_outside_of_the_folder_are_not_opened(tmp_path, inner):
    file = tmp_path / "robot.xml"
    file.write_text(f"<mujoco>{inner}</mujoco>")
    with pytest.raises(UrdfError, match="file outside of the robot's folder"):
        load_urdf(file)


def test_a_meshdir_does_not_lead_out_either(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text('<mujoco><compiler meshdir="/etc"/><asset><mesh file="passwd.stl"/></asset></mujoco>')
    with pytest.raises(UrdfError, match="file outside of the robot's folder"):
        load_urdf(file)


def test_nor_does_that_of_a_file_that_is_included(tmp_path):
    (tmp_path / "folders.xml").write_text('<mujoco><compiler meshdir="/etc"/></mujoco>')
    file = tmp_path / "robot.xml"
    file.write_text('<mujoco><asset><mesh file="passwd.stl"/></asset><include file="folders.xml"/></mujoco>')
    with pytest.raises(UrdfError, match="file outside of the robot's folder"):
        load_urdf(file)


def test_without_mujoco_one_is_told_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(UrdfError, match="MJCF is read by MuJoCo, which is not installed, .*pip install mujoco"):
        mjcf.read_mjcf(FREE)


def test_warnings_of_mujoco_are_ours_and_leave_no_file(tmp_path, monkeypatch):
    """MuJoCo would write them to a file in the working directory."""
    monkeypatch.chdir(tmp_path)
    text = '<mujoco><worldbody><body pos="NaN 0 0"><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    with pytest.warns(UrdfWarning, match="MuJoCo warns: XML contains a 'NaN'"), pytest.raises(UrdfError):
        load_urdf(text)
    assert not list(tmp_path.iterdir())
