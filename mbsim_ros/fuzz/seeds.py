# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Small valid material that the mutations start from."""

from __future__ import annotations

_INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0.001" ixz="0" iyz="0"/>'
PENDULUM = f"""<robot name="pendulum">
  <link name="world"/>
  <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/><origin xyz="0 0 1" rpy="0 0.1 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="10"/>
    <dynamics damping="0.1" friction="0.05"/></joint>
  <link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/>{_INERTIA}</inertial></link>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.5"/>
    <axis xyz="0 1 0"/></joint>
  <link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="0.7"/>{_INERTIA}</inertial></link>
</robot>"""
HOPPER = f"""<robot name="hopper">
  <link name="body"><inertial><mass value="2"/>{_INERTIA}</inertial>
    <visual><geometry><box size="0.2 0.2 0.1"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <collision><origin xyz="0 0 0.01"/><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <joint name="tail" type="prismatic"><parent link="body"/><child link="rod"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="5" velocity="10"/></joint>
  <link name="rod"><inertial><origin xyz="0.1 0 0"/><mass value="0.3"/>{_INERTIA}</inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="ball" type="spherical"><parent link="rod"/><child link="tip"/><origin xyz="0.2 0 0"/></joint>
  <link name="tip"><inertial><mass value="0.2"/>{_INERTIA}</inertial>
    <collision><geometry><cylinder radius="0.02" length="0.1"/></geometry></collision></link>
</robot>"""
GRIPPER = f"""<robot name="gripper">
  <link name="palm"><inertial><mass value="0.5"/>{_INERTIA}</inertial></link>
  <joint name="left" type="prismatic"><parent link="palm"/><child link="finger_1"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.05" effort="20" velocity="1"/></joint>
  <link name="finger_1"><inertial><mass value="0.1"/>{_INERTIA}</inertial></link>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="finger_2"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="0.05" effort="20" velocity="1"/><mimic joint="left" multiplier="1" offset="0"/></joint>
  <link name="finger_2"><inertial><mass value="0.1"/>{_INERTIA}</inertial></link>
  <joint name="mount" type="fixed"><parent link="palm"/><child link="camera"/>
    <origin xyz="0 0 0.1" rpy="0 0 1.57"/></joint>
  <link name="camera"/>
  <transmission name="t"><joint name="left"/></transmission>
</robot>"""
URDFS = (PENDULUM, HOPPER, GRIPPER)

SIDECAR = """couplings:
  both: {motors: {winch: {shoulder: 1, elbow: -1}}}
  braked: {locked: [elbow]}
gains: {shoulder: {kp: 100, kd: 5}, elbow: {kp: 50, kd: 2}}
initial_states: {home: {joints: {shoulder: 0.4, elbow: -0.2}}}
damping: {elbow: 0.05}
rotor_inertia: {shoulder: 0.002}
"""
HOPPER_SIDECAR = """contact:
  max_penetration: 0.002
  friction: 0.6
terrain: {type: flat, height: -0.2}
initial_states: {home: {base: {xyz: [0, 0, 0.3], rpy: [0, 0.1, 0]}, joints: {tail: 0.1}}}
gains: {tail: {kp: 100, kd: 5}}
"""
TERRAINS = (
    "terrain: {type: incline, angle: 0.1, direction: 0.5, height: 0.05}\n",
    "terrain:\n  type: heightfield\n  spacing: 0.12\n  origin: [0.35, -0.72]\n"
    "  heights:\n    - [0, 0.01, 0.02]\n    - [0, 0, 0.03]\n    - [0.02, 0, 0]\n",
)
LAUNCH = """<launch>
  <arg name="robot" default="$(find-pkg-share mbsim_ros)/urdf/double_pendulum.urdf" description="A file."/>
  <arg name="namespace" default="arm"/>
  <arg name="terrain" default="flat"><choice value="flat"/><choice value="slope"/></arg>
  <arg name="view" default="$(env MBSIM_VIEW true)"/>
  <let name="fast" value="$(not $(equals $(var view) true))"/>
  <let name="factor" value="1.0"/>
  <let name="factor" value="0.0" if="$(var fast)"/>
  <group unless="$(var fast)"><let name="looks" value="1"/></group>
  <node pkg="mbsim_ros" exec="physics" namespace="$(var namespace)" name="physics" output="screen" args="--x 'a b'">
    <param name="robot_file" value="$(var robot)"/>
    <param name="real_time_factor" value="$(var factor)" type="float"/>
    <param name="gravity" value="[0.0, 0.0, -9.81]"/>
    <remap from="joint_states" to="states"/>
    <env name="A" value="$(dirname)"/>
  </node>
</launch>
"""
