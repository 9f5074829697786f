# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Rules about the whole robot: names, the tree, mimic joints, mass where something moves.

All of them are linear in the size of the file and none recurses: chains of thousands of links are ordinary.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Joint, Link, RobotDescription
from mbsim_ros.model.problems import HINTED_PROBLEMS, NAMES_COMPARED, Problem, did_you_mean, shortened

Named = TypeVar("Named", Link, Joint)


def check_names(file: str, links: Sequence[Link], joints: Sequence[Joint]) -> list[Problem]:
    """Return every error of single names and ends; the tree is worth a look once there is none."""
    problems = _duplicates(file, "link", links) + _duplicates(file, "joint", joints)
    names = {link.name for link in links}
    return problems + _unknown_ends(file, names, joints) + _self_joints(file, joints) + _mimics(file, joints)


def check_tree(file: str, links: Sequence[Link], joints: Sequence[Joint]) -> list[Problem]:
    """Return every error of the tree; needs sound names."""
    names = {link.name: link for link in links}
    parents, problems = _parents(file, joints)
    return problems + _loops(file, names, parents) + _roots(file, names, parents)


def without_lost_mimics(joints: Sequence[Joint]) -> list[Joint]:
    """Free the joints whose leader is not in the robot, as the warning about them says."""
    names = {joint.name for joint in joints}
    return [replace(joint, mimic=None) if joint.mimic and joint.mimic.joint not in names else joint for joint in joints]


def check_mass(robot: RobotDescription) -> list[Problem]:
    """Return warnings about frames without mass and about joints that move nothing; needs a sound tree."""
    problems = []
    carried = _subtree_mass(robot)
    root = robot.root
    moved_by = {joint.child: joint for joint in robot.joints}
    for link in robot.links:
        joint = moved_by.get(link.name)
        if joint is not None and joint.type != "fixed" and carried[link.name] == 0:
            hint = "forward dynamics will refuse it: give the links below some mass"
            rule, value = "movable joint carries no mass", f"below link '{link.name}'"
            problems.append(_warning(robot, joint.line, "joint", joint.name, rule, value, hint))
        elif link.inertial is None and not (link is root and link.name == "world"):
            hint = "it counts as a frame without mass"
            problems.append(_warning(robot, link.line, "link", link.name, "link without inertial", "", hint))
    return problems


def _duplicates(file: str, kind: str, items: Sequence[Named]) -> list[Problem]:
    first: dict[str, Named] = {}
    problems = []
    for item in items:
        if item.name in first:
            value = f"first in line {first[item.name].line}"
            problems.append(Problem(file, item.line, kind, item.name, f"duplicate {kind} name", value, "rename one"))
        first.setdefault(item.name, item)
    return problems


def _unknown_ends(file: str, names: set[str], joints: Iterable[Joint]) -> list[Problem]:
    problems: list[Problem] = []
    for joint in joints:
        ends = (("parent", joint.parent, joint.parent_line), ("child", joint.child, joint.child_line))
        for end, link, line in ends:
            if link not in names:
                hint = did_you_mean(link, names, "add the link or correct the name", len(problems))
                rule, value = f"unknown {end} link", f"'{shortened(link)}'"
                problems.append(Problem(file, line, "joint", joint.name, rule, value, hint))
    return problems


def _self_joints(file: str, joints: Iterable[Joint]) -> list[Problem]:
    rule, hint = "joins a link to itself", "name two different links"
    return [
        Problem(file, joint.line, "joint", joint.name, rule, f"'{joint.child}'", hint)
        for joint in joints
        if joint.parent == joint.child
    ]


def _parents(file: str, joints: Iterable[Joint]) -> tuple[dict[str, Joint], list[Problem]]:
    """Return the first joint that moves each link, and an error for every further one."""
    parents: dict[str, Joint] = {}
    problems = []
    for joint in joints:
        first = parents.setdefault(joint.child, joint)
        if first is not joint:
            value = f"also the child of joint '{first.name}' in line {first.line}"
            hint = "a URDF is a tree: remove one of the joints"
            problems.append(Problem(file, joint.child_line, "link", joint.child, "two parents", value, hint))
    return parents, problems


