# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots for the tests of the mass matrix and its factors: every joint kind, mimic joints, and robots in use."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

from mbsim_ros.bench.cases import robots_folder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model

FOLDER = robots_folder()
IN_USE = {
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "anymal, fixed": ("anymal_b_simple_description/robots/anymal.urdf", "fixed"),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "floating"),
    "tiago": ("tiago_description/robots/tiago.urdf", "fixed"),  # continuous and prismatic joints
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),  # a mimic joint
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "floating"),
}
# Type, parent and axis of each joint: a tree with joints of several dofs between others, mid-tree and at leaves.
TREE = [
    ("revolute", 0, "1 0 0"), ("planar", 1, "0 0 1"), ("continuous", 2, "0.6 0 0.8"), ("prismatic", 2, "0 1 0"),
    ("floating", 4, "1 0 0"), ("revolute", 5, "0 0 -1"), ("prismatic", 0, "0.48 0.6 0.64"), ("revolute", 7, "0 1 0"),
]  # fmt: skip
BALLS = [("spherical", 0, "1 0 0"), ("revolute", 1, "0 1 0"), ("spherical", 2, "1 0 0"), ("prismatic", 1, "0 0 1")]
HANDMADE = {
    "tree": (TREE, "floating"),
    "tree, fixed": (TREE, "fixed"),  # two roots
    "balls": (BALLS, "floating"),
    "balls, fixed": (BALLS, "fixed"),
    "chain of 100": ([("revolute", i, ("1 0 0", "0 1 0", "0 0 1")[i % 3]) for i in range(100)], "fixed"),
    "mimic": ([("revolute", i, ("1 0 0", "0 1 0")[i % 2]) for i in range(5)], "floating"),
}
NAMES = [*HANDMADE, *(IN_USE if FOLDER else [])]

every_robot = pytest.mark.parametrize("name", NAMES)
# Pinocchio's reader knows no spherical joint.
every_robot_of_pinocchio = pytest.mark.parametrize("name", [name for name in NAMES if "balls" not in name])


def source(name: str) -> tuple[str, str]:
    """URDF text and base of a robot."""
    if name in IN_USE:
        file, base = IN_USE[name]
        return (FOLDER / file).read_text(), base
    joints, base = HANDMADE[name]
    return urdf_text(joints, "j001" if name == "mimic" else None), base


@functools.cache
def robot(name: str) -> Model:
    """A robot's model, loaded once."""
    text, base = source(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # robots in use have known imperfections
        return load_urdf(text, base)


def urdf_text(joints, leader=None) -> str:
    """A robot of different, tilted links; with a leader the last joint mimics it."""
    rng = np.random.default_rng(3)
    parts = ['<robot name="r">', _link(0, rng)]
    for i, (kind, parent, axis) in enumerate(joints, start=1):
        mimic = f'<mimic joint="{leader}" multiplier="-0.7" offset="0.2"/>' if leader and i == len(joints) else ""
        parts.append(
            f'{_link(i, rng)}<joint name="j{i:03}" type="{kind}"><parent link="l{parent:03}"/><child link="l{i:03}"/>'
            f'<origin xyz="{_triple(rng, 0.3)}" rpy="{_triple(rng, 1.0)}"/><axis xyz="{axis}"/>'
            f'<limit lower="-3" upper="3" effort="9" velocity="9"/>{mimic}</joint>'
        )
    return "".join([*parts, "</robot>"])


def _link(i: int, rng: np.random.Generator) -> str:
    ixx, iyy, izz = rng.uniform(0.02, 0.03, 3)
    return (
        f'<link name="l{i:03}"><inertial><origin xyz="{_triple(rng, 0.2)}" rpy="{_triple(rng, 1.0)}"/>'
        f'<mass value="{rng.uniform(0.5, 2.0)}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>'
    )


def _triple(rng: np.random.Generator, size: float) -> str:
    return " ".join(str(x) for x in rng.uniform(-size, size, 3))
