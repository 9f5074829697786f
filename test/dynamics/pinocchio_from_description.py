# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A Pinocchio model built from what the file says, with nothing of our assembly: axes as they are, no merging of ours.

Only the frame in which a planar joint slides is a convention of ours (docs/notation.md) and is taken from it.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin


def build(model):
    """The peer of a model's description, and the places of its links: {link: (joint, placement)}."""
    description = model.description
    peer, rotors, places = pin.Model(), {}, {}
    root = description.root
    joint = peer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root") if model.is_floating else 0
    places[root.name] = (joint, pin.SE3.Identity())
    _append(peer, joint, root, pin.SE3.Identity())
    pending = list(reversed(description.children_of(root)))
    while pending:
        ours = pending.pop()
        parent, X = places[ours.parent]
        X = X * _placement(ours.origin.matrix())
        after = pin.SE3.Identity()
        if ours.type == "fixed":
            joint, after = parent, X
        else:
            if ours.type == "planar":
                turned = _placement(np.linalg.inv(model.frame(ours.child).X_BF))
                X, after = X * turned, turned.inverse()
            joint = peer.addJoint(parent, _joint(ours), X, ours.name)
            if ours.rotor_inertia:
                rotors[peer.joints[joint].idx_v] = ours.rotor_inertia
        places[ours.child] = (joint, after)
        _append(peer, joint, description.link(ours.child), after)
        pending += reversed(description.children_of(ours.child))
    armature = np.zeros(peer.nv)
    for place, inertia in rotors.items():
        armature[place] = inertia
    peer.armature = armature
    return peer, places


def configuration(model, q):
    """q of the tree in the peer's layout: the angle of a planar joint is (cos, sin), all others are numbers."""
    q_tree = model.tree_q(q)
    at = 7 if model.is_floating else 0
    parts = [q_tree[:at]]
    for joint in model.joints:
        own = q_tree[at : at + joint.nq]
        at += joint.nq
        parts.append([own[0], own[1], np.cos(own[2]), np.sin(own[2])] if joint.type == "planar" else own)
    return np.concatenate(parts)


def _joint(ours):
    axis = np.array(ours.axis)
    if ours.type in ("revolute", "continuous"):
        return pin.JointModelRevoluteUnaligned(axis)
    if ours.type == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    kinds = {"spherical": pin.JointModelSpherical, "floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
    return kinds[ours.type]()


def _append(peer, joint, link, placement):
    if joint > 0 and link.inertial is not None:
        X = link.inertial.origin.matrix()
        about_com = X[:3, :3] @ link.inertial.inertia @ X[:3, :3].T
        peer.appendBodyToJoint(joint, pin.Inertia(link.inertial.mass, X[:3, 3], about_com), placement)


def _placement(X):
    return pin.SE3(np.array(X[:3, :3]), np.array(X[:3, 3]))
