# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Brakes and clutches that slip at a torque limit: a column of D for each, its rate s, with a force |F| ≤ limit on it.

Coulomb's law with the mean slip of a step: the column stands still (s = 0, and F is what holds it), or it slips and F
is at the limit against it. There is no small speed at which it creeps: while it holds, the column is out of the
equations, so that the step is that of the coupling without a limit.
"""

from mbsim_ros.jit import helper

# Columns of the array of clutches (clutches, CLUTCH_COLUMNS), and the same of before the step.
CLUTCH_COLUMN, CLUTCH_LIMIT, CLUTCH_MODE, CLUTCH_FORCE, CLUTCH_LOSS, CLUTCH_RESIDUAL = range(6)
CLUTCH_SAVED_MODE, CLUTCH_SAVED_FORCE, CLUTCH_SAVED_LOSS, CLUTCH_COLUMNS = range(6, 10)
HOLDS = 0.0  # mode; a clutch that slips has the sign of its rate
ABOVE = 1.0 + 1.0e-9  # of the limit: a clutch that holds with more slips
BACKWARDS = 1.0e-12  # of the largest rate: one that slips the other way by more holds


@helper
def add_clutch_forces(clutches, h, residual):
    """Add what clutches do over half a step to the residual; of those that hold keep what they have to bear."""
    for k in range(clutches.shape[0]):
        clutch = clutches[k]
        i = int(clutch[CLUTCH_COLUMN])
        if clutch[CLUTCH_MODE] == HOLDS:
            clutch[CLUTCH_RESIDUAL] = residual[i]
            residual[i] = 0.0
        else:
            residual[i] += 0.5 * h * clutch[CLUTCH_FORCE]


@helper
def hold_columns(clutches, matrix):
    """Take the columns that are held out of a matrix, of which the lower triangle is used."""
    for k in range(clutches.shape[0]):
        if clutches[k, CLUTCH_MODE] == HOLDS:
            i = int(clutches[k, CLUTCH_COLUMN])
            for j in range(i):
                matrix[i, j] = 0.0
            for j in range(i + 1, matrix.shape[0]):
                matrix[j, i] = 0.0
            matrix[i, i] = 1.0


@helper
def hold_rates(clutches, u):
    """Let the rates that are held be zero."""
    for k in range(clutches.shape[0]):
        if clutches[k, CLUTCH_MODE] == HOLDS:
            u[int(clutches[k, CLUTCH_COLUMN])] = 0.0


@helper
def switch_clutches(clutches, h, u, only_first):
    """Let go what had to bear more than its limit, and hold what slipped the other way; whether any was switched.

    only_first: not all of them at once.
    """
    largest = 0.0
    for i in range(u.shape[0]):
        largest = max(largest, abs(u[i]))
    switched = False
    for k in range(clutches.shape[0]):
        clutch = clutches[k]
        mode, limit = clutch[CLUTCH_MODE], clutch[CLUTCH_LIMIT]
        if mode == HOLDS:
            force = -2.0 / h * clutch[CLUTCH_RESIDUAL]
            clutch[CLUTCH_FORCE] = force
            if abs(force) > limit * ABOVE:
                clutch[CLUTCH_MODE] = -1.0 if force > 0.0 else 1.0
                clutch[CLUTCH_FORCE] = limit if force > 0.0 else -limit
                switched = True
        elif mode * u[int(clutch[CLUTCH_COLUMN])] < -BACKWARDS * largest:
            clutch[CLUTCH_MODE] = HOLDS
            switched = True
        if switched and only_first:
            break
    return switched


@helper
def save_clutches(clutches):
    """Keep their state before a step."""
    for k in range(clutches.shape[0]):
        for j in range(3):
            clutches[k, CLUTCH_SAVED_MODE + j] = clutches[k, CLUTCH_MODE + j]


@helper
def restore_clutches(clutches):
    """Take back what a step that failed has done."""
    for k in range(clutches.shape[0]):
        for j in range(3):
            clutches[k, CLUTCH_MODE + j] = clutches[k, CLUTCH_SAVED_MODE + j]
