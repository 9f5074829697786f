# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a robot meets and carries: ground, contact, other bodies, springs, couplings; from arguments and sidecar.

Each argument of `Simulation` may be left open (the sidecar decides), name something, or be the finished thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from mbsim_ros.contact.body_pairs import BodyPairs, body_pairs, tree_roots
from mbsim_ros.contact.body_pairs_kernel import POINT, SHAPE, SHAPE_BODY
from mbsim_ros.contact.parameters import ContactParameters, derive_parameters
from mbsim_ros.contact.points import ContactPoints, ContactWarning, contact_points
from mbsim_ros.contact.terrain import Ground, floor, ground_of
from mbsim_ros.coupling.configuration import CouplingConfiguration, couple
from mbsim_ros.coupling.of_entities import combined, is_combined
from mbsim_ros.elastic.springs import SpringSet, attach
from mbsim_ros.integrators.integrator import Scene
from mbsim_ros.model.model import MASS, Model
from mbsim_ros.model.problems import did_you_mean, warn_user
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text, parse_coupling
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import ContactSettings, Coupling, Sidecar, Spring, Terrain

HEAVY = 1e9  # the world against a body: so many times its mass
_COUPLING_KEYS = ("motors", "locked", "name", "rotor_inertia", "torque_limit", "measured_from")

Springs = SpringSet | Mapping[str, Spring] | Iterable[Spring] | None  # as `elastic.attach` takes them, or attached


def make_scene(
    model: Model, dt: float, gravity: np.ndarray, terrain: object, contact: object, coupling: object, springs: Springs,
    body_contact: object, contact_points: ContactPoints | None = None,
) -> Scene:  # fmt: skip
    """Everything around the robot, checked against the step dt [s]; warnings are ContactWarning."""
    wants_ground = contact is not None and not (terrain is None and body_contact is not None)
    ground = chosen_ground(model, terrain, wants_ground)
    if contact is not None and ground is None and body_contact is None:
        raise ValueError("contact: given, but there is nothing to touch: terrain is False and body_contact is None")
    given, settings = chosen_settings(model, contact)
    points = None
    if ground is not None or body_contact is not None:
        points = _points(model, settings) if contact_points is None else contact_points
    if points is not None and not len(points):
        warn_user(
            f"'{model.name}' has no contact points, so it touches nothing: give its links collision shapes, or list "
            "points in the sidecar under contact.points",
            ContactWarning,
        )
        points = ground = None
    pairs = None if points is None else chosen_pairs(model, points, body_contact)
    parameters = pair_parameters = None
    if points is not None:
        strength = float(np.linalg.norm(gravity))
        parameters = given or derive_parameters(model.mass, len(points), settings, ground, gravity=strength)
        pair_parameters = None if pairs is None else parameters.between(*_lightest_pair(model, points, pairs))
        for law in (parameters if ground is not None else None, pair_parameters):
            _check_step(law, dt)
    return Scene(
        ground, points, parameters, pairs, pair_parameters, chosen_springs(model, springs),
        None if coupling is None else chosen_coupling(model, coupling),
    )  # fmt: skip


def chosen_ground(model: Model, terrain: object, wants_ground: bool) -> Ground | None:
    """The ground of `terrain`; where that is None, the sidecar's, or the floor if it or the caller has contact."""
    if terrain is None:
        sidecar = model.sidecar if model.sidecar is not None else Sidecar()
        if sidecar.terrain is not None:
            return ground_of(sidecar.terrain)
        return floor() if wants_ground or sidecar.contact is not None or sidecar.feet else None
    if terrain is False:
        return None
    if isinstance(terrain, Ground):
        return terrain
    if isinstance(terrain, Terrain):
        return ground_of(terrain)
    if isinstance(terrain, str) and terrain == "flat":
        return floor()
    raise ValueError(f"terrain: expected None, False, 'flat', a Terrain or a Ground, got {terrain!r}")


def chosen_settings(model: Model, contact: object) -> tuple[ContactParameters | None, ContactSettings | None]:
    """Finished parameters, if given, and the settings; a dict changes those of the sidecar key by key."""
    of_sidecar = None if model.sidecar is None else model.sidecar.contact
    if contact is None or isinstance(contact, ContactParameters):
        return contact, of_sidecar
    if isinstance(contact, ContactSettings):
        return None, contact
    if not isinstance(contact, Mapping):
        raise ValueError(f"contact: expected a dict, ContactSettings or ContactParameters, got {contact!r}")
    text = json.dumps({"contact": dict(contact)}, default=_plain, ensure_ascii=False)
    changes = parse_sidecar(text, model.description, file="contact").contact or ContactSettings()
    base = of_sidecar if of_sidecar is not None else ContactSettings()
    return None, base.changed(changes)


