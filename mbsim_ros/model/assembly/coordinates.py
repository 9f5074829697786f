# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Mimic joints: which coordinate of the model moves each coordinate of the tree."""

from __future__ import annotations

import numpy as np

from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.model import Coordinates, ModelJoint


def mimic_coordinates(description: RobotDescription, joints: list[ModelJoint], is_floating: bool) -> Coordinates | None:
    """The map from the model's coordinates to the tree's; None where they are the same."""
    if all(joint.iv >= 0 for joint in joints):
        return None
    by_name = {joint.name: joint for joint in joints}
    leaders: dict[str, tuple[str, float, float]] = {}
    q_rows = [(i, 1.0, 0.0) for i in range(7)] if is_floating else []
    v_rows = [(i, 1.0) for i in range(6)] if is_floating else []
    for joint in joints:
        if joint.iv >= 0:
            q_rows += [(joint.iq + i, 1.0, 0.0) for i in range(joint.nq)]
            v_rows += [(joint.iv + i, 1.0) for i in range(joint.nv)]
        else:
            leader, ratio, offset = _resolve(description, joint.name, leaders)
            q_rows.append((by_name[leader].iq, ratio, offset))
            v_rows.append((by_name[leader].iv, ratio))
    source_q, ratio_q, offset_q = (np.array(column) for column in zip(*q_rows, strict=True))
    source_v, ratio_v = (np.array(column) for column in zip(*v_rows, strict=True))
    columns = (source_q, ratio_q, offset_q, source_v, ratio_v)
    for column in columns:
        column.setflags(write=False)
    return Coordinates(*columns)


def _resolve(
    description: RobotDescription, name: str, known: dict[str, tuple[str, float, float]]
) -> tuple[str, float, float]:
    """The joint that a mimic joint follows in the end, through any mimic joints between, with ratio and offset.

    What is found for the joints between is kept in `known`: chains of mimic joints can be long.
    """
    path = []
    while name not in known and (mimic := description.joint(name).mimic) is not None:
        path.append((name, mimic))
        name = mimic.joint
    leader, ratio, offset = known.get(name, (name, 1.0, 0.0))
    for follower, mimic in reversed(path):  # r = m (ratio · leader + offset) + o
        ratio, offset = mimic.multiplier * ratio, mimic.multiplier * offset + mimic.offset
        known[follower] = (leader, ratio, offset)
    return leader, ratio, offset
