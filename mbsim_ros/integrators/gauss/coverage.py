# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which robots the scheme is for: trees of joints that turn or slide, on a fixed base or on one that floats."""

from __future__ import annotations

from mbsim_ros.integrators.integrator import IntegrationProblem
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import KIND, PARENT, Model


def covers(problem: IntegrationProblem) -> str:
    """Why a problem is none for the scheme; "" where it is."""
    return why_not(problem.model)


def why_not(model: Model) -> str:
    """Why a robot is none for the scheme; "" where it is."""
    kinds, parents = model.topology[:, KIND], model.topology[:, PARENT]
    floats = len(kinds) > 0 and kinds[0] == FLOATING
    for body, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        if kind not in (REVOLUTE, PRISMATIC) and not (floats and body == 0):
            return f"link '{model.body_names[body]}' moves by a joint that neither turns nor slides"
        if floats and body > 0 and parent == 0:
            return f"link '{model.body_names[body]}' is not carried by the base, which floats"
    return ""
