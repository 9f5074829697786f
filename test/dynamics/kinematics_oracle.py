# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots and their Pinocchio twins for the tests of kinematics, Jacobians, momentum and energy.

`zoo` has every joint kind, several-dof joints in mid-tree included. URDF has no spherical joint, so the twins of the
handmade robots are built joint by joint from the description, without our merging of fixed joints or turning of axes.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.loading import load_urdf

try:
    import pinocchio as pin
except ImportError:
    pin = None

_PREFIXES = [*(Path(entry) / "cmeel.prefix" for entry in sys.path), Path(sys.prefix), Path("/usr"), Path("/usr/local")]
_FOLDERS = [prefix / "share/example-robot-data/robots" for prefix in _PREFIXES]
FOLDER = next((folder for folder in _FOLDERS if folder.is_dir()), None)
_FILES = {
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "panda": "panda_description/urdf/panda.urdf",  # mimic joint
    "tiago": "tiago_description/robots/tiago.urdf",  # continuous and prismatic joints
    "talos": "talos_data/robots/talos_full_v2.urdf",
}
_HANDMADE = ["zoo", "fixed_zoo", "mimic"]
NAMES = _HANDMADE + (list(_FILES) if FOLDER else [])

with_pinocchio = pytest.mark.skipif(pin is None, reason="pinocchio is not installed")
every_robot = pytest.mark.parametrize("name", NAMES)

# name, type, parent, origin xyz, rpy, axis
_ZOO = [
    ("a_hip", "revolute", "base", "0.1 -0.2 0.3", "0.3 -0.5 0.7", "0.6 0 -0.8"),
    ("b_slide", "prismatic", "a_hip", "0.2 0.1 -0.1", "0.2 0.1 -0.4", "0 0.28 0.96"),
    ("c_ball", "spherical", "b_slide", "0.05 0.3 0.1", "-0.6 0.2 0.1", "1 0 0"),
    ("d_tip", "fixed", "c_ball", "0.1 0.2 0.3", "0.5 0.4 0.3", "1 0 0"),
    ("e_wheel", "continuous", "d_tip", "0.3 -0.1 0", "0.1 0.9 0", "0 1 0"),
    ("f_plane", "planar", "base", "-0.3 0.1 0.2", "0.4 0.3 -0.2", "0 0 1"),
    ("g_arm", "revolute", "f_plane", "0.2 0.2 0.1", "0 0.3 0.2", "0 0 -1"),
    ("h_free", "floating", "g_arm", "0.1 0.3 -0.2", "0.7 0 0.1", "1 0 0"),
    ("i_leaf", "revolute", "h_free", "-0.2 0.1 0.3", "0.1 0.2 0.3", "1 0 0"),
    ("j_slide", "prismatic", "i_leaf", "0.1 0 0.2", "0 0 0.4", "0 0 -1"),
    ("k_ball", "spherical", "h_free", "0.1 -0.2 0.1", "0.3 0 0.5", "1 0 0"),
]
_MIMIC = [
    ("a_lead", "revolute", "base", "0.1 0 0.2", "0.2 0 0.3", "0.6 0 0.8"),
    ("b_follow", "revolute", "a_lead", "0.3 0.1 0", "0 0.5 0", "0 1 0"),
    ("c_free", "prismatic", "b_follow", "0 0.2 0.1", "0.1 0 0", "1 0 0"),
    ("d_back", "revolute", "base", "-0.1 0.2 0", "0 0 0.4", "0 0 1"),
]
_FOLLOWS = {"b_follow": ("a_lead", 0.7, 0.2), "d_back": ("a_lead", -1.3, 0.0)}


