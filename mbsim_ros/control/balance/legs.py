# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The parts of a robot that balances: its central body, the legs with their feet, and what is carried along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mbsim_ros.contact.points import contact_points
from mbsim_ros.control.balance.workspace_dynamics_kernel import CENTRAL, FOOT, HELD, IGNORED, LEG, POINT_FOOT
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, IV, KIND, PARENT, TRANSLATION, Model

ACTUATOR = 1e-3  # [N m, N] a joint with a smaller effort limit has no actuator; 0 means that the limit is not known
WELDED = 6  # joints of a leg: with fewer a small foot cannot be kept from turning about where it stands
BALL = 0.05  # [m] a foot that is smaller all round counts as a ball
SOLE = 5e-3  # [m] points of a foot so much higher than its lowest still belong to the sole


@dataclass(frozen=True, eq=False)
class Legs:
    """Which body plays which part. Make them with `find_legs`."""

    central: int  # body
    feet: np.ndarray = field(repr=False)  # (feet,) int64: bodies
    foot_links: tuple[str, ...]
    roles: np.ndarray = field(repr=False)  # (bodies,) int64: see workspace_dynamics_kernel
    sole_points: np.ndarray = field(repr=False)  # (n, 3): in the frames of the feet's bodies
    owner: np.ndarray = field(repr=False)  # (n,) int64: number of the foot of each
    lengths: np.ndarray = field(repr=False)  # (feet,): from the first joint of a leg to the last, when it is straight
    # (bodies, 6): moments of inertia of the central body, in each foot's axes; of a foot on a point where that is
    heavy: np.ndarray = field(repr=False)
    stands_on_points: bool = False  # whether a foot does
    radius: float = 0.0  # [m] of the balls that such feet are: what their centres are above the ground


def find_legs(model: Model, central_link: str, foot_links: tuple[str, ...]) -> Legs:
    """The parts of a model; ValueError says what does not fit: see `WorkspaceBalance`."""
    if model.mimic is not None:
        raise ValueError(f"model: expected no mimic joints, got '{model.name}' with some")
    central, feet = _body(model, "central_link", central_link), [_body(model, "feet", foot) for foot in foot_links]
    if central < 0 or model.topology[central, KIND] != FLOATING:
        raise ValueError(f"central_link: expected a link that moves freely, got '{central_link}'")
    if not feet:
        raise ValueError("feet: expected the names of links, got none")
    parents = model.topology[:, PARENT] - 1
    roles = np.full(model.n_bodies, IGNORED, dtype=np.int64)
    roles[central] = CENTRAL
    lengths = []
    for foot, link in zip(feet, foot_links, strict=True):
        way = _way(parents.tolist(), foot, central)
        if not way:
            raise ValueError(f"feet: expected links that joints connect to '{central_link}', got '{link}'")
        for body in way:
            if roles[body] != IGNORED:
                raise ValueError(f"feet: expected legs without common joints, but '{link}' shares one with another")
            if model.topology[body, KIND] not in (REVOLUTE, PRISMATIC):
                raise ValueError(f"feet: expected legs of joints with one axis, got another on the way to '{link}'")
            roles[body] = LEG
        roles[foot] = FOOT
        lengths.append(sum(_stretch(model, body) for body in way[:-1]))
    driven = {joint.body: joint.iv for joint in driven_joints(model)}
    for body in range(model.n_bodies):
        if roles[body] == IGNORED and parents[body] >= 0 and roles[parents[body]] != IGNORED and body in driven:
            limit = model.effort_limit[driven[body]]
            roles[body] = IGNORED if 0.0 < limit < ACTUATOR else HELD
    points, owner = soles(model, foot_links)
    heavy = _heavy(model, central_link, feet, foot_links)
    legs = Legs(central, np.array(feet, dtype=np.int64), foot_links, roles, points, owner, np.array(lengths), heavy)
    return _on_balls(model, legs, [len(_way(parents.tolist(), foot, central)) for foot in feet])


