# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What ``mbsim check`` says of contact and weight: points of each link, where the robot stands, what it cannot hold."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace

from mbsim_ros.contact.points import contact_points
from mbsim_ros.model.model import Model


def points_of_links(model: Model) -> Counter[str]:
    """Number of points that can touch, by link."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Counter(contact_points(model).links)


def touching(model: Model) -> str:
    """In lines what can touch or stands in for it, where a robot that floats stands, and which joints give way."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        points = contact_points(model)
    links = len(set(points.links))
    lines = [f"contact: {len(points)} points of {links} link{'' if links == 1 else 's'}"]
    lines += [f"contact: {warning.message}" for warning in said]
    from mbsim_ros.dynamics.inverse import GRAVITY  # with a compiler, which takes a second
    from mbsim_ros.sim.drives.weak_joints import weakness
    from mbsim_ros.sim.initial_states import HOME, named_state
    from mbsim_ros.sim.surroundings.standing import gaps, stand_on_floor

    q, scene = stand_on_floor(model, named_state(model, HOME)[0])
    above = gaps(model, scene, q)
    if model.is_floating and len(above):
        lowest = sorted({link for link, gap in zip(points.links, above, strict=True) if gap < 0.0})
        shown = ", ".join(lowest[:6]) + (f" and {len(lowest) - 6} more" if len(lowest) > 6 else "")
        lines[0] += f"; it stands with its base at z = {q[2]:.4g} m on {shown}"
    free = scene if model.is_floating else replace(scene, points=None)  # nobody knows where it is fixed to
    too_weak = weakness(model, free, q, GRAVITY, model.joint_names)
    return "\n".join([*lines, *([f"drives: {too_weak}"] if too_weak else [])])
