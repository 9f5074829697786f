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
