# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a root link floats or stands still where nobody says it.

A URDF cannot say it. Most robots of several limbs float; a root called `world` never does; an arm is bolted down. An
arm is told by four signs together, because a wrong guess is worse than none: one joint leaves the root, it turns about
the vertical, at least four joints follow each other before anything branches, and the root is the lighter half (a drone
with an arm is not one).
"""

from __future__ import annotations

from typing import NamedTuple

from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Joint, RobotDescription
from mbsim_ros.model.sidecar.settings import Sidecar

BASES = ("auto", "floating", "fixed")
ARM_JOINTS = 4  # in a row: a SCARA has as many
VERTICAL = 0.99  # cosine


class BaseChoice(NamedTuple):
    """What was chosen, why, and whether that was a guess of ours."""

    is_floating: bool
    why: str
    is_guess: bool = False


def choose_base(robot: RobotDescription, base: str = "auto", sidecar: Sidecar | None = None) -> BaseChoice:
    """Floating or fixed: as asked, as the sidecar or the description says, or by the rule at the head of this file."""
    if base not in BASES:
        raise ValueError(f"base: expected 'auto', 'floating' or 'fixed', got {base!r}")
    if base != "auto":
        return BaseChoice(base == "floating", "as asked")
    if sidecar is not None and sidecar.base is not None:
        return BaseChoice(sidecar.base == "floating", "its sidecar says so")
    if robot.base is not None:
        return BaseChoice(robot.base == "floating", "its description says so")
    return by_rule(robot)


def by_rule(robot: RobotDescription) -> BaseChoice:
    """What nothing but the tree tells."""
    root = robot.root.name
    if root == "world":
        return BaseChoice(False, "its root link is called world")
    arm = _arm(robot, root)
    if arm:
        return BaseChoice(False, f"it is an arm: {arm} joints in a row on '{root}'", is_guess=True)
    return BaseChoice(True, f"'{root}' is neither called world nor the foot of an arm", is_guess=True)


def _arm(robot: RobotDescription, root: str) -> int:
    """Number of joints in a row if the robot is an arm, else 0."""
    body, leaving = _rigid(robot, root)
    if len(leaving) != 1 or not _turns_about_vertical(robot, root, leaving[0]):
        return 0
    masses = {link.name: link.inertial.mass if link.inertial is not None else 0.0 for link in robot.links}
    if sum(masses[name] for name in body) > 0.5 * sum(masses.values()):
        return 0
    count = 0
    while len(leaving) == 1 and leaving[0].type in SINGLE_AXIS_TYPES:
        count += 1
        leaving = _rigid(robot, leaving[0].child)[1]
    return count if count >= ARM_JOINTS else 0


def _rigid(robot: RobotDescription, link: str) -> tuple[list[str], list[Joint]]:
    """The links that are fixed to each other around a link, and the moving joints that leave them."""
    links, leaving = [link], []
    for name in links:
        for joint in robot.children_of(name):
            if joint.type == "fixed":
                links.append(joint.child)
            else:
                leaving.append(joint)
    return links, leaving


def _turns_about_vertical(robot: RobotDescription, root: str, joint: Joint) -> bool:
    """Whether the axis of a joint on the root's body is vertical where the root is upright."""
    if joint.type not in ("revolute", "continuous"):
        return False
    R = joint.origin.matrix()[:3, :3]
    parents = {each.child: each for each in robot.joints}
    link = joint.parent
    while link != root:
        R = parents[link].origin.matrix()[:3, :3] @ R
        link = parents[link].parent
    return bool(abs(float(R[2] @ joint.axis)) > VERTICAL)
