# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Clutches, brakes, cable drives and mimic joints as one matrix D: joint rates are D u, N (26)–(29), (40)–(49)."""

from mbsim_ros.coupling.configuration import CouplingConfiguration, couple, identity, named
from mbsim_ros.coupling.coupled_dynamics import coupled_forward_dynamics, coupled_mass_matrix
from mbsim_ros.coupling.definition import CouplingError
from mbsim_ros.coupling.engagement import Engagement, engage, lift, release
from mbsim_ros.coupling.positions import column_positions, joint_offsets, joint_positions

__all__ = [
    "CouplingConfiguration",
    "CouplingError",
    "Engagement",
    "column_positions",
    "couple",
    "coupled_forward_dynamics",
    "coupled_mass_matrix",
    "engage",
    "identity",
    "joint_offsets",
    "joint_positions",
    "lift",
    "named",
    "release",
]
