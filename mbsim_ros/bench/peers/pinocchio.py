# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Pinocchio as a peer: its model of a case, and its functions to time beside ours."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL

if TYPE_CHECKING:
    import pinocchio
from mbsim_ros.model.model import (
    CENTRAL_INERTIA,
    CENTRE,
    IQ,
    KIND,
    MASS,
    PARENT,
    ROTATION,
    ROTOR,
    TRANSLATION,
    Model,
)  # fmt: skip

# Its Data holds tensors of nv³ numbers: 1000 dofs would take 32 GB.
LARGEST = 150


def is_installed() -> bool:
    """Whether Pinocchio can be imported."""
    return importlib.util.find_spec("pinocchio") is not None


def load_urdf(file: Path, is_floating: bool) -> pinocchio.Model:
    """Pinocchio's own model of a file."""
    import pinocchio as pin

    arguments = [pin.JointModelFreeFlyer()] if is_floating else []
    return pin.buildModelFromUrdf(str(file), *arguments)


def from_model(model: Model) -> pinocchio.Model:
    """The same tree as a Pinocchio model; `configuration` gives a q in its layout."""
    import pinocchio as pin

    kinds = {
        REVOLUTE: pin.JointModelRZ, PRISMATIC: pin.JointModelPZ, SPHERICAL: pin.JointModelSpherical,
        PLANAR: pin.JointModelPlanar, FLOATING: pin.JointModelFreeFlyer,
    }  # fmt: skip
    peer = pin.Model()
    for body, (topology, constants) in enumerate(zip(model.topology, model.constants, strict=True)):
        placement = pin.SE3(constants[ROTATION : ROTATION + 9].reshape(3, 3), constants[TRANSLATION : TRANSLATION + 3])
        joint = peer.addJoint(int(topology[PARENT]), kinds[int(topology[KIND])](), placement, f"joint {body}")
        xx, yy, zz, xy, xz, yz = constants[CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
        central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(constants[MASS], constants[CENTRE : CENTRE + 3], central)
        peer.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        if constants[ROTOR] != 0.0:
            armature = peer.armature.copy()
            armature[peer.joints[joint].idx_v] = constants[ROTOR]
            peer.armature = armature
    return peer


def configuration(model: Model, q: np.ndarray) -> np.ndarray:
    """This q for a model made by `from_model`: the angles of planar joints become (cos, sin), others stay numbers."""
    parts, tree_q = [], model.tree_q(q)
    for body, at in enumerate(model.topology[:, IQ]):
        own = tree_q[at : model.topology[body + 1, IQ] if body + 1 < model.n_bodies else None]
        is_planar = model.topology[body, KIND] == PLANAR
        parts.append([*own[:-1], np.cos(own[-1]), np.sin(own[-1])] if is_planar else own)
    return np.concatenate(parts)
