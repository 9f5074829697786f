# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A guess of the velocity with which a step's iteration begins: what the velocities of the last steps say of the next.

Of steps of equal length the differences ∇ʲu = ∇ʲ⁻¹u_k − ∇ʲ⁻¹u_{k−1} are kept. The polynomial through the last m
velocities goes on with u + ∇u + … + ∇ᵐ⁻¹u, and what it missed the next velocity by is ∇ᵐ of that: so each order tells
by itself how well it would have done. A robot that flies is foretold to 1e-12 with five or six, and one iteration is
enough; at a touch-down one or two are better. The order goes up or down by one where a neighbour did better.
"""

from mbsim_ros.integrators.lie_variational.solve_kernel import PREDICTION_ORDER
from mbsim_ros.jit import helper

MOST_TERMS = 6  # velocities that a guess is made of
DIFFERENCES = MOST_TERMS + 1  # u itself, and as many differences


@helper
def predict(state, extrapolates):
    """Guess the velocity of the next step: that of the last, or of equal steps what the last ones say."""
    u, table = state.u, state.differences
    terms = int(state.memory[PREDICTION_ORDER]) if extrapolates and ends_in(table, u) else 1
    for i in range(u.shape[0]):
        state.previous[i] = u[i]
    for j in range(1, terms):
        for i in range(u.shape[0]):
            u[i] += table[j, i]


@helper
def ends_in(table, u):
    """Whether differences end in u; others are of another motion: a reset, a change of coupling, a step in parts."""
    same = 0
    for i in range(u.shape[0]):
        same += table[0, i] == u[i]
    return same == u.shape[0]


@helper
def remember_velocity(state):
    """Continue the differences with the velocity of the step that was taken, and choose the order of the next guess."""
    table = state.differences
    if not ends_in(table, state.previous):
        begin_differences(table, state.previous)
        state.memory[PREDICTION_ORDER] = 1.0
    order = max(1, int(state.memory[PREDICTION_ORDER]))
    fewer, same, more = 0.0, 0.0, 0.0  # squares of what the neighbours missed this velocity by
    less, next_order = max(1, order - 1), min(MOST_TERMS, order + 1)
    for i in range(state.u.shape[0]):
        new = state.u[i]
        for j in range(DIFFERENCES):
            old = table[j, i]
            table[j, i] = new
            new -= old
        fewer += table[less, i] * table[less, i]
        same += table[order, i] * table[order, i]
        more += table[next_order, i] * table[next_order, i]
    if fewer < same and fewer <= more:
        order = less
    elif more < same:
        order = next_order
    state.memory[PREDICTION_ORDER] = order


@helper
def begin_differences(table, u):
    """Of a motion that has had this velocity all along."""
    for i in range(u.shape[0]):
        table[0, i] = u[i]
        for j in range(1, DIFFERENCES):
            table[j, i] = 0.0