def _on_balls(model: Model, legs: Legs, joints: list[int]) -> Legs:
    """The same with small feet at the end of so few joints pinned where they stand; joints: of each leg."""
    roles, heavy, points, owner = legs.roles.copy(), legs.heavy.copy(), legs.sole_points, legs.owner
    radius = 0.0
    for number, (foot, link) in enumerate(zip(legs.feet, legs.foot_links, strict=True)):
        centre, size = _ball(contact_points(model, [link]).geometry)
        if 0.0 < size < BALL and joints[number] < WELDED:
            roles[foot], heavy[foot] = POINT_FOOT, [*centre, 0.0, 0.0, 0.0]
            radius = max(radius, size)
            points, owner = np.vstack([points[owner != number], centre]), np.append(owner[owner != number], number)
    on_points = bool((roles == POINT_FOOT).any())
    return replace(
        legs, roles=roles, heavy=heavy, sole_points=points, owner=owner, stands_on_points=on_points, radius=radius
    )


def _body(model: Model, argument: str, link: str) -> int:
    if link not in model.frames:
        raise ValueError(f"{argument}: no link named {link!r}; there are: {', '.join(model.frames)}")
    return model.frames[link].body


def _way(parents: list[int], foot: int, central: int) -> list[int]:
    """Bodies from a foot to the central body, without it; empty if there is no way."""
    way, body = [], foot
    while body >= 0 and body != central:
        way.append(body)
        body = parents[body]
    return way if body == central else []


def _stretch(model: Model, body: int) -> float:
    """The farthest that a joint can be from the one before it [m]."""
    place, kind = model.constants[body, TRANSLATION : TRANSLATION + 3], model.topology[body, KIND]
    iv = int(model.topology[body, IV])
    travel = max(abs(model.lower[iv]), abs(model.upper[iv])) if kind == PRISMATIC else 0.0
    return float(np.linalg.norm(place) + travel)


def soles(model: Model, foot_links: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The lowest contact points of the feet, in the frames of their links; a foot without any has its origin."""
    places, owner = [], []
    for number, link in enumerate(foot_links):
        frame = model.frames[link]
        R, p = frame.X_BF[:3, :3], frame.X_BF[:3, 3]
        found = contact_points(model, [link]).geometry[:, :3]
        low = (found - p) @ R[:, 2]
        chosen = found[low < low.min() + SOLE] if len(found) else p[None, :]
        places += list(chosen)
        owner += [number] * len(chosen)
    return np.array(places).reshape(-1, 3), np.array(owner, dtype=np.int64)


def _ball(geometry: np.ndarray) -> tuple[np.ndarray, float]:
    """Middle (3,) of contact points (n, 4) and how far they reach from it [m]; 0 where there are none."""
    if not len(geometry):
        return np.zeros(3), 0.0
    places = geometry[:, :3]
    centre = 0.5 * (places.min(axis=0) + places.max(axis=0))
    return centre, float((np.linalg.norm(places - centre, axis=1) + geometry[:, 3]).max())


def _heavy(model: Model, central_link: str, feet: list[int], foot_links: tuple[str, ...]) -> np.ndarray:
    """Moments of the central body, turned as if its link had the principal axes of a foot: W sets P₇ = 10⁶ M₁."""
    X_BL = model.frames[central_link].X_BF[:3, :3]
    xx, yy, zz, xy, xz, yz = model.constants[model.frames[central_link].body, CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
    own = X_BL.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ X_BL
    heavy = np.zeros((model.n_bodies, 6))
    for foot, link in zip(feet, foot_links, strict=True):
        inertial = model.description.link(link).inertial
        R = model.frames[link].X_BF[:3, :3]
        R = R if inertial is None else R @ inertial.origin.matrix()[:3, :3]
        turned = R @ own @ R.T
        heavy[foot] = *np.diag(turned), turned[0, 1], turned[0, 2], turned[1, 2]
    return heavy