def _loops(file: str, names: dict[str, Link], parents: dict[str, Joint]) -> list[Problem]:
    """Return an error per closed chain of joints."""
    problems = []
    finished: set[str] = set()
    for start in names:
        path: dict[str, int] = {}
        link = start
        while link in parents and link not in finished and link not in path:
            path[link] = len(path)
            link = parents[link].parent
        if link in path:
            chain = [*list(path)[path[link] :], link][::-1]
            joint = parents[link]
            value = " > ".join(chain if len(chain) <= 10 else [*chain[:5], "…", *chain[-4:]])
            hint = "a URDF is a tree: remove one of the joints"
            problems.append(Problem(file, joint.line, "joint", joint.name, "closes a loop", value, hint))
        finished.update(path)
    return problems


def _roots(file: str, names: dict[str, Link], parents: dict[str, Joint]) -> list[Problem]:
    roots = [link for link in names.values() if link.name not in parents]
    hint = "join them to one tree"
    return [
        Problem(file, link.line, "link", link.name, "second root", f"'{roots[0].name}' has no parent either", hint)
        for link in roots[1:]
    ]


def _mimics(file: str, joints: Sequence[Joint]) -> list[Problem]:
    problems: list[Problem] = []
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        mimic = joint.mimic
        if mimic is None:
            continue
        where = (file, mimic.line, "joint", joint.name)
        target = by_name.get(mimic.joint)
        if target is None:
            rule, value = "mimics an unknown joint", f"'{shortened(mimic.joint)}'"
            hint = f"it moves by itself, {_similar_joint(joint.name, mimic.joint, by_name, len(problems))}"
            problems.append(Problem(*where, rule, value, hint, "warning"))
        elif target is joint:
            problems.append(Problem(*where, "mimics itself", f"'{mimic.joint}'", "name another joint"))
        elif target.type not in SINGLE_AXIS_TYPES:
            rule, value = "mimics a joint without one axis", f"'{target.name}' is {target.type}"
            hint = "only revolute, continuous and prismatic joints can be mimicked"
            problems.append(Problem(*where, rule, value, hint))
        if joint.type not in SINGLE_AXIS_TYPES:
            hint = "only revolute, continuous and prismatic joints can mimic"
            problems.append(Problem(*where, "mimic on a joint without one axis", joint.type, hint))
    return problems + _mimic_cycles(file, by_name)


def _similar_joint(follower: str, name: str, by_name: dict[str, Joint], already: int) -> str:
    """Hint for a lost leader; in robots with sides it lost the same prefix that its follower has."""
    few = already <= HINTED_PROBLEMS and len(by_name) <= NAMES_COMPARED
    longer = [known for known in by_name if known.endswith(name)] if few else []
    if longer:
        return f"did you mean '{max(longer, key=lambda known: len(os.path.commonprefix([known, follower])))}'?"
    return did_you_mean(name, by_name, "name a joint of this robot", already)


def _mimic_cycles(file: str, by_name: dict[str, Joint]) -> list[Problem]:
    problems = []
    finished: set[str] = set()
    for start in by_name:
        path: dict[str, int] = {}
        name = start
        while name in by_name and name not in finished and name not in path:
            path[name] = len(path)
            mimic = by_name[name].mimic
            name = mimic.joint if mimic is not None else ""
        if name in path and len(path) - path[name] > 1:
            chain = [*list(path)[path[name] :], name]
            value = " > ".join(chain if len(chain) <= 10 else [*chain[:5], "…", *chain[-4:]])
            mimic = by_name[name].mimic
            assert mimic is not None
            rule, hint = "joints mimic each other in a circle", "one of them must move by itself"
            problems.append(Problem(file, mimic.line, "joint", name, rule, value, hint))
        finished.update(path)
    return problems


def _subtree_mass(robot: RobotDescription) -> dict[str, float]:
    """Mass plus moments of inertia of each link with everything below it: zero means that nothing resists."""
    order = [robot.root.name]
    for name in order:  # grows while it is walked: parents before children
        order += [joint.child for joint in robot.children_of(name)]
    mass = {link.name: _mass_and_moments(link) for link in robot.links}
    parent = {joint.child: joint.parent for joint in robot.joints}
    for name in reversed(order[1:]):
        mass[parent[name]] += mass[name]
    return mass


def _mass_and_moments(link: Link) -> float:
    return link.inertial.mass + float(link.inertial.inertia.trace()) if link.inertial else 0.0


def _warning(robot: RobotDescription, line: int, kind: str, name: str, rule: str, value: str, hint: str) -> Problem:
    return Problem(robot.source, line, kind, name, rule, value, hint, "warning")
