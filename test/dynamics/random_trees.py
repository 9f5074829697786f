# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Random robots with every joint type, and small steps of their configurations."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.description import Inertial, Joint, Link, Mimic, Origin, RobotDescription

TYPES = ("revolute", "continuous", "prismatic", "spherical", "planar", "floating", "fixed", "mimic")
ONE_DOF = ("revolute", "continuous", "prismatic")


def random_tree(types, rng):
    """A robot whose n-th joint is of the n-th type and hangs on any earlier link; "mimic" follows an earlier joint.

    Masses are about a kilogram and lengths decimetres, so that mass matrices are far from singular.
    """
    links, joints = [Link("link_00", _random_inertial(rng))], []
    for number, kind in enumerate(types, start=1):
        links.append(Link(f"link_{number:02d}", _random_inertial(rng)))
        mimic = None
        if kind == "mimic":
            leaders = [joint.name for joint in joints if joint.type in ONE_DOF]
            mimic = Mimic(str(rng.choice(leaders)), *rng.uniform(0.5, 2.0, 2)) if leaders else None
            kind = str(rng.choice(ONE_DOF))
        joints.append(
            Joint(
                f"joint_{number:02d}", kind, links[rng.integers(number)].name, links[-1].name, _random_origin(rng),
                _random_axis(rng), mimic=mimic,
                rotor_inertia=float(rng.uniform(0.0, 0.5)) if kind in ONE_DOF and rng.random() < 0.5 else 0.0,
            )
        )  # fmt: skip
    return RobotDescription("random_tree", tuple(links), tuple(joints))


@st.composite
def models(draw, types=TYPES, bases=("fixed", "floating"), largest=8):
    """Hypothesis strategy: a model of a random tree. It shrinks to few and simple joints."""
    chosen = draw(st.lists(st.sampled_from(types), min_size=1, max_size=largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = draw(st.sampled_from(bases))
    # A robot must move: a fixed joint alone on a fixed base has no state.
    chosen = [*chosen, "revolute"] if base == "fixed" and set(chosen) <= {"fixed"} else chosen
    return make_model(random_tree(chosen, rng), base)


@st.composite
def states(draw, **options):
    """Hypothesis strategy: a model with q, v, a in a random state."""
    model = draw(models(**options))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return model, random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)


def move(model, q, step):
    """q ⊕ step (nv,): along the joints' own directions, as v moves q; exact to second order in the step."""
    moved = np.array(q)
    for kind, iq, iv in _coordinates(model):
        if kind in ONE_DOF:
            moved[iq] += step[iv]
        elif kind == "planar":
            turn = q[iq + 2] + 0.5 * step[iv + 2]
            moved[iq] += np.cos(turn) * step[iv] - np.sin(turn) * step[iv + 1]
            moved[iq + 1] += np.sin(turn) * step[iv] + np.cos(turn) * step[iv + 1]
            moved[iq + 2] += step[iv + 2]
        elif kind == "spherical":
            moved[iq : iq + 4] = _turn(q[iq : iq + 4], step[iv : iv + 3])
        else:
            middle = _turn(q[iq + 3 : iq + 7], 0.5 * step[iv + 3 : iv + 6])
            moved[iq : iq + 3] += quaternion.to_matrix(quaternion.from_ros(middle)) @ step[iv : iv + 3]
            moved[iq + 3 : iq + 7] = _turn(q[iq + 3 : iq + 7], step[iv + 3 : iv + 6])
    return moved


def bracket(model, x, y):
    """Lie bracket [x, y] (nv,) of the joints' directions: zero but for joints that are groups."""
    result = np.zeros(model.nv)
    for kind, _, iv in _coordinates(model):
        if kind == "spherical":
            result[iv : iv + 3] = np.cross(x[iv : iv + 3], y[iv : iv + 3])
        elif kind == "planar":
            (a, b, c), (d, e, f) = x[iv : iv + 3], y[iv : iv + 3]
            result[iv : iv + 2] = b * f - c * e, c * d - a * f
        elif kind == "floating":
            (v, w), (u, z) = x[iv : iv + 6].reshape(2, 3), y[iv : iv + 6].reshape(2, 3)
            result[iv : iv + 3] = np.cross(w, u) + np.cross(v, z)
            result[iv + 3 : iv + 6] = np.cross(w, z)
    return result


def derivative(function, model, q, direction, h=1e-6):
    """Of a function of q, along a direction (nv,), by central differences."""
    return (function(move(model, q, h * direction)) - function(move(model, q, -h * direction))) / (2 * h)


def _coordinates(model):
    """Type, first q and first v of everything that has coordinates."""
    base = [("floating", 0, 0)] if model.is_floating else []
    return base + [(joint.type, joint.iq, joint.iv) for joint in model.joints if joint.iv >= 0]


def _turn(xyzw, angle):
    return quaternion.to_ros(quaternion.multiply(quaternion.from_ros(xyzw), quaternion.exp(angle)))


def _random_inertial(rng):
    """A solid with some extent in every direction, its centre of mass off the link's origin."""
    a, b, c = rng.uniform(0.1, 0.5, 3) ** 2
    mass = rng.uniform(0.5, 2.0)
    return Inertial(float(mass), _random_origin(rng), mass / 3.0 * np.diag([b + c, a + c, a + b]))


def _random_origin(rng):
    return Origin(tuple(rng.uniform(-0.5, 0.5, 3).tolist()), tuple(rng.uniform(-3.0, 3.0, 3).tolist()))


def _random_axis(rng):
    axis = rng.normal(size=3)
    if rng.random() < 0.3:  # close to z or -z, as exporters of CAD programs like them
        axis[:2] *= 10.0 ** rng.uniform(-9, -1)
    return tuple((axis / np.linalg.norm(axis)).tolist())
