# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters of the visco-elastic controller: H's gains, what is held where, and how the feedback acts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.viscoelastic.law import GAINS, ViscoelasticLaw, rows_of

CENTRE, POINT = "centre", "point"  # what place is fed back of
POSE, RATES = "pose", "rates"  # what is measured
WRENCHES, JOINTS = "wrenches", "joints"  # how the feedback acts
NEAREST = 0.02  # of cos θ₂: nearer than this to θ₂ = ±π/2 the angles mean nothing
ZERO = (0.0, 0.0, 0.0)
STIFFNESS = (4100.0, 4100.0, 3280.0)
MATRIX = "3 numbers: the diagonal; 9: the rows of a symmetric matrix."


@dataclass(frozen=True)
class ViscoelasticParameters(ValidatedParameters):
    """H's matrices, and where bodies are held. The defaults are H's simulation 3 (R = 0) in the world's gravity."""

    links: str = parameter("", "Links that are held, with commas; empty: the base, or all bodies that float.")
    position: tuple[float, ...] = parameter(
        (),
        "Where the centre of mass of each is held, in the world, 3 numbers a link; empty: where it is at first.",
        "m",
    )
    angles: tuple[float, ...] = parameter(
        ZERO, "Attitude that is held, turns about x, y, z of the link; 3 numbers for all, or for each link.", "rad"
    )
    point: tuple[float, ...] = parameter(
        ZERO, "R: where the force acts, from the centre of mass, in the axes of the link; 3 numbers for all, or each.",
        "m",
    )  # fmt: skip
    KTa: tuple[float, ...] = parameter(STIFFNESS, f"Stiffness of place, upper spring. {MATRIX}", "N/m")
    KTb: tuple[float, ...] = parameter(STIFFNESS, f"Stiffness of place, lower spring. {MATRIX}", "N/m")
    LTa: tuple[float, ...] = parameter((20.0, 20.0, 14.0), f"Damping of place. {MATRIX}", "Ns/m")
    LTb: tuple[float, ...] = parameter((200.0, 200.0, 140.0), f"Damping of the lower spring. {MATRIX}", "Ns/m")
    KRa: tuple[float, ...] = parameter(STIFFNESS, f"Stiffness of angles, upper spring. {MATRIX}", "Nm/rad")
    KRb: tuple[float, ...] = parameter(STIFFNESS, f"Stiffness of angles, lower spring. {MATRIX}", "Nm/rad")
    LRa: tuple[float, ...] = parameter((60.0, 60.0, 42.0), f"Damping of the rotation. {MATRIX}", "Nms/rad")
    LRb: tuple[float, ...] = parameter((600.0, 600.0, 420.0), f"Damping of the lower spring. {MATRIX}", "Nms/rad")
    alpha: float = parameter(0.2, "By how much Φ pulls at the angles.", "", lower=0.0, upper=1.0)
    feedback: str = parameter(
        CENTRE, "Whose place is fed back: of the centre of mass, H (3), or of the point R, H (12).",
        choices=(CENTRE, POINT),
    )  # fmt: skip
    measures: str = parameter(
        POSE, "What is measured: the pose, or rates alone, from which the pose follows by H (4) to (9).",
        choices=(POSE, RATES),
    )  # fmt: skip
    only_pushes: bool = parameter(
        False, "Whether the ground under the springs only pushes, so that a body can hop off it: H 4.2."
    )
    acts_by: str = parameter(
        WRENCHES, "Wrenches on the links, or their projection on the joints of a robot whose base is fixed: H 3.2.",
        choices=(WRENCHES, JOINTS),
    )  # fmt: skip
    elements: str = parameter("", "Springs, dampers and muscles between links, as YAML: H 2.3.1 and (16) to (20).")
    carry_weight: bool = parameter(
        True, "Whether the springs are biased so that the weight does not pull the links down."
    )
    gravity: float = parameter(9.81, "Acceleration, downwards.", "m/s²", lower=0.0, upper=100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.law()

    def law(self) -> ViscoelasticLaw:
        """The feedback with these gains; ValueError for one that is no positive definite matrix."""
        return ViscoelasticLaw(
            **{name: rows_of(name, getattr(self, name)) for name in GAINS}, alpha=np.full(3, self.alpha)
        )

    def triples(self, name: str, links: int) -> np.ndarray:
        """A parameter of three numbers, for all links or for each, as (links, 3)."""
        given: tuple[float, ...] = getattr(self, name)
        if len(given) not in (3, 3 * links):
            each = "3 numbers" if links == 1 else f"3 numbers for all or {3 * links}, 3 for each link"
            raise ValueError(f"{name}: expected {each}, got {len(given)}")
        return np.array(np.broadcast_to(np.reshape(given, (-1, 3)), (links, 3)), dtype=float)

    def attitudes(self, links: int) -> np.ndarray:
        """Angles (links, 3) that are held; ValueError where they mean nothing."""
        angles = self.triples("angles", links)
        if (np.abs(np.cos(angles[:, 1])) < NEAREST).any():
            raise ValueError(
                f"angles: expected the second away from ±π/2, where the angles mean nothing, got {self.angles}"
            )
        return angles

    def places(self, links: int) -> np.ndarray | None:
        """Where the links are held (links, 3); None for where they are at first."""
        if not self.position:
            return None
        if len(self.position) != 3 * links:
            raise ValueError(f"position: expected {3 * links} numbers, got {len(self.position)}")
        return np.array(self.position, dtype=float).reshape(links, 3)
