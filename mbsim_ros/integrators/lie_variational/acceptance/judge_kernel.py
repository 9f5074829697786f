# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The judge of a step: the balance of energy from node to node (balance_kernel), by a factored mass matrix at each.

A step that took many iterations, or is out of balance from midpoint to midpoint, is judged where it is taken, for a few
microseconds. Only one that does not pass is given back, to be recovered by other means (recovery.py).
"""

import math

from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import FLOOR, GATHERED, HARD
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    GROSS_WORK,
    NODE_WORK,
    PARTS,
    PEAK_KINETIC,
    RESIDUE,
    START_KINETIC,
    TERMS,
)
from mbsim_ros.integrators.lie_variational.vectors import SAVED_MEMORY, SAVED_P, SAVED_PI, SAVED_Q
from mbsim_ros.jit import helper, kernel

# What a step may change the kinetic energy by beyond the work of its forces, of that energy and that work: a step that
# the iteration solved with ease, where the error of a long step swings to and fro, and one that was hard to solve.
EASY_JUMP, HARD_JUMP = 1.0e-2, 3.0e-4
MOST_GATHERED = 0.045  # of the largest kinetic energy and all work: the error that a run may gather


@helper
def passes_judgement(system, iterations):
    """Whether the step from the saved state to this one, solved in so many iterations, changed its energy as it may."""
    state, vectors = system.state, system.work.vectors
    nq, nv, nu = state.q.shape[0], state.p.shape[0], state.u.shape[0]
    before = node_kinetic(system, vectors[SAVED_Q, :nq], vectors[SAVED_P, :nv], vectors[SAVED_PI, :nu])
    after = node_kinetic(system, state.q, state.p, state.motor_momentum)
    memory, saved = state.memory, vectors[SAVED_MEMORY]
    allowed = EASY_JUMP if iterations <= HARD else HARD_JUMP
    return judge_nodes(memory, before, saved[NODE_WORK], saved[GROSS_WORK], after, allowed)[1]


@helper
def node_kinetic(system, q, p, motor_momentum):
    """Kinetic energy [J] at a node, rotors included; not a number where the mass matrix is singular."""
    node = system.work.node
    if not node_velocity_into(
        system.tree, system.coupling, q, p, motor_momentum, node.sincos, node.rows, node.dofs, node.M, node.reduced,
        node.u, node.v,
    ):  # fmt: skip
        return math.nan
    kinetic = 0.0
    for i in range(p.shape[0]):
        kinetic += 0.5 * p[i] * node.v[i]
    for i in range(motor_momentum.shape[0]):
        kinetic += 0.5 * motor_momentum[i] * node.u[i]
    return kinetic


@kernel
def judge_nodes(memory, kinetic_before, work_before, gross_before, kinetic, allowed):
    """Compare the kinetic energies of two nodes with the work between them; returns the jump and whether it may be.

    memory (MEMORY,) is that after the step, work_before and gross_before are its NODE_WORK and GROSS_WORK before it.
    allowed: part of its energy that the step may make or lose. A step that may be also settles the error gathered.
    """
    floor = FLOOR * memory[TERMS]
    left = kinetic - kinetic_before - (memory[NODE_WORK] - work_before)
    jump = abs(left) / (kinetic_before + (memory[GROSS_WORK] - gross_before) + floor)
    gathered_before = abs(kinetic_before - memory[START_KINETIC] - work_before)
    gathered = kinetic - memory[START_KINETIC] - memory[NODE_WORK]
    all_energy = memory[PEAK_KINETIC] + memory[GROSS_WORK] + floor
    if gathered_before > GATHERED * all_energy:
        allowed = min(allowed, HARD_JUMP)
    passes = jump <= allowed and abs(gathered) <= max(MOST_GATHERED * all_energy, gathered_before)
    if passes:
        memory[RESIDUE], memory[PARTS] = gathered, 0.0
    return jump, passes
