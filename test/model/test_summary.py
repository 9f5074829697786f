# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What print(model) shows."""

import warnings
from pathlib import Path

from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.summary import squeezed, summary

FOLDER = Path(__file__).parent


def test_a_robot_with_everything():
    text = str(load_urdf(FOLDER / "good" / "leg.urdf"))
    assert text == summary(load_urdf(FOLDER / "good" / "leg.urdf"))
    head, sidecar, columns, base, wheel, hip, knee, ankle = text.splitlines()
    assert head == "leg: floating base 'base', 5 bodies, 4 moving joints (1 mimic), nq = 10, nv = 9, 6.2 kg"
    assert sidecar.startswith("sidecar: contact, couplings (normal, free), springs (calf)")
    assert columns.split() == ["#", "joint", "type", "parent", "→", "child", "q", "v", "limits", "effort"]
    assert base.split() == ["(base)", "floating", "(world)", "→", "base", "0–6", "0–5"]
    assert wheel.split() == ["0", "a_wheel", "continuous", "base", "→", "wheel", "7", "6"]
    assert hip.split() == ["1", "z_hip", "revolute", "base", "→", "thigh", "8", "7", "-1.5", "…", "1.5", "40"]
    assert knee.split() == ["2", "knee", "revolute", "thigh", "→", "shin", "9", "8", "-2", "…", "0", "40"]
    assert ankle.split()[:8] == ["3", "ankle", "prismatic", "shin", "→", "foot", "–", "–"]
    assert "= -0.05 × knee" in ankle


def test_a_fixed_base_and_merged_joints():
    builder = ModelBuilder("arm").link("world").link("mount").link("rod", mass=1, sphere=0.1)
    builder.joint("m", "fixed", "world", "mount").joint("j", "spherical", "mount", "rod")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head, _, row = str(builder.build()).splitlines()
    assert head == "arm: fixed base 'world', 1 body, 1 moving joint, 1 fixed joint merged, nq = 4, nv = 3, 1 kg"
    assert row.split() == ["0", "j", "spherical", "mount", "→", "rod", "0–3", "0–2"]


def test_a_single_body():
    head, _, base = str(chain(1, base="floating")).splitlines()
    assert head == "chain_1: floating base 'rod_0', 1 body, 0 moving joints, nq = 7, nv = 6, 1 kg"
    assert base.split() == ["(base)", "floating", "(world)", "→", "rod_0", "0–6", "0–5"]
    assert len(str(ModelBuilder("stone").link("s", mass=1, sphere=1).build("fixed")).splitlines()) == 1


def test_a_long_chain_is_abbreviated():
    lines = str(chain(200)).splitlines()
    assert len(lines) <= 60
    assert any("… 148 more …" in line for line in lines)
    assert "joint_0 " in lines[2] and "joint_199" in lines[-1]
    assert len(str(chain(53)).splitlines()) == 55


def test_long_names_lose_their_middle():
    assert squeezed("short", 10) == "short"
    assert squeezed("gripper_left_inner_joint", 11) == "gripp…joint"
    assert squeezed("two\nlines", 20) == "two lines"
    assert all(len(squeezed("x" * 100, width)) == width for width in range(3, 40))
