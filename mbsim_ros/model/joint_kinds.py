# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The kinds of joints that move, as the kernels know them.

Revolute and continuous joints are one kind: one angle about the body's z axis (axes are turned to z when a model is
made). A kind's motion subspace is spanned by coordinate axes of the body frame, so a twist of the joint is its
velocities put at these places of (v, ω).
"""

from __future__ import annotations

from dataclasses import dataclass

REVOLUTE, PRISMATIC, SPHERICAL, PLANAR, FLOATING = range(5)


@dataclass(frozen=True)
class JointKind:
    """Sizes and motion subspace of a kind."""

    number: int
    nq: int
    nv: int
    axes: tuple[int, ...]  # places of its velocities in (vx, vy, vz, ωx, ωy, ωz)
    neutral: tuple[float, ...]


KINDS = {
    "revolute": JointKind(REVOLUTE, 1, 1, (5,), (0.0,)),
    "continuous": JointKind(REVOLUTE, 1, 1, (5,), (0.0,)),
    "prismatic": JointKind(PRISMATIC, 1, 1, (2,), (0.0,)),
    "spherical": JointKind(SPHERICAL, 4, 3, (3, 4, 5), (0.0, 0.0, 0.0, 1.0)),
    "planar": JointKind(PLANAR, 3, 3, (0, 1, 5), (0.0, 0.0, 0.0)),
    "floating": JointKind(FLOATING, 7, 6, (0, 1, 2, 3, 4, 5), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
}
