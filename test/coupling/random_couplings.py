# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Random couplings of random robots."""

from __future__ import annotations

import dataclasses

import numpy as np
from random_trees import random_tree

from mbsim_ros.bench.states import random_configuration
from mbsim_ros.coupling import couple
from mbsim_ros.model.assembly.assemble import make_model

ROBOTS = {
    "arm": (("revolute",) * 5, "fixed"),
    "ball": (("revolute", "spherical", "revolute", "prismatic", "revolute", "revolute"), "floating"),
    "walker": (("revolute",) * 9, "floating"),
    "mixed": (("revolute", "prismatic", "spherical", "revolute", "planar", "prismatic", "continuous"), "floating"),
    "mimic": (("revolute", "mimic", "prismatic", "mimic", "revolute", "revolute", "mimic"), "floating"),
    "fixed mimic": (("revolute", "revolute", "mimic", "revolute", "mimic", "revolute"), "fixed"),
}


def robot(name, seed=0):
    types, base = ROBOTS[name]
    description = random_tree(types, np.random.default_rng([seed, len(name)]))
    if name != "mixed":  # Pinocchio has continuous joints about coordinate axes only
        turned = (dataclasses.replace(j, type="revolute") if j.type == "continuous" else j for j in description.joints)
        description = dataclasses.replace(description, joints=tuple(turned))
    return make_model(description, base)


def one_dof_joints(model):
    return [joint.name for joint in model.joints if joint.nv == 1 and joint.iv >= 0]


def random_coupling(model, rng, rotors=True):
    """Two motors on about half of the joints, one joint driven by both, at times one locked; one motor idle."""
    joints = [str(name) for name in rng.permutation(one_dof_joints(model))]
    half = max(2, len(joints) // 2)
    first, second = joints[: half // 2 + 1], joints[half // 2 : half]
    motors = {
        "first": {name: float(rng.uniform(0.5, 2.0) * rng.choice([-1, 1])) for name in first},
        "second": {name: float(rng.uniform(0.5, 2.0) * rng.choice([-1, 1])) for name in second},
    }
    inertia = {"first": 0.3, "idle": 0.2} if rotors else {}
    if rotors:
        motors["idle"] = {}
    locked = joints[half : half + 1] if len(joints) > half + 1 and rng.random() < 0.6 else []
    return couple(model, motors, locked, name="random", rotor_inertia=inertia)


def random_case(name, seed, rotors=True):
    """A model, a coupling, q (nq,) and u (nu,)."""
    model, rng = robot(name, seed), np.random.default_rng(seed)
    configuration = random_coupling(model, rng, rotors)
    return model, configuration, random_configuration(model, rng), rng.normal(size=configuration.nu)
