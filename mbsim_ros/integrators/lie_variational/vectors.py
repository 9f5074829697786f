# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Rows of work.vectors, the numbers of one step; the first three are scratch of the momentum passes."""

SCRATCH = 0
MINUS, PLUS, RIGHT, VELOCITY, FORCE, SLOPE, WEIGHT = range(3, 10)
UPDATE, RESIDUAL, MOTOR, MOTOR_SLOPE, HALF = range(10, 15)
SAVED_Q, SAVED_P, SAVED_U, SAVED_PREVIOUS, SAVED_X, SAVED_PI, SAVED_MU, SAVED_LEDGER, SAVED_MEMORY = range(15, 24)
SAVED_ENERGIES, SAVED_PAIR_ENERGIES, SAVED_FORCE = 24, 25, 26
# of the iteration that ties the parts of a scene together, scene/ties_kernel.py
CG_EXPANDED, CG_RESIDUAL, CG_DIRECTION, CG_IMAGE, CG_SOLVED, CG_TIES = range(27, 33)
# of the iteration before, in islands of a scene: step, update and residual
LAST_STEP_MADE, LAST_UPDATE, LAST_RESIDUAL = range(33, 36)
VECTORS = 36
