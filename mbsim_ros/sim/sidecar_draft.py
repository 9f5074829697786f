# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A sidecar to start from: what a robot's files do not say, as far as rules can guess it, each with a word of why."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace

import numpy as np

from mbsim_ros.contact.points import ContactPoints, contact_points
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.momentum import centre_of_mass
from mbsim_ros.model.model import PARENT, Model
from mbsim_ros.model.sidecar.settings import InitialState, Sidecar
from mbsim_ros.model.states import state_vectors
from mbsim_ros.model.urdf.srdf import upright
from mbsim_ros.sim.drives.default_gains import DriveGains
from mbsim_ros.sim.initial_states import HOME, within_limits
from mbsim_ros.sim.names import driven_joints

STEP = 1e-3  # s, of which the gains are
LEVEL = 0.05  # of the robot's height: what ends so little above the lowest point is a foot
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def draft_sidecar(model: Model) -> str:
    """The text of a sidecar for a model that has none; it loads, and with it most legged robots stand."""
    origin, posture = upright(model.description)
    q = within_limits(model, state_vectors(model, InitialState(HOME, posture))[0])
    model = replace(model, sidecar=Sidecar(initial_states={HOME: InitialState(HOME, _positions(model, q))}))
    parts = [_head(model), _base(model), *([_touching(model, q)] if model.is_floating else [])]
    parts += [_home(model, q, origin), _gains(model), _rest(model)]
    return "\n".join(parts)


def feet_of(model: Model, q: np.ndarray) -> list[str]:
    """The links at the ends of limbs that reach the lowest, one of each limb; none unless several carry the robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = contact_points(model)
    if not len(points):
        return []
    places = _places(model, points, q)
    heights = places[:, 2] - points.geometry[:, 3]
    inner = set((model.topology[:, PARENT] - 1).tolist())
    lowest = float(heights.min()) + LEVEL * max(float(np.ptp(heights)), 1e-3)
    feet: dict[int, int] = {}  # body: its lowest point
    for k in np.argsort(heights):
        body = int(points.bodies[k])
        if heights[k] <= lowest and body not in inner and model.description.link(points.links[k]).collisions:
            feet.setdefault(body, int(k))
    soles = [k for k in np.flatnonzero(heights <= lowest) if int(points.bodies[k]) in feet]
    return (
        [points.links[k] for k in sorted(feet.values())]
        if len(feet) > 1 and _is_carried(model, places[soles], q)
        else []
    )


def _places(model: Model, points: ContactPoints, q: np.ndarray) -> np.ndarray:
    X_WB = forward_kinematics(model, q).X_WB[points.bodies]
    return np.asarray(np.einsum("nij,nj->ni", X_WB[:, :3, :3], points.geometry[:, :3]) + X_WB[:, :3, 3])


def _is_carried(model: Model, soles: np.ndarray, q: np.ndarray) -> bool:
    """Whether the centre of mass is above the polygon of these points (n, 3)."""
    centre = centre_of_mass(model, q)[:2]
    turns = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    ways = np.stack([np.cos(turns), np.sin(turns)])
    return len(soles) > 0 and bool((((soles[:, :2] - centre) @ ways).max(axis=0) > 0.0).all())


def _head(model: Model) -> str:
    return (
        f"# Settings of {json.dumps(model.name)} that a URDF has no place for, to start from: see docs/sidecar.md.\n"
        f"# Save it as <name of the robot's file>.mbsim.yaml beside that file, or in a folder config beside it.\n"
    )


def _base(model: Model) -> str:
    word = "floating" if model.is_floating else "fixed"
    return f"base: {word}  # {' '.join(model.base_choice.why.split())}\n"


def _touching(model: Model, q: np.ndarray) -> str:
    feet = feet_of(model, q)
    lines = ["# The links that touch the ground: the ends of limbs that reach the lowest. No others touch."]
    if feet:
        lines.append(f"feet: [{', '.join(map(_word, feet))}]")
    else:
        lines = ["# Whatever has a collision shape touches: no ends of limbs carry the robot by themselves."]
        lines += ["# feet: [left_foot, right_foot]  # only these"]
    lines += ["contact:", "  friction: 0.8", "  max_penetration: 0.001  # m, under the robot's own weight", ""]
    return "\n".join(lines)


def _home(model: Model, q: np.ndarray, origin: str) -> str:
    at = _positions(model, q)
    why = f"from {origin}" if origin else "all joints at 0, or at the nearer limit"
    stands = "; without a place of the base it stands on the ground" if model.is_floating else ""
    lines = [f"# Where simulations start: {why}{stands}.", "initial_states:", "  home:", "    joints:"]
    for name, value in at.items():
        lower, upper = float(model.lower[model.joint(name).iv]), float(model.upper[model.joint(name).iv])
        travel = f"  # {lower:.4g} … {upper:.4g}" if np.isfinite([lower, upper]).all() else ""
        lines.append(f"      {_word(name)}: {value:.6g}{travel}")
    return "\n".join([*lines, ""]) if at else "# It has no joints of one axis, so no initial state.\n"


def _positions(model: Model, q: np.ndarray) -> dict[str, float]:
    return {joint.name: float(q[joint.iq]) for joint in model.joints if joint.nv == 1 and joint.iv >= 0}


def _gains(model: Model) -> str:
    names = driven_joints(model).names
    if not names:
        return ""
    gains = DriveGains(model, STEP)
    lines = [
        "# With what positions and velocities are held: by inertia, weight and effort limits, for steps of 1 ms.",
        '# Several joints by one pattern: ".*_knee": {kp: 80, kd: 2}',
        "gains:",
    ]
    for name in names:
        limit = float(model.effort_limit[model.joint(name).iv])
        most = f"  # at most {limit:.4g}" if 0.0 < limit < np.inf else ""
        lines.append(f"  {_word(name)}: {{kp: {gains[name].kp:.3g}, kd: {gains[name].kd:.3g}}}{most}")
    return "\n".join([*lines, ""])


def _rest(model: Model) -> str:
    names = driven_joints(model).names
    example = _word(names[0]) if names else "joint"
    return (
        "# More that it may say:\n"
        f"# rotor_inertia: {{{example}: 0.01}}    # kg m², as the joint sees it\n"
        f"# damping: {{{example}: 0.1}}           # in place of the URDF's\n"
        "# terrain: {type: flat}\n"
    )


def _word(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name)
