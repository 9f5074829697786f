# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots and local coordinates for the tests of integrators."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

import mbsim_ros
from mbsim_ros.dynamics import Workspace
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import discrete_momenta_into
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf

REFERENCE = Path(__file__).parents[1] / "reference"
WALKER = Path(mbsim_ros.__file__).parent / "bench/robots/walker_sized.urdf"
SCHEMES = [(quadrature, retraction) for quadrature in ("trapezoidal", "midpoint") for retraction in ("cayley", "exp")]
WEIGHTLESS = (0.0, 0.0, 0.0)


@functools.cache
def reference(name):
    return json.loads((REFERENCE / name).read_text())


@functools.cache
def paper_chain():
    """The free 3-link chain of kobilarov_chain.json with its initial q and v."""
    given = reference("kobilarov_chain.json")["model"]
    builder = ModelBuilder("kobilarov_chain")
    inertia = {"mass": given["mass"], "inertia": given["inertia_diag"]}
    builder.link("base", **inertia)
    for number in range(2):
        builder.link(f"link_{number}", com=given["com_from_joint"][number], **inertia)
        axis, xyz = given["axes"][number], given["joint_pos_in_base"][number]
        builder.joint(f"joint_{number}", "continuous", "base", f"link_{number}", xyz=xyz, axis=axis)
    model = builder.build("floating")
    q, v = model.neutral.copy(), np.array(given["v0"])
    q[7:] = given["r0"]
    return model, q, np.concatenate([v[3:6], v[0:3], v[6:]])


@functools.cache
def walker():
    """The walker of the benchmarks in a random state of moderate speed."""
    model, rng = load_urdf(WALKER), np.random.default_rng(1)
    q, v = model.neutral.copy(), 0.5 * rng.normal(size=model.nv)
    q[7:] = 0.3 * rng.normal(size=model.nq - 7)
    return model, q, v


@functools.cache
def tree(*kinds, base="fixed"):
    """A chain of joints of these kinds, one after the other, with skew inertias and axes, and a revolute side branch."""
    rng = np.random.default_rng(len(kinds) + 10 * len(kinds[0]))
    builder = ModelBuilder("-".join(kinds))
    names = ["root", *(f"link_{n}" for n in range(len(kinds))), "side"]
    for name in names:
        a, b, c = rng.uniform(0.1, 0.5, 3) ** 2
        mass = rng.uniform(0.5, 2.0)
        builder.link(name, mass=mass, com=rng.uniform(-0.3, 0.3, 3), rpy=rng.uniform(-3, 3, 3),
                     inertia=mass / 3 * np.array([b + c, a + c, a + b]))  # fmt: skip
    limits = {"lower": -1e4, "upper": 1e4, "effort": 1e4, "velocity": 1e4}
    for n, kind in enumerate([*kinds, "revolute"]):
        axis = rng.normal(size=3)
        builder.joint(
            f"joint_{n}", kind, names[n], names[n + 1], xyz=rng.uniform(-0.4, 0.4, 3), rpy=rng.uniform(-3, 3, 3),
            axis=axis / np.linalg.norm(axis), **(limits if kind in ("revolute", "prismatic") else {}),
        )  # fmt: skip
    return builder.build(base)


def coordinates(model):
    """Kind, first q and first v of everything that has coordinates."""
    base = [("floating", 0, 0)] if model.is_floating else []
    return base + [(joint.type, joint.iq, joint.iv) for joint in model.joints]


def rotation(xyzw):
    return quaternion.to_matrix(quaternion.from_ros(xyzw))


def move(model, q, step):
    """A smooth curve through q at step = 0 whose tangent there is the step (nv,), along the body's axes."""
    moved = np.array(q)
    for kind, iq, iv in coordinates(model):
        if kind in ("revolute", "continuous", "prismatic"):
            moved[iq] += step[iv]
        elif kind == "planar":
            c, s = np.cos(q[iq + 2]), np.sin(q[iq + 2])
            moved[iq : iq + 2] += np.array([[c, -s], [s, c]]) @ step[iv : iv + 2]
            moved[iq + 2] += step[iv + 2]
        elif kind == "spherical":
            moved[iq : iq + 4] = _turn(q[iq : iq + 4], step[iv : iv + 3])
        else:
            moved[iq : iq + 3] += rotation(q[iq + 3 : iq + 7]) @ step[iv : iv + 3]
            moved[iq + 3 : iq + 7] = _turn(q[iq + 3 : iq + 7], step[iv + 3 : iv + 6])
    return moved


def chart(model, origin, q):
    """Coordinates (nv,) of q near the origin that have the body's axes as their tangents there."""
    result = np.zeros(model.nv)
    for kind, iq, iv in coordinates(model):
        if kind in ("revolute", "continuous", "prismatic"):
            result[iv] = q[iq] - origin[iq]
        elif kind == "planar":
            c, s = np.cos(origin[iq + 2]), np.sin(origin[iq + 2])
            result[iv : iv + 2] = np.array([[c, s], [-s, c]]) @ (q[iq : iq + 2] - origin[iq : iq + 2])
            result[iv + 2] = q[iq + 2] - origin[iq + 2]
        elif kind == "spherical":
            result[iv : iv + 3] = _angle(origin[iq : iq + 4], q[iq : iq + 4])
        else:
            result[iv : iv + 3] = rotation(origin[iq + 3 : iq + 7]).T @ (q[iq : iq + 3] - origin[iq : iq + 3])
            result[iv + 3 : iv + 6] = _angle(origin[iq + 3 : iq + 7], q[iq + 3 : iq + 7])
    return result


def distance(model, q, other):
    """Largest difference of two configurations near each other, in the body's axes."""
    return np.abs(chart(model, q, other)).max()


def discrete_momentum(simulation, q, v):
    """−D₁L_d (nv,) of the kinetic part, and its size."""
    model, h, scheme = simulation.model, simulation.dt, simulation._system.scheme
    minus, plus = np.zeros(model.nv), np.zeros(model.nv)
    ws, scratch = Workspace(model), np.zeros((3, max(model.nq, model.nv, 18)))
    discrete_momenta_into(
        model.topology, model.constants, scheme.retraction, scheme.quadrature, q, v.copy(), h, ws.sincos, ws.rows,
        np.zeros(model.nq), scratch, minus, plus,
    )  # fmt: skip
    return minus, np.abs(minus).max()


def _turn(xyzw, angle):
    half = np.array([1.0, *(0.5 * np.asarray(angle))])
    return quaternion.to_ros(quaternion.multiply(quaternion.from_ros(xyzw), half / np.linalg.norm(half)))


def _angle(origin, xyzw):
    relative = quaternion.multiply(quaternion.conjugate(quaternion.from_ros(origin)), quaternion.from_ros(xyzw))
    return 2.0 * np.sign(relative[0]) * relative[1:]
