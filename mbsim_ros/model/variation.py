# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The same robot with other numbers: masses, payloads, friction, damping; for studies of robustness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.description import Inertial, Link, Origin
from mbsim_ros.model.model import Model
from mbsim_ros.model.payload import Payload, make_payload, refuse_unknown
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import ContactSettings, Sidecar

Numbers = float | Mapping[str, float] | None  # one for all, or by name
Payloads = Mapping[str, float | Sequence] | None  # a mass, with where it is and its inertia, by link


def varied(model: Model, mass: Numbers, payload: Payloads, friction: float | None, damping: Numbers) -> Model:
    """Another model; see `Model.with_`. ValueError says what of it cannot be."""
    robot = model.description
    with_mass = {link.name for link in robot.links if link.inertial is not None}
    factors, loads = _by_name("mass", mass, with_mass), _payloads(payload, {link.name for link in robot.links})
    links = tuple(_loaded(_scaled(link, factors, mass), loads.get(link.name)) for link in robot.links)
    moving = {joint.name for joint in robot.joints if joint.type != "fixed"}
    resisting = _by_name("damping", damping, moving)
    joints = tuple(
        replace(joint, damping=_new("damping", joint.name, joint.damping, resisting[joint.name], damping, 0.0))
        if joint.name in resisting
        else joint
        for joint in robot.joints
    )
    sidecar = model.sidecar
    if friction is not None:
        value = _number("friction", friction, 0.0)
        own = Sidecar() if sidecar is None else sidecar
        contact = ContactSettings() if own.contact is None else own.contact
        sidecar = replace(own, contact=replace(contact, friction_static=value, friction_dynamic=value))
    base = "floating" if model.is_floating else "fixed"
    return make_model(replace(robot, links=links, joints=joints, xml=""), base, sidecar)


def _by_name(argument: str, given: Numbers, names: set[str]) -> dict[str, float]:
    """Numbers by name; one number is a factor for all."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, _number(argument, given, 0.0))
    for name in given:
        if name not in names:
            hint = did_you_mean(str(name), names, f"there are {', '.join(sorted(names))}", 0)
            raise ValueError(f"{argument}[{name!r}]: no such entry in the robot: {hint}")
    return {name: _number(f"{argument}[{name!r}]", value, 0.0) for name, value in given.items()}


def _new(argument: str, name: str, old: float, value: float, given: Numbers, least: float) -> float:
    """What a number becomes: the value that its name was given, or old times the factor for all."""
    new = value if isinstance(given, Mapping) else old * value
    if new < least:
        raise ValueError(f"{argument}[{name!r}]: expected {least} or more, got {new}")
    return new


def _scaled(link: Link, masses: dict[str, float], given: Numbers) -> Link:
    """A link of another mass, distributed as before: its inertia grows alike."""
    if link.name not in masses or link.inertial is None:
        return link
    own = link.inertial
    new = _new("mass", link.name, own.mass, masses[link.name], given, 0.0)
    if new == 0.0 or own.mass == 0.0:
        raise ValueError(
            f"mass[{link.name!r}]: expected a mass above 0 for a link that has one, got {new} for {own.mass}"
        )
    return replace(link, inertial=replace(own, mass=new, inertia=own.inertia * (new / own.mass)))


def _payloads(given: Payloads, names: set[str]) -> dict[str, Payload]:
    loads = {} if given is None else dict(given)
    refuse_unknown(loads, names)
    return {
        link: make_payload(link, *(load if isinstance(load, tuple | list) and 2 <= len(load) <= 3 else (load,)))
        for link, load in loads.items()
    }


def _loaded(link: Link, load: Payload | None) -> Link:
    """A link with a load on it: parallel axes about the common centre of mass."""
    if load is None or load.mass == 0.0:
        return link
    own = link.inertial if link.inertial is not None else Inertial(0.0, Origin(), np.zeros((3, 3)))
    X, place = own.origin.matrix(), np.array(load.at)
    total = own.mass + load.mass
    centre = (own.mass * X[:3, 3] + load.mass * place) / total
    inertia = X[:3, :3] @ own.inertia @ X[:3, :3].T + load.matrix()
    for mass, where in ((own.mass, X[:3, 3]), (load.mass, place)):
        d = where - centre
        inertia = inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(link, inertial=Inertial(total, Origin(xyz=tuple(centre.tolist())), inertia))


def _number(argument: str, value: object, least: float) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{argument}: expected a number, got {value!r:.80}") from None
    if not math.isfinite(number) or number < least:
        raise ValueError(f"{argument}: expected a finite number of {least:g} or more, got {value}")
    return number
