# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots and spheres: each shape by its closed form."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import load_urdf
from mbsim_ros.contact.overlap import overlaps_sphere

LINK = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{collision}</link></robot>"""
COLLISION = '<collision><origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/><geometry>{shape}</geometry></collision>'


@pytest.mark.parametrize(
    ("shape", "point", "distance"),
    [
        ('<box size="0.2 0.4 0.6"/>', (1.8, 0.0, 0.0), 0.5),  # its z lies along x
        ('<box size="0.2 0.4 0.6"/>', (1.0, 0.6, 0.4), 0.5),  # from an edge: 0.3 in z, 0.4 in y
        ('<sphere radius="0.25"/>', (1.0, 1.0, 0.0), 0.75),
        ('<cylinder radius="0.1" length="1.0"/>', (1.8, 0.5, 0.0), 0.5),  # from the rim: 0.3 along, 0.4 beside
        ('<cylinder radius="0.1" length="1.0"/>', (1.2, 0.0, 0.7), 0.6),
        ("", (0.0, 0.0, 0.5), 0.5),  # no shape: the origin of the link
    ],
)
def test_distance_of_a_shape(shape, point, distance):
    model = load_urdf(LINK.format(collision=COLLISION.format(shape=shape) if shape else ""), base="floating")
    q = model.neutral.copy()
    q[:3] = 10.0, 0.0, 0.0
    centre = np.add(q[:3], point)
    assert overlaps_sphere(model, q, centre, distance + 1e-9)
    assert not overlaps_sphere(model, q, centre, distance - 1e-9)


def test_inside_is_no_distance():
    model = load_urdf(LINK.format(collision=COLLISION.format(shape='<box size="1 1 1"/>')), base="floating")
    assert overlaps_sphere(model, model.neutral, (1.0, 0.0, 0.0), 0.0)
