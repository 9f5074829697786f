# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Every column of the rows that kernels work on: what it holds, and in which pass.

`Workspace.rows` has a row for each body, row 0 is the world. A pass writes some columns and the passes after it, in the
same call, read them; columns of passes that are never used together overlap. `Workspace.dofs` has a row for each dof.
Kernels name columns by these words, or by the letter that their theory has for them (`import … as W_`).
"""

# Of every pass: the body in its parent, X_PB.
ROW_R_PB, ROW_P_PB = 0, 9  # row by row; where place_body puts them

# Kinematics (kernels/kinematics_kernel.py).
TWIST = 12  # (6) V_WB in the body frame (v, ω)
ACCELERATION = 18  # (6) A_WB, spatial, in the body frame
R_WB, P_WB = 52, 61  # (9), (3) at the end of the row: inverse dynamics and the momentum pass leave them alone

# Inverse dynamics (kernels/inverse_kernel.py).
INVERSE_OMEGA, INVERSE_ACCELERATION = 12, 15  # (3) ω, (3) a
INVERSE_G = 18  # (9) the matrix of α and ω that turns offsets into accelerations
INVERSE_WRENCH = 27  # (6) (f, τ)
INVERSE_ALPHA = 33  # (3) α
INVERSE_COLUMNS = 36

# Forward dynamics (kernels/forward_kernel.py) and the articulated inertia (articulated.py).
FORWARD_OMEGA, FORWARD_BIAS = 12, 18  # (3) ω, (6) c
ARTICULATED_A, ARTICULATED_B, ARTICULATED_C = 24, 30, 39  # (6), (9), (6): blocks [[A, B], [Bᵀ, C]]
ARTICULATED_Z = 45  # (6) bias wrench
FORWARD_ACCELERATION = 51  # (6)

# Mass matrix (kernels/mass_matrix_kernel.py): the composite body in the axes of its ancestor A.
COMPOSITE_OFFSET = 24  # (3) p_PB in A's axes
COMPOSITE_MASS, COMPOSITE_MOMENT, COMPOSITE_INERTIA = 27, 28, 31  # m, (3) m c, (6) about the body's origin

# Centroidal momentum (kernels/momentum_kernel.py), after the twists: the composite about the centre of mass C.
CENTROIDAL_CENTRE = 18  # (3) centre of mass in the world
CENTROIDAL_MASS, CENTROIDAL_MOMENT, CENTROIDAL_INERTIA = 21, 22, 25  # m, (3) m (c − C), (6)
CENTROIDAL_END = 31

# Energy (kernels/energy_kernel.py), after the twists.
ENERGY_GRAVITY, ENERGY_HEIGHT = 18, 21  # (3) γ, η

# Momenta and the gradient of the kinetic energy (kernels/momentum_pass_kernel.py), after the twists.
MOMENTUM_WRENCH = 18  # (6) momentum (f, τ) of the subtree
MOMENTUM_COLUMNS = 24

# The midpoint of a step (integrators/lie_variational/midpoint_kernel.py).
MIDPOINT_TWIST, MIDPOINT_MOMENTUM = 12, 18  # (6), (6) of the subtree about the body's origin
MIDPOINT_OFFSET = 24  # (3) from the parent

ROW_COLUMNS = 64

# Of a dof in forward dynamics: U = I S (6), 1 / (Sᵀ U + rotor), u = τ − Sᵀ z. In the mass matrix its first six are S.
DOF_U, DOF_INVERSE, DOF_EFFORT = 0, 6, 7
DOF_COLUMNS = 16
