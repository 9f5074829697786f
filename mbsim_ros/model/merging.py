# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Several models as one: a forest whose trees stand or float in one world, with the entity's name before every name.

`walker/left_hip` is the joint left_hip of the entity `walker`; `walker/base` the joint by which it floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.description import Joint, Link, Origin, RobotDescription
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import (
    Attachment,
    Closure,
    ContactSettings,
    Coupling,
    Sidecar,
    Spring,
    upright,
    with_sidecar,
)

Value = TypeVar("Value")
WORLD = "world"
BASE = "base"  # the joint by which an entity floats


def merge_models(models: Mapping[str, Model], poses: Mapping[str, Origin] | None = None) -> Model:
    """One model of all; poses: where the roots of those that do not float are, by entity."""
    links: list[Link] = [Link(WORLD)]
    joints: list[Joint] = []
    for name, model in models.items():
        _check_name(name)
        robot = upright(model.description, model.sidecar)
        links += [replace(link, name=f"{name}/{link.name}") for link in robot.links]
        joints += [_renamed(joint, name) for joint in robot.joints]
        kind = "floating" if model.is_floating else "fixed"
        origin = Origin() if model.is_floating or poses is None else poses.get(name, Origin())
        joints.append(Joint(f"{name}/{BASE}", kind, WORLD, f"{name}/{robot.root.name}", origin=origin))
    title = "+".join(list(models)[:3]) + ("+…" if len(models) > 3 else "")
    sidecar = merge_sidecars({name: model.sidecar for name, model in models.items() if model.sidecar is not None})
    description = with_sidecar(RobotDescription(title, tuple(links), tuple(joints), base="fixed"), sidecar)
    return make_model(description, "fixed", sidecar)


def merge_sidecars(sidecars: Mapping[str, Sidecar]) -> Sidecar:
    """What they say of joints and links, under the names that these have in the forest; not the laws of contact."""
    merged = Sidecar()
    for name, own in sidecars.items():
        contact, points = merged.contact, {} if own.contact is None else own.contact.points
        if points:
            known = {} if contact is None else contact.points
            contact = ContactSettings(points={**known, **_keys(points, name)})
        merged = Sidecar(
            contact=contact,
            couplings={**merged.couplings, **{f"{name}/{key}": _coupling(c, name) for key, c in own.couplings.items()}},
            springs={**merged.springs, **{f"{name}/{key}": _spring(s, name) for key, s in own.springs.items()}},
            gains={**merged.gains, **_keys(own.gains, name)},
            rotor_inertia={**merged.rotor_inertia, **_keys(own.rotor_inertia, name)},
            damping={**merged.damping, **_keys(own.damping, name)},
            closures={**merged.closures, **{f"{name}/{key}": _closure(c, name) for key, c in own.closures.items()}},
            feet=(*merged.feet, *(f"{name}/{foot}" for foot in own.feet)),
        )
    return merged


def _check_name(name: str) -> None:
    if not name or "/" in name or name == WORLD:
        raise ValueError(f"entities: expected a name without '/' that is not '{WORLD}', got {name!r:.80}")


def _renamed(joint: Joint, name: str) -> Joint:
    mimic = joint.mimic if joint.mimic is None else replace(joint.mimic, joint=f"{name}/{joint.mimic.joint}")
    return replace(
        joint, name=f"{name}/{joint.name}", parent=f"{name}/{joint.parent}", child=f"{name}/{joint.child}", mimic=mimic
    )


def _keys(values: Mapping[str, Value], name: str) -> dict[str, Value]:
    return {f"{name}/{key}": value for key, value in values.items()}


def _coupling(coupling: Coupling, name: str) -> Coupling:
    motors = {f"{name}/{motor}": _keys(ratios, name) for motor, ratios in coupling.motors.items()}
    links = {f"{name}/{joint}": f"{name}/{link}" for joint, link in coupling.measured_from.items()}
    return Coupling(
        f"{name}/{coupling.name}", motors, tuple(f"{name}/{joint}" for joint in coupling.locked),
        _keys(coupling.torque_limit, name), links,
    )  # fmt: skip


def _attachments(points: Sequence[Attachment], name: str) -> tuple[Attachment, ...]:
    return tuple(Attachment(f"{name}/{each.link}", each.point) for each in points)


def _spring(spring: Spring, name: str) -> Spring:
    return replace(spring, name=f"{name}/{spring.name}", points=_attachments(spring.points, name))


def _closure(closure: Closure, name: str) -> Closure:
    first, second = _attachments(closure.ends, name)
    return replace(closure, name=f"{name}/{closure.name}", ends=(first, second))
