# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is laid over a robot is where its physics has it."""

import numpy as np

from mbsim_ros import ModelBuilder
from mbsim_ros.viewer.scene.overlays import contact_points, inertia_boxes, joint_axes


def test_overlays_are_in_the_frames_of_their_links():
    builder = ModelBuilder("arm")
    builder.link("world")
    builder.link("upper", mass=2.0, com=(0.1, 0.0, 0.3), box=(0.4, 0.2, 0.6), collision=True)
    builder.link("pad", mass=0.1, sphere=0.02, collision=True)
    builder.joint("turn", "continuous", "world", "upper", xyz=(0, 0, 1), axis=(0, 0, 1))
    builder.joint("weld", "fixed", "upper", "pad", xyz=(0, 0, 0.7), rpy=(np.pi / 2, 0, 0))
    model = builder.build()
    upper, pad = model.link_names.index("upper"), model.link_names.index("pad")

    ((link, origin, axis),) = joint_axes(model)
    assert link == upper and not origin.any() and axis.tolist() == [0.0, 0.0, 1.0]

    boxes = {link: (X, size) for link, X, size in inertia_boxes(model)}
    X_LB, size = boxes[upper]
    assert np.allclose(X_LB[:3, 3], (0.1, 0.0, 0.3))
    assert np.allclose(np.abs(X_LB[:3, :3]) @ size, (0.4, 0.2, 0.6))
    assert np.isclose(np.linalg.det(X_LB[:3, :3]), 1.0)

    points = contact_points(model)
    assert sorted(link for link, _ in points) == [upper] * 8 + [pad]
    assert np.allclose(next(place for link, place in points if link == pad), 0.0)
