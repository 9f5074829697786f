# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Recursive rigid-body dynamics in linear time: free functions on (model, q, v, …).

Vectors have Pinocchio's layout; twists and wrenches are linear first. Every function checks its arguments and takes
a `workspace=` to reuse. W Algorithms 3.1 to 3.3 are forward_kinematics, inverse_dynamics and forward_dynamics.
"""

from mbsim_ros.dynamics.energy import MechanicalEnergy, energy, kinetic_energy, potential_energy
from mbsim_ros.dynamics.factorisation import Factorisation
from mbsim_ros.dynamics.forward import MasslessJoint, forward_dynamics
from mbsim_ros.dynamics.inverse import inverse_dynamics, joint_wrenches
from mbsim_ros.dynamics.inverse_kinematics import Unreachable, inverse_kinematics
from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.kinematics import (
    Kinematics,
    forward_kinematics,
    link_acceleration,
    link_pose,
    link_poses,
    link_twist,
)
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.momentum import centre_of_mass, centroidal_momentum, centroidal_momentum_matrix, momentum
from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.dynamics.workspace import Workspace

__all__ = [
    "Factorisation",
    "Kinematics",
    "MasslessJoint",
    "MechanicalEnergy",
    "Unreachable",
    "Workspace",
    "centre_of_mass",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "frame_jacobian",
    "generalised_momentum_and_gradient",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_wrenches",
    "kinetic_energy",
    "link_acceleration",
    "link_pose",
    "link_poses",
    "link_twist",
    "mass_matrix",
    "momentum",
    "potential_energy",
]
