# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which models are one rigid body."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.capability import listed
from mbsim_ros.model.joint_kinds import FLOATING, SPHERICAL
from mbsim_ros.model.model import CENTRAL_INERTIA, INERTIA, KIND, MASS, Model


def why_not_one_body(model: Model) -> str:
    """Why a model is not one rigid body, free or on a ball joint; "" where it is."""
    if model.n_bodies != 1:
        return f"'{model.name}' has {model.n_bodies} moving bodies: {listed(model.body_names)}"
    kind, body = int(model.topology[0, KIND]), model.body_names[0]
    if kind not in (FLOATING, SPHERICAL):
        return f"joint '{model.joints[0].name}' of link '{body}' is {model.joints[0].type}"
    moments = np.linalg.eigvalsh(rotational_inertia(model))
    if not moments[0] > 0.0:
        return f"link '{body}' has a moment of inertia of {moments[0]:.3g} kg m²"
    if kind == FLOATING and not model.constants[0, MASS] > 0.0:
        return f"link '{body}' has no mass"
    return ""


def rotational_inertia(model: Model) -> np.ndarray:
    """Inertia (3, 3) about the centre of rotation: of mass where the body is free, else the joint."""
    at = CENTRAL_INERTIA if model.topology[0, KIND] == FLOATING else INERTIA
    xx, yy, zz, xy, xz, yz = model.constants[0, at : at + 6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
