# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading `couplings`: one by one, like another one, or many by one entry.

    normal: {motors: {femur: {"F.*_f": 1, "R.*_f": -1}}}                       joints by name or by pattern
    hung: {like: normal, off: [FL_f]}                                           normal, but FL_f is free
    "{}_released": {like: normal, for_each: "{}_f", off: ["{}_f", "{}_t"]}      one for each joint of such a name
    "braked_{}": {like: normal, for_some: ["{F.*}_f", "{R.*}_f"], locked: ["{}_f"]}  for each choice, but none and all

`{}` is what a joint's name has there, `{F.*}` the same of names that fit the pattern in it. So a file has the couplings
of whichever legs a robot has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations

import yaml

from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.coupling_details import BASE, DETAILS, CouplingDetails, read_details, read_locked
from mbsim_ros.model.sidecar.name_patterns import BadPattern, matching
from mbsim_ros.model.sidecar.names import SidecarNames
from mbsim_ros.model.sidecar.nodes import NodeReader, is_empty
from mbsim_ros.model.sidecar.settings import Coupling

_KEYS = ("motors", "locked", "like", "off", "for_each", "for_some", *DETAILS)
_HOLE = re.compile(r"\{([^{}]*)\}")
MOST_CHOSEN = 8  # joints of which some are chosen: 254 couplings
MOST_COUPLINGS = 2000  # of one file

Motors = dict[str, dict[str, float]]
Chosen = tuple[str, ...]  # what stands for the holes of an entry