def _urdf(joints):
    """URDF text: link `base`, and for each joint a link of its name, all with different skew inertias."""
    links, rng = ["base", *(joint[0] for joint in joints)], np.random.default_rng(5)
    text = []
    for link in links:
        half = rng.normal(size=(3, 3))
        turned = half @ half.T
        inertia = 0.05 * (np.eye(3) * np.trace(turned) - turned + 0.1 * np.eye(3))
        names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        entries = " ".join(f'{key}="{inertia[place]}"' for key, place in names.items())
        xyz, rpy = (" ".join(map(str, rng.normal(scale=0.2, size=3))) for _ in range(2))
        text.append(
            f'<link name="{link}"><inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{rng.uniform(0.5, 3)}"/>'
            f"<inertia {entries}/></inertial></link>"
        )
    for joint, kind, parent, xyz, rpy, axis in joints:
        leader, ratio, offset = _FOLLOWS.get(joint, (None, 0, 0))
        mimic = f'<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>' if leader else ""
        text.append(
            f'<joint name="{joint}" type="{kind}"><parent link="{parent}"/><child link="{joint}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            f'<limit lower="-9" upper="9" effort="9" velocity="9"/>{mimic}</joint>'
        )
    return f'<robot name="handmade">{"".join(text)}</robot>'


@functools.cache
def robot(name):
    """The model of a name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in _FILES:
            return load_urdf(FOLDER / _FILES[name], base="fixed" if name == "panda" else "floating")
        return load_urdf(_urdf(_MIMIC if name == "mimic" else _ZOO), base="floating" if name == "zoo" else "fixed")


@functools.cache
def twin(name):
    """Pinocchio's model of the same robot; it has the tree's coordinates, see model.q_to_pinocchio."""
    if name in _FILES:
        path = str(FOLDER / _FILES[name])
        return (
            pin.buildModelFromUrdf(path) if name == "panda" else pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        )
    return build_twin(robot(name))


def build_twin(model):
    """Pinocchio's model, built from the description with Pinocchio's own joints."""
    result = pin.Model()
    base = result.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint") if model.is_floating else 0
    _add_link(result, model.description, model.description.root.name, base, pin.SE3.Identity())
    return result


def _add_link(result, description, link, joint_id, placement):
    """Add a link and all beyond it, depth first, siblings by joint name."""
    inertial = description.link(link).inertial
    if inertial is not None:
        X = inertial.origin.matrix()
        own = pin.Inertia(inertial.mass, X[:3, 3], X[:3, :3] @ inertial.inertia @ X[:3, :3].T)
        result.appendBodyToJoint(joint_id, own, placement)
    result.addBodyFrame(link, joint_id, placement, 0)
    for joint in description.children_of(link):
        X_PJ = placement * pin.SE3(joint.origin.matrix())
        if joint.type == "fixed":
            _add_link(result, description, joint.child, joint_id, X_PJ)
        else:
            added = result.addJoint(joint_id, _JOINTS[joint.type](np.array(joint.axis)), X_PJ, joint.name)
            armature = result.armature.copy()
            armature[result.joints[added].idx_v] = joint.rotor_inertia
            result.armature = armature
            _add_link(result, description, joint.child, added, pin.SE3.Identity())


_JOINTS = {
    "revolute": lambda axis: pin.JointModelRevoluteUnaligned(axis),
    # Pinocchio offers the coordinate axes only
    "continuous": lambda axis: (pin.JointModelRUBX, pin.JointModelRUBY, pin.JointModelRUBZ)[int(np.argmax(axis))](),
    "prismatic": lambda axis: pin.JointModelPrismaticUnaligned(axis),
    "spherical": lambda axis: pin.JointModelSpherical(),
    "planar": lambda axis: pin.JointModelPlanar(),
    "floating": lambda axis: pin.JointModelFreeFlyer(),
}


def with_rotors(model, inertia):
    """The model with rotors on all its 1-dof joints."""
    joints = tuple(
        dataclasses.replace(joint, rotor_inertia=inertia)
        if joint.type in ("revolute", "prismatic", "continuous")
        else joint
        for joint in model.description.joints
    )
    return make_model(
        dataclasses.replace(model.description, joints=joints), "floating" if model.is_floating else "fixed"
    )


def random_state(model, seed=3):
    """q, v, a with every entry in use."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    for start in model.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, v, a


def gather(model):
    """G (tree nv, nv) with v_tree = G v."""
    return np.eye(model.nv) if model.mimic is None else model.mimic.matrix(model.nv)


def error(ours, theirs):
    """Largest difference relative to the largest entry."""
    return np.abs(np.asarray(ours) - theirs).max(initial=0.0) / max(1e-300, np.abs(theirs).max(initial=1e-300))
