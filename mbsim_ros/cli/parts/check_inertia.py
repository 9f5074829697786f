# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What ``mbsim check`` adds to the doubts about masses: inertias that no body within the link's mesh can have.

Placeholders are common, such as 0.01 kg m² for a phalanx of 13 g: a robot with them turns as if it were metres long.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from mbsim_ros.contact.points import ContactPoints, contact_points
from mbsim_ros.model.assembly.checking import FileCheck
from mbsim_ros.model.assembly.plausibility import TOO_BIG, LinkMass, suggestion_for

DOUBT = "inertia of a much larger body than its mesh"


def masses_beside_meshes(check: FileCheck) -> tuple[LinkMass, ...]:
    """The masses of a check, with a doubt and a suggestion where a mesh gives one."""
    if check.model is None:
        return check.masses
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = contact_points(check.model)
    return tuple(found if found.doubts else _judged(found, points) for found in check.masses)


def _judged(found: LinkMass, points: ContactPoints) -> LinkMass:
    """A mass m within the radius R of its centre has no moment above m R²."""
    numbers = [k for k in points.of_link(found.link.name) if points.labels[k].startswith("mesh vertex")]
    if not numbers or found.mass == 0.0:
        return found
    vertices = points.geometry[numbers, :3]
    reach = float(np.linalg.norm(vertices - vertices.mean(axis=0), axis=1).max())
    if found.moments[-1] <= TOO_BIG * found.mass * reach**2:
        return found
    suggestion, by = suggestion_for(found.link)
    return replace(found, doubts=(DOUBT,), suggestion=suggestion, suggested_by=by)
