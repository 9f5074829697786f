# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Planar chains for tests: random ones, and their motion by an independent way: forward dynamics and an ODE solver."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import solve_ivp

from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.elastic import attach, spring_forces
from mbsim_ros.integrators.planar.chain import planar_chain
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.model.sidecar.settings import Attachment, Spring

WEIGHT = (1.0, -2.0, 0.7)


def random_chain(seed, n=4):
    """A chain of n links about tilted parallel axes of both senses, centres of mass anywhere, and two springs."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder("random")
    builder.link("world")
    builder.link("base")
    builder.joint("mount", "fixed", "world", "base", xyz=rng.normal(size=3), rpy=(0.4, -0.3, 0.8))
    parent = "base"
    for i in range(n):
        com = (*rng.uniform(-0.5, 0.5, 2), rng.normal())
        builder.link(f"l{i}", mass=rng.uniform(0.5, 2.0), com=com, inertia=rng.uniform(0.4, 0.6, 3))
        xyz, sense = (*rng.uniform(-0.7, 0.7, 2), rng.normal()), 1 if i % 2 == 0 else -1
        builder.joint(f"j{i}", "continuous", parent, f"l{i}", xyz=xyz, rpy=(0, 0, rng.normal()), axis=(0, 0, sense))
        parent = f"l{i}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # the mount has no mass
        model = builder.build()
    return model, attach(model, random_springs(model, rng, n))


def random_springs(model, rng, n):
    """One spring over two links, one through all; all their points at one height along the axis."""
    pose = forward_kinematics(model, model.neutral).link_pose
    axis = pose("base")[:3, 2]

    def at(link):
        X = pose(link)
        point = np.array([*rng.uniform(-0.5, 0.5, 2), 0.0])
        height = axis @ (X[:3, :3] @ point + X[:3, 3])
        return Attachment(link, tuple(point - X[:3, :3].T @ axis * height))

    through = tuple(at(link) for link in ("base", *(f"l{i}" for i in range(n))))
    return [Spring("short", (at("l0"), at("l1")), 3.0, 0.4), Spring("long", through, 2.0, 0.9)]


def random_planar(seed, n=4):
    model, springs = random_chain(seed, n)
    return planar_chain(model, springs, WEIGHT), springs


def ode_state(model, springs, gravity, q, v, time):
    """(q, v) after a time, by DOP853 on the forward dynamics of the tree in space."""

    def slope(_, y):
        q, v = np.ascontiguousarray(y[: model.nv]), np.ascontiguousarray(y[model.nv :])
        return np.concatenate([v, forward_dynamics(model, q, v, spring_forces(model, springs, q), gravity=gravity)])

    found = solve_ivp(slope, (0.0, time), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-12)
    return found.y[: model.nv, -1], found.y[model.nv :, -1]
