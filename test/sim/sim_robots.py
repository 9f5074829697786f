# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots with sidecars for the tests of `Simulation`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf

ROOT = Path(__file__).resolve().parents[2]

PENDULUM_SIDECAR = """
gains: {shoulder: {kp: 60, kd: 4}}
initial_states:
  home: {joints: {shoulder: 0.5, elbow: 0.3}}
  swinging: {joints: {shoulder: 1.0}, velocities: {elbow: -2.0}}
couplings:
  belt: {motors: {drum: {shoulder: 1, elbow: -2}}}
"""

CRAWLER_SIDECAR = """
contact: {max_penetration: 0.001, damping_ratio: 0.7, friction: 0.8}
initial_states:
  home: {base: {xyz: [0, 0, 0.272]}}
  tossed: {base: {xyz: [0, 0, 0.5], rpy: [0.1, 0.2, 0.3], linear: [0.5, 0, 0], angular: [0, 1, 0]}, joints: {fl: 0.2}}
gains:
  fl: {kp: 60, kd: 3}
  fr: {kp: 60, kd: 3}
  rl: {kp: 60, kd: 3}
  rr: {kp: 60, kd: 3}
  left: {kp: 80, kd: 4}
  right: {kp: 80, kd: 4}
rotor_inertia: {left: 0.02, right: 0.02}
damping: {fl: 0.05, fr: 0.05, rl: 0.05, rr: 0.05}
couplings:
  sides: {motors: {left: {fl: 1, rl: -1}, right: {fr: 1, rr: -1}}}
  braked: {locked: [fl, fr, rl, rr]}
springs:
  tendon: {from: {link: body, point: [0, 0.1, 0.05]}, to: {link: shank_fl, point: [0, 0, -0.1]},
           stiffness: 200, rest_length: 0.1, damping: 1}
"""


@cache
def pendulum() -> Model:
    """Two rods that swing about y, from the example file, with gains for one of the joints only."""
    return _with_sidecar(parse_urdf(ROOT / "urdf/double_pendulum.urdf"), PENDULUM_SIDECAR)


@cache
def crawler(sidecar: str = CRAWLER_SIDECAR) -> Model:
    """A floating box on four legs of one joint each, with ball feet, one tendon, and couplings."""
    builder = ModelBuilder("crawler").link("body", mass=4.0, box=(0.4, 0.2, 0.1))
    for leg, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("rl", -0.2, 0.1), ("rr", -0.2, -0.1)):
        builder.link(f"shank_{leg}", mass=0.4, com=(0, 0, -0.12), box=(0.03, 0.03, 0.24))
        builder.joint(
            leg, "revolute", "body", f"shank_{leg}", xyz=(x, y, 0.0), axis=(0, 1, 0), lower=-1.2, upper=1.2, effort=40,
            velocity=10,
        )  # fmt: skip
        builder.link(f"foot_{leg}", mass=0.05, sphere=0.02, collision=True)
        builder.joint(f"ankle_{leg}", "fixed", f"shank_{leg}", f"foot_{leg}", xyz=(0, 0, -0.25))
    return _with_sidecar(builder.description(), sidecar)


@cache
def gripper() -> Model:
    """An arm whose right finger mimics its left one, with damping on both."""
    builder = ModelBuilder("gripper").link("world").link("arm", mass=1.0, com=(0, 0, -0.2), box=(0.05, 0.05, 0.4))
    builder.joint("lift", "revolute", "world", "arm", axis=(0, 1, 0), lower=-3, upper=3, effort=50, velocity=5)
    for finger, y in (("left", 0.05), ("right", -0.05)):
        builder.link(finger, mass=0.2, box=(0.02, 0.02, 0.1))
        builder.joint(
            f"slide_{finger}", "prismatic", "arm", finger, xyz=(0, y, -0.4), axis=(0, 1, 0), lower=-0.04, upper=0.04,
            effort=20, velocity=1, damping=0.5, mimic=("slide_left", -1.0) if finger == "right" else None,
        )  # fmt: skip
    return builder.build()


@cache
def two_blocks() -> Model:
    """Two boxes that fly freely, each on a floating joint of its own."""
    builder = ModelBuilder("blocks").link("world")
    for name in ("big", "small"):
        builder.link(name, mass=2.0 if name == "big" else 0.5, box=(0.2, 0.2, 0.2), collision=True)
        builder.joint(f"{name}_flight", "floating", "world", name)
    return builder.build()


def _with_sidecar(description, text: str) -> Model:
    sidecar = parse_sidecar(text, description)
    return make_model(with_sidecar(description, sidecar), "auto", sidecar)