def chosen_pairs(model: Model, points: ContactPoints, body_contact: object) -> BodyPairs | None:
    """The points and shapes that may meet: "all" of separate robots, or those of a list of pairs of links."""
    if body_contact is None or body_contact is False:
        return None
    if isinstance(body_contact, str) and body_contact == "all":
        pairs = body_pairs(model, points)
    else:
        try:
            between = [(str(a), str(b)) for a, b in body_contact]  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            raise ValueError(
                f"body_contact: expected 'all' or a list of pairs of links, got {body_contact!r}"
            ) from None
        for name in (name for pair in between for name in pair):
            if name not in model.frames:
                hint = did_you_mean(name, model.frames, "see the URDF", 0)
                raise ValueError(f"body_contact: no link named {name!r}: {hint}")
        pairs = body_pairs(model, points, between)
    if not len(pairs):
        raise ValueError(
            "body_contact: nothing of these links can meet: one needs contact points, the other a box or sphere as "
            "its collision shape"
        )
    return pairs


def chosen_springs(model: Model, springs: Springs) -> SpringSet | None:
    """The springs: None for the sidecar's, or what `elastic.attach` takes."""
    made = springs if isinstance(springs, SpringSet) else attach(model, springs)
    if made.model is not model:
        raise ValueError(f"springs: expected those of model '{model.name}', got those of '{made.model.name}'")
    return made if len(made) else None


def chosen_coupling(model: Model, coupling: object) -> CouplingConfiguration:
    """A coupling by its name in the sidecar, by names of several entities, as an entry, a dict or text, or finished."""
    if isinstance(coupling, CouplingConfiguration):
        if coupling.model is not model:
            raise ValueError(f"coupling: expected one of '{model.name}', got one of '{coupling.model.name}'")
        return coupling
    if isinstance(coupling, Coupling):
        return couple(model, coupling)
    if isinstance(coupling, Mapping):
        unknown = [str(key) for key in coupling if key not in _COUPLING_KEYS]
        if unknown:
            raise ValueError(f"coupling: expected the keys {', '.join(_COUPLING_KEYS)}, got {', '.join(unknown)}")
        return couple(model, **coupling)
    if isinstance(coupling, str) and is_coupling_text(coupling):
        return couple(model, parse_coupling(coupling, model.description))
    known = {} if model.sidecar is None else model.sidecar.couplings
    if isinstance(coupling, str) and coupling not in known and is_combined(coupling, known):
        return couple(model, combined(coupling, known))
    if not isinstance(coupling, str) or coupling not in known:
        hint = did_you_mean(str(coupling), known, f"the sidecar has {', '.join(known) or 'none'}", 0)
        raise ValueError(f"coupling: no coupling named {coupling!r}: {hint}")
    return couple(model, known[coupling])


def _points(model: Model, settings: ContactSettings | None) -> ContactPoints:
    """Points of the robot, with those that the settings list in place of the sidecar's."""
    sidecar = model.sidecar if model.sidecar is not None else Sidecar()
    return contact_points(replace(model, sidecar=replace(sidecar, contact=settings)))


def _check_step(law: ContactParameters | None, dt: float) -> None:
    warning = None if law is None else law.check_step(dt)
    if warning is not None:
        warn_user(warning, ContactWarning)


def _lightest_pair(model: Model, points: ContactPoints, pairs: BodyPairs) -> tuple[float, float]:
    """The masses that give the least reduced mass of all pairs: those of robots apart, or of two links of one."""
    masses, roots = model.constants[:, MASS], tree_roots(model)
    whole = {root: float(masses[[other == root for other in roots]].sum()) for root in set(roots)}
    found = []
    shapes = pairs.shape_ints[pairs.pairs[:, SHAPE], SHAPE_BODY]
    for a, b in set(zip(points.bodies[pairs.pairs[:, POINT]].tolist(), shapes.tolist(), strict=True)):
        if b < 0:
            found.append((whole[roots[a]], HEAVY * whole[roots[a]]))
        elif roots[a] != roots[b]:
            found.append((whole[roots[a]], whole[roots[b]]))
        else:
            found.append((float(masses[a]), float(masses[b])))
    return min(found, key=lambda two: two[0] * two[1] / (two[0] + two[1]) if min(two) > 0.0 else 0.0)


def _plain(value: object) -> object:
    """Numbers and vectors of numpy as JSON has them."""
    if isinstance(value, Iterable):
        return list(value)
    return float(value)  # type: ignore[arg-type]
