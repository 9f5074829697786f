# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Wrenches of joints against Pinocchio's recursive Newton-Euler pass: random trees with joints of every type."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import TYPES, random_tree

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import inverse_dynamics, joint_wrenches
from mbsim_ros.model.assembly.assemble import make_model

TOLERANCE = 1e-9


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_wrenches_of_joints_are_those_of_pinocchio(base):
    pin = pytest.importorskip("pinocchio")
    import pinocchio_from_description as peer

    rng = np.random.default_rng(31)
    for _ in range(40):
        types = [*rng.permutation(TYPES), *rng.choice(TYPES, size=3)]
        model = make_model(random_tree(types, rng), base)
        q, v, a = random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)
        links = rng.choice(model.link_names, size=4, replace=False)
        wrenches = {str(link): 10.0 * rng.normal(size=6) for link in links}
        gravity = rng.normal(size=3)
        ours = joint_wrenches(model, q, v, a, wrenches=wrenches, gravity=gravity)

        theirs, places = peer.build(model)
        theirs.gravity.linear = gravity
        outside = pin.StdVec_Force()
        outside.extend([pin.Force.Zero() for _ in range(theirs.njoints)])
        for link, wrench in wrenches.items():
            joint, placement = places[link]
            outside[joint] += placement.act(pin.Force(wrench))
        data = theirs.createData()
        G = np.eye(theirs.nv) if model.mimic is None else model.mimic.matrix(model.nv)
        pin.rnea(theirs, data, peer.configuration(model, q), G @ v, G @ a, outside)
        assert list(ours) == list(model.joint_names)
        for joint in model.joints:
            number, placement = places[joint.child_link]
            expected = placement.actInv(data.f[number]).vector
            assert ours[joint.name] == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE * np.abs(expected).max())


def test_along_its_axis_a_joint_carries_its_effort():
    rng = np.random.default_rng(7)
    model = make_model(random_tree(["revolute", "prismatic", "continuous"], rng), "floating")
    q, v, a = random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)
    tau, found = inverse_dynamics(model, q, v, a), joint_wrenches(model, q, v, a)
    described = {joint.name: joint for joint in model.description.joints}
    for joint in model.joints:
        own = described[joint.name]
        wrench = found[joint.name][:3] if joint.type == "prismatic" else found[joint.name][3:]
        along = wrench @ np.array(own.axis) + own.rotor_inertia * a[joint.iv]
        assert along == pytest.approx(tau[joint.iv], rel=1e-12)


def test_what_is_no_number_is_refused_by_name():
    model = make_model(random_tree(["revolute"], np.random.default_rng(1)), "fixed")
    with pytest.raises(ValueError, match=r"a: expected finite numbers"):
        joint_wrenches(model, [0.0], [0.0], [np.nan])
