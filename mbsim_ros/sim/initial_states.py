# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where a simulation may start: states by name from the sidecar, and q and v given by the names of joints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.points import contact_points
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.states import state_vectors

ByJoint = ArrayLike | Mapping[str, ArrayLike]  # in the model's order, or by name
HOME = "home"
BASE = "base"


def named_state(model: Model, name: str) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) of a state of the sidecar; where none is named `home` that is the neutral one within limits.

    A joint whose limits leave out 0 would be thrown back by its stop. A robot that floats has it at the nearer limit:
    legs as straight as they can be stand. One that is fixed has it in the middle, as joint_state_publisher begins: an
    arm that is folded as far as it can be may be in its own table.
    """
    states = {} if model.sidecar is None else model.sidecar.initial_states
    if name in states:
        q, v = state_vectors(model, states[name])
        return _at_height(model, q, states[name].lowest_point), v
    if name == HOME:
        q = within_limits(model, model.neutral) if model.is_floating else _amid_limits(model, model.neutral)
        return q, np.zeros(model.nv)
    there = f"there are {', '.join([*states]) or 'none'}"
    raise ValueError(f"reset: no initial state named {name!r}: {did_you_mean(name, states, there, 0)}")


def within_limits(model: Model, q: np.ndarray) -> np.ndarray:
    """q (nq,) with every joint of one dof within its position limits."""
    q = q.copy()
    for joint in model.joints:
        if joint.nv == 1 and joint.iv >= 0:
            q[joint.iq] = min(max(q[joint.iq], model.lower[joint.iv]), model.upper[joint.iv])
    return q


def _amid_limits(model: Model, q: np.ndarray) -> np.ndarray:
    """q (nq,) with every joint of one dof that is beyond a limit in the middle of them, if there is another limit."""
    near = within_limits(model, q)
    for joint in model.joints:
        if joint.nv == 1 and joint.iv >= 0 and near[joint.iq] != q[joint.iq]:
            middle = 0.5 * (model.lower[joint.iv] + model.upper[joint.iv])
            near[joint.iq] = middle if np.isfinite(middle) else near[joint.iq]
    return near


def random_configuration(model: Model, seed: int | np.random.Generator, spread: float) -> np.ndarray:
    """q (nq,) with every joint of one dof anywhere within its limits, or ±π from home where it has none.

    spread: how much of the way from home to there it goes, 0 … 1. seed: an integer, or a numpy Generator.
    """
    if not 0.0 <= spread <= 1.0:
        raise ValueError(f"spread: expected 0 … 1, got {spread}")
    q, _ = named_state(model, HOME)
    chance = np.random.default_rng(seed)
    for joint in model.joints:
        if joint.nv == 1 and joint.iv >= 0:
            home, lower, upper = q[joint.iq], model.lower[joint.iv], model.upper[joint.iv]
            low = lower if np.isfinite(lower) else home - np.pi
            high = upper if np.isfinite(upper) else home + np.pi
            q[joint.iq] = home + spread * (chance.uniform(low, high) - home)
    return q


def places_base(model: Model, name: str) -> bool:
    """Whether the sidecar has a state of this name that says where the base is."""
    states = {} if model.sidecar is None else model.sidecar.initial_states
    return name in states and (states[name].base_xyz is not None or states[name].lowest_point is not None)


def _at_height(model: Model, q: np.ndarray, lowest: float | None) -> np.ndarray:
    """q (nq,) with its base where the lowest contact point is at this height [m], to the nanometre.

    What was meant as 0.41 m is 0.41 then, whatever the angles that lead to it were rounded to.
    """
    points = contact_points(model) if lowest is not None and model.is_floating else None
    if lowest is None or points is None or not len(points):
        return q
    X_WB = forward_kinematics(model, q).X_WB[points.bodies]
    heights = np.einsum("nj,nj->n", X_WB[:, 2, :3], points.geometry[:, :3]) + X_WB[:, 2, 3] - points.geometry[:, 3]
    q[2] = round(q[2] + lowest - float(heights.min()), 9)
    return q


def configuration(model: Model, q: ByJoint) -> ArrayLike:
    """q (nq,) from a mapping by joint, `base` for the floating base (x y z, qx qy qz qw); anything else as it is."""
    if not isinstance(q, Mapping):
        return q
    places = {joint.name: (joint.iq, joint.nq) for joint in model.joints if joint.iq >= 0}
    return _filled("q", model, q, places, 7, model.neutral.copy())


def velocity(model: Model, v: ByJoint) -> ArrayLike:
    """v (nv,) from a mapping by joint, `base` for the floating base (linear, angular); anything else as it is."""
    if not isinstance(v, Mapping):
        return v
    places = {joint.name: (joint.iv, joint.nv) for joint in model.joints if joint.iv >= 0}
    return _filled("v", model, v, places, 6, np.zeros(model.nv))


def _filled(
    argument: str, model: Model, values: Mapping, places: dict[str, tuple[int, int]], base: int, filled: np.ndarray
) -> np.ndarray:
    if model.is_floating:
        places = {BASE: (0, base), **places}
    for name, value in values.items():
        if name not in places:
            if name in model.joint_names:
                why = f"it follows '{model.description.joint(name).mimic.joint}': name that one"  # type: ignore[union-attr]
            else:
                why = "no such joint: " + did_you_mean(str(name), places, f"there are {', '.join(places)}", 0)
            raise ValueError(f"{argument}[{name!r}]: {why}")
        start, size = places[name]
        entry = [value] if size == 1 and np.ndim(value) == 0 else value
        where = f"{argument}[{name!r}]"
        filled[start : start + size] = check.finite(where, check.vector(where, entry, size))
    return filled
