# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""MJCF texts, whole and changed: a model, and motion that is finite, or an error that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_text, mutated_xml
from mbsim_ros.fuzz.urdf import load_and_move
from mbsim_ros.fuzz.verdict import Case

SIMULATED = 0.1  # of those that load
ROBOT = """<mujoco model="beast">
  <compiler angle="degree" autolimits="true"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <default><joint damping="0.1" armature="0.01"/><geom friction="0.7 0.1 0.1" density="500"/>
    <default class="leg"><joint range="-60 90" frictionloss="0.05"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" pos="0 0 -0.1"/>
    <body name="trunk" pos="0 0 0.6" euler="0 10 0"><freejoint name="root"/>
      <geom name="belly" type="box" size="0.2 0.1 0.05" mass="3"/>
      <body name="thigh" pos="0.15 0 -0.05"><joint name="hip" type="hinge" axis="0 1 0" class="leg"/>
        <joint name="roll" axis="1 0 0" range="-20 20"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>
        <body name="shank" pos="0 0 -0.2"><joint name="knee" axis="0 1 0" class="leg" ref="10"/>
          <geom type="cylinder" size="0.02 0.1" pos="0 0 -0.1"/>
          <geom name="foot" type="sphere" size="0.03" pos="0 0 -0.2"/>
        </body></body>
      <body name="tail" pos="-0.2 0 0"><joint name="wag" type="ball"/><inertial pos="-0.1 0 0" mass="0.2"
        diaginertia="0.001 0.001 0.001"/><site name="tip" pos="-0.2 0 0"/></body>
      <body name="slider" pos="0 0.1 0"><joint name="slide" type="slide" axis="0 0 1" range="-0.1 0.1"/>
        <geom type="ellipsoid" size="0.03 0.02 0.01"/></body></body>
  </worldbody>
  <equality><joint joint1="roll" joint2="hip" polycoef="0 0.5 0 0 0"/></equality>
  <actuator><position joint="hip" kp="40" forcerange="-10 10"/><motor joint="knee" gear="2" ctrlrange="-3 3"/>
    <velocity joint="slide" kv="5"/></actuator>
  <sensor><jointpos joint="hip"/></sensor>
  <keyframe><key name="home" qpos="0 0 0.5 1 0 0 0 0.2 0.1 -0.4 1 0 0 0 0.01"/></keyframe>
</mujoco>"""


class MjcfCases:
    """Cases of MJCF texts."""

    def __init__(self, folder: Path):
        self._tree = ElementTree.fromstring(ROBOT)

    def make(self, random: Random) -> Case:
        """A changed text, read, and now and then simulated for three steps."""
        way = random.random()
        if way < 0.6:
            text = mutated_xml(self._tree, random)
        elif way < 0.8:
            text = mutated_text(ROBOT, random)
        else:
            text = mutated_bytes(ROBOT.encode(), random).decode(errors="replace")
        moves = random.random() < SIMULATED
        return Case(text, lambda: load_and_move(text, moves))
