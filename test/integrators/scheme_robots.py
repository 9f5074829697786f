# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots of every kind that some scheme is for, and which of them a scheme covers."""

from __future__ import annotations

import warnings

import numpy as np

from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.integrators.integrator import IntegrationProblem, Scene
from mbsim_ros.integrators.particles.bar_motion import places_of, rates_of
from mbsim_ros.integrators.particles.bar_tree import bars_of
from mbsim_ros.integrators.registry import suitable
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.problems import UrdfWarning


def body():
    """One free rigid body."""
    return ModelBuilder("box").link("box", mass=2.0, box=(0.2, 0.3, 0.1)).build("floating")


def rods(n=3, kind="continuous", **joint):
    """Uniform rods of 1 m and 1 kg that hang in a row and swing about y; `joint` is told to every joint."""
    builder, parent = ModelBuilder("rods").link("world"), "world"
    for i in range(n):
        builder.link(f"rod_{i}", mass=1.0, com=(0, 0, -0.5), cylinder=(0.02, 1.0))
        xyz = (0, 0, 0 if i == 0 else -1.0)
        builder.joint(f"hinge_{i}", kind, parent, f"rod_{i}", xyz=xyz, axis=(0, 1, 0), **joint)
        parent = f"rod_{i}"
    return builder.build("fixed")


def spherical_pendulum(masses=(2.0, 3.5), lengths=(1.0, 0.8), at=(0.5, -0.2, 8.0)):
    """Point masses on massless bars in a row, each turning about x and y: W's double spherical pendulum."""
    builder, parent = ModelBuilder("spherical_pendulum").link("world"), "world"
    for i, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        xyz = at if i == 0 else (0, 0, -lengths[i - 1])
        builder.link(f"cross_{i}").link(f"bar_{i}", mass=mass, com=(0, 0, -length), inertia=(0, 0, 0))
        builder.joint(f"roll_{i}", "continuous", parent, f"cross_{i}", xyz=xyz, axis=(1, 0, 0))
        builder.joint(f"pitch_{i}", "continuous", f"cross_{i}", f"bar_{i}", axis=(0, 1, 0))
        parent = f"bar_{i}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # links without mass, and points
        return builder.build("fixed")


def ball_pendulum(masses=(2.0, 3.5), lengths=(1.0, 0.8)):
    """The same on ball joints; a bar has inertia about itself, for a ball joint has to have some, and never turns."""
    builder, parent = ModelBuilder("ball_pendulum").link("world"), "world"
    for i, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        builder.link(f"bar_{i}", mass=mass, com=(0, 0, -length), inertia=(0, 0, 1))
        builder.joint(f"ball_{i}", "spherical", parent, f"bar_{i}", xyz=(0, 0, -lengths[i - 1] if i else 2.0))
        parent = f"bar_{i}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # inertias of points
        return builder.build("fixed")


def covered_robot(row):
    """A robot that a row is for."""
    for robot in (body(), rods(), spherical_pendulum()):
        problem = IntegrationProblem(robot, 1e-3, GRAVITY, Scene(), order=row.order)
        if not {each.title: ways for each, ways in suitable(problem)}[row.title]:
            return robot
    raise AssertionError(f"no robot for '{row.title}'")


def moving(sim, seed=4):
    """Start a simulation somewhere, in motion; bars on ball joints do not turn about themselves."""
    model, rng = sim.model, np.random.default_rng(seed)
    q, v = model.neutral.copy(), rng.uniform(-1.0, 1.0, model.nv)
    for joint in model.joints:
        q[joint.iq : joint.iq + joint.nq] += rng.uniform(-0.6, 0.6, joint.nq)
    for at in model.quaternions:
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    bars, problems = bars_of(model)
    if not problems:
        v = rates_of(model, bars, q, places_of(model, bars, q, v)[1])
    sim.reset(q, v)
