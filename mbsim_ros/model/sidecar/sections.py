# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading each section of a sidecar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import yaml

from mbsim_ros.model.description import Vector3
from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.names import SidecarNames, settled
from mbsim_ros.model.sidecar.nodes import NodeReader, is_empty
from mbsim_ros.model.sidecar.settings import Attachment, Closure, ContactSettings, Gains, InitialState, Spring

_FRICTION = ("friction", "friction_static", "friction_dynamic")
_POSITIVE = ("max_penetration", "stiffness", "tangential_stiffness", "stick_speed")
_CONTACT_NUMBERS = (*_POSITIVE, "damping_ratio", *_FRICTION, "damping", "tangential_damping")
_LAW = (*_CONTACT_NUMBERS, "law", "law_parameters")
_CONTACT = (*_LAW, "points", "mesh_points", "links", "pairs")
_MESH_POINTS = (4, 1000)
_SPRING = ("from", "to", "via", "stiffness", "rest_length", "damping", "tension_only")


def read_contact(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> ContactSettings:
    """Read `contact`."""
    found = reader.entries(node, _CONTACT)
    return replace(
        _law_settings(reader, found),
        points=_points(reader, found["points"][1], names) if "points" in found else {},
        mesh_points=_mesh_points(reader, found["mesh_points"][1]) if "mesh_points" in found else None,
        links=_of_links(reader, found["links"][1], names) if "links" in found else {},
        pairs=_of_pairs(reader, found["pairs"][1], names) if "pairs" in found else {},
    )


def _mesh_points(reader: NodeReader, node: yaml.Node) -> int | None:
    """How many points a mesh has at most."""
    number, (least, most) = reader.number(node, "mesh_points"), _MESH_POINTS
    if number is None:
        return None
    if number != int(number) or not least <= number <= most:
        reader.error(node, "not a number of points", f"{number:g}", f"write a whole number from {least} to {most}")
        return None
    return int(number)


def _law_settings(reader: NodeReader, found: dict[str, tuple[yaml.Node, yaml.Node]]) -> ContactSettings:
    """What says how hard, damped and slippery a contact is: of all, of a link or of a pair."""
    numbers: dict[str, float | None] = dict.fromkeys(_CONTACT_NUMBERS)
    for key, (_, value) in found.items():
        if key in _POSITIVE:
            numbers[key] = reader.number(value, key, above=0.0)
        elif key in _CONTACT_NUMBERS:
            numbers[key] = reader.number(value, key, least=0.0)
    static, dynamic = _friction(reader, found, numbers)
    return ContactSettings(
        numbers["max_penetration"], numbers["damping_ratio"], static, dynamic, numbers["stiffness"], numbers["damping"],
        law=reader.text(found["law"][1]) if "law" in found else None, law_parameters=_law_parameters(reader, found),
        tangential_stiffness=numbers["tangential_stiffness"], tangential_damping=numbers["tangential_damping"],
        stick_speed=numbers["stick_speed"],
    )  # fmt: skip


def _of_links(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[str, ContactSettings]:
    found = {}
    for key, value in reader.entries(node).values():
        link = names.link(reader, key)
        settings = _law_settings(reader, reader.entries(value, _LAW))
        if link is not None:
            found[link] = settings
    return found


def _of_pairs(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[tuple[str, str], ContactSettings]:
    """Entries `a b: {…}`, in whichever order the two links are named; `entity/link` is one of another entity."""
    found: dict[tuple[str, str], ContactSettings] = {}
    for key, value in reader.entries(node).values():
        settings = _law_settings(reader, reader.entries(value, _LAW))
        words = str(key.value).split()
        unknown = [word for word in words if names.robot is not None and word not in names.links]
        if len(words) != 2 or not all(_is_of_another(word) for word in unknown) or len(unknown) == 2:
            known = ", ".join(names.links[:5]) or "two links"
            hint = f"write `a b: {{…}}`, of {known}, …, or `a entity/b: {{…}}` with a link of another entity"
            reader.error(key, "not a pair of links", f"'{shortened(str(key.value))}'", hint)
            continue
        a, b = sorted(words)
        if (a, b) in found:
            reader.error(key, "pair given twice", f"'{a} {b}'", "keep one")
        found[a, b] = settings
    return found


def _is_of_another(name: str) -> bool:
    """Whether a name is that of a link of another entity of a scene."""
    entity, _, link = name.partition("/")
    return bool(entity and link)


def _friction(
    reader: NodeReader, found: dict[str, tuple[yaml.Node, yaml.Node]], numbers: dict[str, float | None]
) -> tuple[float | None, float | None]:
    both, static, dynamic = (numbers[key] for key in _FRICTION)
    given = [key for key in _FRICTION if key in found]
    if "friction" in given and len(given) > 1:
        reader.error(found["friction"][0], "friction given twice", ", ".join(given), "keep friction or the other two")
    if static is not None and dynamic is not None and dynamic > static:
        value = f"{dynamic:g} > {static:g}"
        reader.error(found["friction_dynamic"][1], "dynamic friction above static", value, "swap them")
    static = both if static is None else static
    dynamic = both if dynamic is None else dynamic
    return (dynamic if static is None else static), (static if dynamic is None else dynamic)


def _law_parameters(reader: NodeReader, found: dict[str, tuple[yaml.Node, yaml.Node]]) -> dict[str, float]:
    entries = reader.entries(found["law_parameters"][1]) if "law_parameters" in found else {}
    numbers = {key: reader.number(value, key, least=0.0) for key, (_, value) in entries.items()}
    return {key: number for key, number in numbers.items() if number is not None}


def _points(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[str, tuple[Vector3, ...]]:
    points = {}
    for key, value in reader.entries(node).values():
        link = names.link(reader, key)
        vectors = [reader.vector(item, "point") for item in reader.items(value)]
        if link is not None:
            points[link] = tuple(vector for vector in vectors if vector is not None)
    return points


def read_spring(reader: NodeReader, name: str, node: yaml.Node, names: SidecarNames) -> Spring | None:
    """Read one entry of `springs`; None if it is not complete."""
    found = reader.entries(node, _SPRING)
    for key in ("from", "to", "stiffness", "rest_length"):
        if key not in found:
            reader.error(node, "missing key", f"'{key}'", f"add {key}")
    via = reader.items(found["via"][1]) if "via" in found else []
    ends = [found[key][1] if key in found else None for key in ("from", "to")]
    points = [_attachment(reader, place, names) for place in (ends[0], *via, ends[1]) if place is not None]
    attached = tuple(point for point in points if point is not None)
    numbers = {
        key: reader.number(found[key][1], key, least=0.0) if key in found else 0.0
        for key in ("stiffness", "rest_length", "damping")
    }
    tension_only = reader.boolean(found["tension_only"][1], "tension_only") if "tension_only" in found else False
    if len(attached) == len(points) >= 2 and len({point.link for point in attached}) == 1:
        reader.error(node, "spring within one link", f"'{attached[0].link}'", "it can never act: name two links")
    stiffness, rest_length, damping = numbers.values()
    if stiffness is None or rest_length is None or damping is None or tension_only is None or len(attached) < 2:
        return None
    return Spring(name, attached, stiffness, rest_length, damping, tension_only)


def _attachment(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> Attachment | None:
    found = reader.entries(node, ("link", "point"))
    if "link" not in found:
        reader.error(node, "missing key", "'link'", "write {link: …, point: [x, y, z]}")
        return None
    link = names.link(reader, found["link"][1])
    point = reader.vector(found["point"][1], "point") if "point" in found else (0.0, 0.0, 0.0)
    return None if link is None or point is None else Attachment(link, point)


def read_closure(reader: NodeReader, name: str, node: yaml.Node, names: SidecarNames) -> Closure | None:
    """Read one entry of `closures`; None if it is not complete."""
    found = reader.entries(node, ("from", "to", "axes"))
    for key in ("from", "to"):
        if key not in found:
            reader.error(node, "missing key", f"'{key}'", f"add {key}")
    ends = [_attachment(reader, found[key][1], names) for key in ("from", "to") if key in found]
    axes = [reader.vector(item, "axis") for item in reader.items(found["axes"][1])] if "axes" in found else []
    if "axes" in found and len(axes) != 2:
        reader.error(found["axes"][0], "wrong number of axes", str(len(axes)), "write [axis in from, axis in to]")
        return None
    for axis in axes:
        if axis is not None and not any(axis):
            reader.error(found["axes"][0], "axis of zero", "[0, 0, 0]", "write a direction")
            return None
    if len(ends) < 2 or ends[0] is None or ends[1] is None or any(axis is None for axis in axes):
        return None
    if ends[0].link == ends[1].link:
        reader.error(node, "closure within one link", f"'{ends[0].link}'", "name two links")
        return None
    return Closure(name, (ends[0], ends[1]), (axes[0], axes[1]) if axes else None)  # type: ignore[arg-type]


def read_initial_state(reader: NodeReader, name: str, node: yaml.Node, names: SidecarNames) -> InitialState:
    """Read one entry of `initial_states`."""
    found = reader.entries(node, ("joints", "base", "velocities"))
    joints = _joint_values(reader, found["joints"][1], names, "position") if "joints" in found else {}
    velocities = _joint_values(reader, found["velocities"][1], names, "velocity") if "velocities" in found else {}
    known = ("xyz", "lowest_point", "rpy", "linear", "angular")
    base = reader.entries(found["base"][1], known) if "base" in found else {}
    lowest = reader.number(base["lowest_point"][1], "lowest_point") if "lowest_point" in base else None
    if lowest is not None and "xyz" in base:
        reader.error(base["lowest_point"][0], "height given twice", "xyz and lowest_point", "keep one of them")
    vectors = {key: reader.vector(value, key) for key, (_, value) in base.items() if key != "lowest_point"}
    zero = (0.0, 0.0, 0.0)
    return InitialState(
        name, joints, velocities, vectors.get("xyz"), vectors.get("rpy"),
        vectors.get("linear") or zero, vectors.get("angular") or zero, lowest,
    )  # fmt: skip


def _joint_values(
    reader: NodeReader, node: yaml.Node, names: SidecarNames, what: str
) -> dict[str, float | tuple[float, ...]]:
    """Numbers of joints of one axis, by names or patterns, and lists of those that have several, by their names."""
    values, lists = [], {}
    for key, value_node in reader.entries(node).values():
        count = names.count_of_joint(key)
        if count is not None or (names.robot is None and isinstance(value_node, yaml.SequenceNode)):
            numbers = reader.numbers(value_node, f"{what} of {key.value}", count)
            lists.update({} if numbers is None else {str(key.value): numbers})
            continue
        meant = names.meant_joints(reader, key)
        value = reader.number(value_node, what)
        if value is not None:
            values.append((meant, (value, value_node)))
    found = settled(values)
    if what == "position":
        for joint, (value, value_node) in found.items():
            names.position(reader, value_node, joint, value)
    return {**{joint: value for joint, (value, _) in found.items()}, **lists}


def read_gains(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[str, Gains]:
    """Read `gains` of joints and motors."""
    gains = []
    for key, value in reader.entries(node).values():
        meant = names.meant_joints(reader, key, with_motors=True)
        here = reader.within("gains", str(key.value))
        found = here.entries(value, ("kp", "kd"))
        if not found:
            here.error(value, "missing key", "'kp'", "write {kp: …, kd: …}")
        numbers = {gain: here.number(number, gain, least=0.0) for gain, (_, number) in found.items()}
        gains.append((meant, Gains(numbers.get("kp") or 0.0, numbers.get("kd") or 0.0)))
    return settled(gains)


def read_amounts(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> dict[str, float]:
    """Read `rotor_inertia` (of joints and motors) or `damping` (of joints): numbers ≥ 0."""
    amounts, of_rotors = [], reader.section == "rotor_inertia"
    for key, value in reader.entries(node).values():
        # a joint that mimics another may well have a damper of its own
        meant = names.meant_joints(reader, key, with_motors=of_rotors, moves_itself=of_rotors)
        amount = reader.number(value, str(key.value), least=0.0)
        if amount is not None:
            amounts.append((meant, amount))
    return settled(amounts)


def read_choice(reader: NodeReader, node: yaml.Node, choices: tuple[str, str]) -> str | None:
    """Read one of two words, such as what the root link is where nobody says it (`base`)."""
    word = None if is_empty(node) else reader.text(node)
    if word is not None and word not in choices:
        hint = did_you_mean(word, choices, f"write {choices[0]} or {choices[1]}", len(reader.problems))
        reader.error(node, f"neither {choices[0]} nor {choices[1]}", f"'{shortened(word)}'", hint)
        return None
    return word


def read_feet(reader: NodeReader, node: yaml.Node, names: SidecarNames, given: Mapping[str, object]) -> tuple[str, ...]:
    """Read `feet`, names or patterns of links; each has a collision shape or points that are `given`."""
    shaped = {link.name for link in names.robot.links if link.collisions} if names.robot is not None else set()
    feet: dict[str, None] = {}
    for item in [] if is_empty(node) else reader.items(node):
        for link in names.meant_links(reader, item):
            feet[link] = None
            if names.robot is not None and link not in shaped and link not in given:
                hint = "list its points under contact.points"
                reader.error(item, "foot without a collision shape", f"'{shortened(link)}'", hint)
    return tuple(feet)
