# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Second and fourth order where gravity acts, against scipy's DOP853 on the continuous equations of the same robots."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from integrator_robots import SCHEMES, coordinates, distance, rotation
from scipy.integrate import solve_ivp

from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.integrators.composition import SUBSTEPS
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import ModelBuilder

END = 1.0  # [s]
# A heavy top: its centre of mass away from the point about which it turns, all moments different.
TOP = {"mass": 1.3, "com": (0.05, -0.02, 0.25), "inertia": (0.031, 0.024, 0.012), "rpy": (0.3, 0.2, 0.1)}
BODY = {"mass": 2.0, "com": (0.1, 0.03, -0.06), "inertia": (0.08, 0.05, 0.06), "rpy": (-0.4, 0.1, 0.7)}


@functools.cache
def robot(name):
    builder = ModelBuilder(name)
    if name == "heavy_top":
        builder.link("world").link("top", **TOP)
        builder.joint("pivot", "spherical", "world", "top", xyz=(0.1, 0.2, 0.3), rpy=(0.2, -0.3, 0.4))
        return builder.build("fixed")
    builder.link("body", **BODY).link("top", **TOP)
    builder.joint("pivot", "spherical", "body", "top", xyz=(0.2, 0.1, 0.15), rpy=(0.2, -0.3, 0.4))
    if name == "floating_top":
        return builder.build("floating")
    # Between a fixed base and the top a revolute joint: gravity moves a group in mid-tree.
    builder.link("world")
    builder.joint("hinge", "continuous", "world", "body", axis=(0.6, 0.8, 0.0))
    return builder.build("fixed")


def initial_state(model):
    rng = np.random.default_rng(4)
    q, v = model.neutral.copy(), rng.normal(size=model.nv)
    q += 0.3 * rng.normal(size=model.nq)
    for start in model.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, v


def rate(model, q, v):
    """q̇: R v for positions, ½ q ω for quaternions; written here again, so that it is no part of what is tested."""
    result = np.zeros(model.nq)
    for kind, iq, iv in coordinates(model):
        if kind not in ("spherical", "floating"):
            result[iq] = v[iv]
            continue
        at, w = (iq, v[iv : iv + 3]) if kind == "spherical" else (iq + 3, v[iv + 3 : iv + 6])
        if kind == "floating":
            result[iq : iq + 3] = rotation(q[at : at + 4]) @ v[iv : iv + 3]
        u, r = q[at : at + 3], q[at + 3]
        result[at : at + 3] = 0.5 * (r * w + np.cross(u, w))
        result[at + 3] = -0.5 * (u @ w)
    return result


def unit(model, q):
    q = q.copy()
    for start in model.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q


@functools.cache
def exact(name):
    model = robot(name)
    q, v = initial_state(model)

    def slope(_, state):
        q, v = unit(model, state[: model.nq]), state[model.nq :]
        return np.concatenate([rate(model, q, v), forward_dynamics(model, q, v, np.zeros(model.nv))])

    solution = solve_ivp(slope, (0.0, END), np.concatenate([q, v]), method="DOP853", rtol=3e-14, atol=1e-15)
    return unit(model, solution.y[: model.nq, -1])


@pytest.mark.parametrize("name", ["heavy_top", "floating_top", "hinged_top"])
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
@pytest.mark.parametrize(("order", "tolerance", "steps"), [(2, 0.05, (200, 400, 800)), (4, 0.15, (100, 200, 400))])
def test_order(name, quadrature, retraction, order, tolerance, steps):
    model = robot(name)
    errors = []
    for number in steps:
        simulation = LieVariational(model, END / number, quadrature=quadrature, retraction=retraction, order=order)
        simulation.reset(*initial_state(model))
        simulation.step(steps=number)
        errors.append(distance(model, exact(name), simulation.q))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert -slope == pytest.approx(order, abs=tolerance), errors


def test_a_slide_falls_as_its_slope_lets_it():
    """½ g sin α t² along the slope, to rounding: a constant force is integrated without an error of the step."""
    builder = ModelBuilder("slide").link("world").link("sled", mass=3.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.1, 0.1))
    slope = 0.4
    model = builder.joint(
        "slide",
        "prismatic",
        "world",
        "sled",
        axis=(np.cos(slope), 0.0, -np.sin(slope)),
        lower=-99,
        upper=99,
        effort=1,
        velocity=9,
    ).build("fixed")
    simulation = LieVariational(model, 0.01)
    simulation.reset([0.0], [0.5])
    simulation.step(steps=50)
    assert simulation.q[0] == pytest.approx(0.5 * 0.5 + 0.5 * 9.81 * np.sin(slope) * 0.5**2, abs=1e-12)


def test_the_substeps_of_order_four():
    """They add up to a step and are a mirror image of themselves; the errors of third order cancel: Σ γ³ = 0."""
    substeps = SUBSTEPS[4]
    assert substeps.sum() == pytest.approx(1.0, abs=1e-15) and (substeps == substeps[::-1]).all()
    assert (substeps**3).sum() == pytest.approx(0.0, abs=1e-15)
