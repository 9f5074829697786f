# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker's URDF has the dimensions that are known to walk, and its sidecar the couplings of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from walker_runs import ROOT, walker

from mbsim_ros import load_urdf
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.control.walker.legs import LEGS, MOTORS, joint_matrix, transmission
from mbsim_ros.coupling import named
from mbsim_ros.dynamics import forward_kinematics


@pytest.fixture(scope="module")
def reference():
    return load_urdf((ROOT / "test" / "reference" / "walker_dimensions.urdf").read_text(), base="floating").description


def test_links_have_the_reference_masses(reference):
    ours = {link.name: link for link in walker().description.links}
    assert set(ours) == {link.name for link in reference.links}
    for link in reference.links:
        assert ours[link.name].inertial.mass == link.inertial.mass
        np.testing.assert_allclose(ours[link.name].inertial.inertia, link.inertial.inertia, rtol=1e-14)
        np.testing.assert_allclose(ours[link.name].inertial.origin.xyz, link.inertial.origin.xyz, rtol=1e-14)


def test_joints_have_the_reference_places(reference):
    ours = {joint.name: joint for joint in walker().description.joints}
    assert set(ours) == {joint.name for joint in reference.joints}
    for joint in reference.joints:
        same = ours[joint.name]
        assert (same.parent, same.child, same.type, same.axis, same.limits) == (
            joint.parent, joint.child, joint.type, joint.axis, joint.limits
        )  # fmt: skip
        np.testing.assert_allclose(same.origin.xyz, joint.origin.xyz, rtol=1e-14)


def test_feet_are_the_only_collision_shapes(reference):
    theirs = {link.name: [(c.geometry, c.origin) for c in link.collisions] for link in reference.links}
    for link in walker().description.links:
        assert [(c.geometry, c.origin) for c in link.collisions] == theirs[link.name]
    assert sum(bool(shapes) for shapes in theirs.values()) == 8


def test_rotors_and_damping_of_every_joint():
    sidecar = walker().sidecar
    joints = set(walker().joint_names)
    assert len(joints) == 17
    assert sidecar.rotor_inertia == dict.fromkeys(joints, 0.02)
    assert sidecar.damping == dict.fromkeys(joints, 0.1)


def test_couplings():
    couplings = named(walker())
    whole = {name for name in couplings if not name.startswith("braked")}  # those are for rough ground
    assert whole == {"normal", "turn", "hold", "femurs_reversed", *(f"{leg}_released" for leg in LEGS)}
    assert couplings["normal"].motors == MOTORS
    np.testing.assert_array_equal(couplings["normal"].D[6:, 6:], joint_matrix(walker()))
    assert {
        name: dict(joints) for name, joints in walker().sidecar.couplings["normal"].motors.items()
    } == transmission()
    assert couplings["hold"].nu == 6
    assert couplings["turn"].motors == ("waist", "femur_A", "femur_B")
    for leg in LEGS:
        free = couplings[f"{leg}_released"].column_names[6:-5]
        assert set(free) == {f"{leg}_f", f"{leg}_t"}
    reverse = couplings["femurs_reversed"].D[6:, 6:] * [1, -1, 1, -1, 1]
    np.testing.assert_array_equal(reverse, couplings["normal"].D[6:, 6:])


def test_frames_and_legs_clear_each_other():
    """At full stroke and with the waist at its end, legs of A and of B stay apart: feet, shins and femurs."""
    gait = WalkerGait(walker())
    p, geometry = gait.parameters, gait.geometry
    closest = np.inf
    reach = min(p.waist_reach, geometry.waist_limit(p.longest_step))
    for waist in (-reach, 0.0, reach):
        for a in (-0.5, 0.0, 0.5):
            for b in (-0.5, 0.0, 0.5):
                angles = [waist]
                for frame, share, lift in (("A", a, 0.0), ("B", b, p.lift)):
                    reached = share * p.longest_step, 0.0, p.depth - lift, 0.0
                    angles += geometry.frame(frame).motor_angles(*reached)[:2]
                q = walker().neutral.copy()
                q[7:] = joint_matrix(walker()) @ angles
                closest = min(closest, nearest_legs(forward_kinematics(walker(), q)))
    assert closest > 0.035  # of their axes: shins and femurs are 28 mm wide and less, feet 40 mm but at other heights


def nearest_legs(kinematics):
    """Distance of the axes of the legs of A to those of B on the same side and end."""
    distance = np.inf
    for end in ("FL", "FR", "RL", "RR"):
        a, b = (leg_points(kinematics, frame + end, shin) for frame, shin in (("A", 0.4), ("B", 0.32)))
        distance = min(distance, np.linalg.norm(a[:, None] - b[None], axis=2).min())
    return distance


def leg_points(kinematics, leg, shin):
    """Points (n, 3) along a leg, from hip to foot."""
    hip, X_t = kinematics.link_pose(f"{leg}_femur")[:3, 3], kinematics.link_pose(f"{leg}_tibia")
    s = np.linspace(0.0, 1.0, 60)[:, None]
    knee, foot = X_t[:3, 3], X_t[:3, 3] - shin * X_t[:3, 2]
    return np.vstack([hip + s * (knee - hip), knee + s * (foot - knee)])