def read_couplings(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[str, Coupling]:
    """Read `couplings`; their motors are added to `names`."""
    couplings: dict[str, Coupling] = {}
    for name, (key, value) in reader.entries(node).items():
        here = reader.within(reader.section, name)
        if name.startswith("{") and not _HOLE.match(name):
            here.error(key, "coupling named like the text of one", f"'{shortened(name)}'", "rename it")
        found = here.entries(value, _KEYS)
        choices = _choices(here, key, name, found, names)
        if len(couplings) + len(choices) > MOST_COUPLINGS:
            here.error(key, "too many couplings", f"more than {MOST_COUPLINGS}", "choose from fewer joints")
            break
        for chosen in choices:
            full = _filled(name, "_".join(chosen)) if chosen else name
            if full in couplings:
                here.error(key, "coupling given twice", f"'{shortened(full)}'", "rename one of them")
            couplings[full] = _coupling(here, full, found, chosen, couplings, names)
    return couplings


def read_coupling(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> Coupling:
    """Read a coupling that stands for itself, with the inertias of its motors' rotors; it has no name."""
    found = reader.entries(node, ("motors", "locked", *DETAILS, "rotor_inertia"))
    return _coupling(reader, "", found, (), {}, names)


def _choices(
    reader: NodeReader, key: yaml.Node, name: str, found: dict[str, tuple[yaml.Node, yaml.Node]], names: SidecarNames
) -> list[Chosen]:
    """The sets of names that stand for `{}`, one for each coupling of an entry; one that is empty for a plain entry."""
    given = [rule for rule in ("for_each", "for_some") if rule in found]
    if not given:
        return [()]
    if len(given) > 1 or "{}" not in name:
        rule, hint = ("both for_each and for_some", "keep one") if len(given) > 1 else ("name without {}", "add {}")
        reader.error(key, rule, f"'{shortened(name)}'", hint)
        return []
    if names.robot is None:
        return []
    node = found[given[0]][1]
    sets = [_fitting(reader, each, names) for each in (node.value if isinstance(node, yaml.SequenceNode) else [node])]
    if given == ["for_each"]:
        return [(each,) for some in sets for each in some]
    for some in sets:
        if len(some) > MOST_CHOSEN:
            reader.error(node, "too many to choose from", str(len(some)), f"at most {MOST_CHOSEN}")
            return []
    return [chosen for some in sets for count in range(1, len(some)) for chosen in combinations(some, count)]


def _fitting(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> list[str]:
    """What stands for the hole in the names of joints that a text such as `{F.*}_f` fits, in the order of the robot."""
    text = reader.text(node)
    if text is None:
        return []
    holes = _HOLE.findall(text)
    if len(holes) != 1:
        reader.error(node, "not one {} in it", f"'{shortened(text)}'", "write {}_joint or {pattern}_joint")
        return []
    before, after = _HOLE.split(text)[0], _HOLE.split(text)[-1]
    inner = [
        joint[len(before) : len(joint) - len(after)] for joint in names.joints
        if joint.startswith(before) and joint.endswith(after) and len(joint) > len(before) + len(after)
    ]  # fmt: skip
    names.count_tries(reader, node, len(inner))
    try:
        fitting = matching(holes[0] or ".*", inner)
    except BadPattern as reason:
        reader.error(node, "not a usable pattern", f"'{shortened(text)}'", str(reason))
        return []
    if not fitting:
        near = did_you_mean(before + after, names.joints, "see the URDF", len(reader.problems))
        reader.error(node, "fits no joint", f"'{shortened(text)}'", near)
    return fitting


def _filled(text: str, chosen: str) -> str:
    return text.replace("{}", chosen)


def _coupling(
    reader: NodeReader, name: str, found: dict[str, tuple[yaml.Node, yaml.Node]], chosen: Chosen,
    known: Mapping[str, Coupling], names: SidecarNames,
) -> Coupling:  # fmt: skip
    """One coupling of an entry: of another one what is not taken off, then its own motors, then what it locks."""
    other = _like(reader, found["like"][1], known) if "like" in found else None
    motors: Motors = {} if other is None else {motor: dict(joints) for motor, joints in other.motors.items()}
    locked = [] if other is None else list(other.locked)
    if "off" in found:
        _take_off(reader, found["off"][1], chosen, motors, locked, names)
    rows: dict[str, yaml.Node] = {}
    motor_keys: dict[str, yaml.Node] = {}
    for motor, (key, value) in (reader.entries(found["motors"][1]) if "motors" in found else {}).items():
        motor_keys[motor] = key
        motors[motor] = {}
        if is_empty(value):
            names.idle.append((reader, key))
        for joint_key, ratio_node in reader.entries(value).values():
            ratio = reader.number(ratio_node, "ratio")
            if ratio == 0:
                reader.error(ratio_node, "ratio of zero", str(joint_key.value), "drop the joint, or list it as locked")
            for joint in _members(reader, joint_key, chosen, names):
                if ratio is not None:
                    motors[motor][joint] = ratio
                    rows[joint] = joint_key
    if "locked" in found:
        _lock(reader, found["locked"][1], chosen, motors, locked, rows, names)
    driven = {joint for joints in motors.values() for joint in joints}
    for motor, key in motor_keys.items():
        # Joints not listed stay independent under their own name, so a motor may not take that name.
        if motor in names.joints and motor not in driven and motor not in locked:
            reader.error(key, "motor named like a free joint", f"'{shortened(motor)}'", "rename the motor")
    names.motors |= set(motors)
    details = read_details(reader, found, names, {*driven, *locked}, set(motors))
    return Coupling(name, motors, tuple(locked), **_with_details_of(other, details, {*driven, *locked}))


def _with_details_of(other: Coupling | None, own: CouplingDetails, held: set[str]) -> CouplingDetails:
    """What an entry says, and for the rest what the coupling says that it is like, of joints that it still holds."""
    if other is None:
        return own
    limits = {joint: limit for joint, limit in other.torque_limit.items() if joint in held} | own["torque_limit"]
    links = {joint: link for joint, link in other.measured_from.items() if joint in held} | own["measured_from"]
    return {**own, "torque_limit": limits, "measured_from": links}


def _like(reader: NodeReader, node: yaml.Node, known: Mapping[str, Coupling]) -> Coupling | None:
    other = reader.text(node)
    if other is not None and other not in known:
        hint = did_you_mean(other, known, "name one that stands before it", len(reader.problems))
        reader.error(node, "unknown coupling", f"'{shortened(other)}'", hint)
    return None if other is None else known.get(other)


def _take_off(
    reader: NodeReader, node: yaml.Node, chosen: Chosen, motors: Motors, locked: list[str], names: SidecarNames
) -> None:
    """Take joints off all motors and brakes (a list), or off single motors ({motor: [joint, …]})."""
    if isinstance(node, yaml.SequenceNode):
        for item in reader.items(node):
            for joint in _members(reader, item, chosen, names):
                for joints in motors.values():
                    joints.pop(joint, None)
                locked[:] = [each for each in locked if each != joint]
        return
    for pattern, (key, value) in reader.entries(node).items():
        try:
            meant = [pattern] if pattern in motors else matching(pattern, motors)
        except BadPattern as reason:
            reader.error(key, "not a usable pattern", f"'{shortened(pattern)}'", str(reason))
            continue
        if not meant:
            reader.error(key, "no such motor", f"'{shortened(pattern)}'", f"it has {', '.join(motors) or 'none'}")
        for item in reader.items(value):
            for joint in _members(reader, item, chosen, names):
                for motor in meant:
                    motors[motor].pop(joint, None)


def _lock(
    reader: NodeReader, node: yaml.Node, chosen: Chosen, motors: Motors, locked: list[str],
    rows: Mapping[str, yaml.Node], names: SidecarNames,
) -> None:  # fmt: skip
    own: set[str] = set()
    for item in reader.items(node):
        for joint in _locked_members(reader, item, chosen, names):
            if joint in own:
                reader.error(item, "joint locked twice", f"'{shortened(joint)}'", "list it once")
            elif joint in rows:
                line = rows[joint].start_mark.line + 1
                reader.error(
                    item, "joint both driven and locked", f"'{shortened(joint)}'", f"it is driven in line {line}"
                )
            else:
                own.add(joint)
                for joints in motors.values():  # of the coupling that it is like
                    joints.pop(joint, None)
                if joint not in locked:
                    locked.append(joint)


def _locked_members(reader: NodeReader, node: yaml.Node, chosen: Chosen, names: SidecarNames) -> list[str]:
    """What a text of `locked` means: joints, one of several axes by its name, or the base."""
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    if text not in names.joints and text != BASE:
        return _members(reader, node, chosen, names)
    one = read_locked(reader, node, names)
    return [] if one is None else [one]


def _members(reader: NodeReader, node: yaml.Node, chosen: Chosen, names: SidecarNames) -> list[str]:
    """The joints that a name, a pattern or a name with `{}` means."""
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    if not chosen or "{}" not in text:
        return names.meant_joints(reader, node).names
    nodes = [yaml.ScalarNode(node.tag, _filled(text, one), node.start_mark, node.end_mark) for one in chosen]
    return [joint for each in nodes for joint in names.meant_joints(reader, each).names]
