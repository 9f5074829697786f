# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a step keeps the books of energy: convergence is not acceptance.

Past a certain speed the equations of a step still have a root, and an iteration may find it, but the step is no longer
regular: it makes kinetic energy from nothing, or takes it. Neither residual nor distance from the guess tells such a
step from a good one; its energy does. Two balances are kept, both exact where inertia is constant, however stiff the
forces are, so that what is left over is the scheme's own error:

    from midpoint to midpoint  T̄_k − T̄_{k−1} = ½ (u_{k−1} + u_k) · ½ (h Q_{k−1} + h Q_k − 2h G(q_k)),   T̄ = ½ vᵀM(q̄)v
    from node to node          T_{k+1} − T_k = u_k · (h Q_k − h/2 (G(q_k) + G(q_{k+1}))),               T = ½ pᵀM(q)⁻¹p

Q and G are forces and weight in independent coordinates. The first costs a few products and is asked of every step; T̄
comes from the momenta that the step has anyway. The second needs a mass matrix: it is the judge (judge_kernel)
where the first is out of balance, where the iteration took long, or where a long run has gathered an error.
"""

from mbsim_ros.coupling.reduction_kernel import reduce_to_columns
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    GROSS_WORK,
    LAST_STEP,
    MIDPOINT_KINETIC,
    MIDPOINT_WORK,
    NODE_WORK,
    PEAK_KINETIC,
    RESIDUE,
    ROUGH_STEPS,
    TERMS,
)
from mbsim_ros.integrators.lie_variational.vectors import (
    FORCE,
    HALF,
    MINUS,
    MOTOR,
    PLUS,
    RESIDUAL,
    RIGHT,
    VELOCITY,
    WEIGHT,
)
from mbsim_ros.jit import helper

LONG, HARD = 8, 16  # iterations: a step that took more is judged, and by the tolerance of hard steps
JUMP = 5.0e-4  # of the kinetic energy: a larger one from midpoint to midpoint is judged
ROUGH = 1.0e-4  # of the kinetic energy: a larger one is counted, and told of
GATHERED = 0.03  # of the largest kinetic energy and all work: beyond it every step is judged
FLOOR = 1.0e-9  # of the energy of all terms of the equations: below it there is nothing to compare
JUDGE_NEXT = -1.0  # for LAST_STEP: there is no midpoint to compare with, so the node judges
NO_STEP = 0.0  # for LAST_STEP: there has been none, and the first midpoint is compared with the node of the start


@helper
def balance_midpoints(system, h, is_last):
    """Continue the balance from midpoint to midpoint, after solve; whether the step has to be judged.

    is_last: of a composition. Only these are compared with each other: midpoints of steps of other lengths differ.
    """
    state, coupling, vectors, memory = system.state, system.coupling, system.work.vectors, system.state.memory
    nv, nu = state.p.shape[0], state.u.shape[0]
    force, weight = vectors[RESIDUAL, :nu], vectors[HALF, :nu]
    reduce_to_columns(coupling, vectors[FORCE, :nv], force)
    reduce_to_columns(coupling, vectors[WEIGHT, :nv], weight)
    kinetic = work = gross = 0.0
    for i in range(nv):  # −D₁L_d and D₂L_d, whose mean is M(q̄)v; evaluate has left the residual where −D₁L_d was
        minus = vectors[RIGHT, i] + 0.5 * h * vectors[FORCE, i] - vectors[MINUS, i]
        kinetic += 0.25 * vectors[VELOCITY, i] * (minus + vectors[PLUS, i])
    last = memory[LAST_STEP]
    for i in range(nu):
        u = state.u[i]
        kinetic += 0.5 * coupling.rotor[i] * u * u
        force[i] += vectors[MOTOR, i]
        impulse = 0.5 * (last * state.force[i] + h * force[i]) - 0.5 * (last + h) * weight[i]
        work += 0.5 * (state.previous[i] + u) * impulse
        memory[NODE_WORK] += u * (h * force[i] - 0.5 * h * weight[i])
        gross += abs(h * u) * (abs(force[i]) + abs(weight[i]))
        state.force[i] = force[i]
    memory[LAST_STEP] = h
    memory[GROSS_WORK] += gross
    memory[PEAK_KINETIC] = max(memory[PEAK_KINETIC], kinetic)
    if last == JUDGE_NEXT:
        memory[MIDPOINT_KINETIC], memory[MIDPOINT_WORK] = kinetic, 0.0
        return True
    memory[MIDPOINT_WORK] += work
    if not is_last:
        return False
    scale = memory[MIDPOINT_KINETIC] + kinetic + gross + FLOOR * memory[TERMS]
    jump = kinetic - memory[MIDPOINT_KINETIC] - memory[MIDPOINT_WORK]
    memory[RESIDUE] += jump
    memory[MIDPOINT_KINETIC], memory[MIDPOINT_WORK] = kinetic, 0.0
    if abs(jump) > ROUGH * scale:
        memory[ROUGH_STEPS] += 1.0
    gathered = abs(memory[RESIDUE]) > GATHERED * (memory[PEAK_KINETIC] + memory[GROSS_WORK] + FLOOR * memory[TERMS])
    return abs(jump) > JUMP * scale or gathered


@helper
def finish_node_work(system, h):
    """Add the half of the weight's work that belongs to the end of the step, whose weight is now known."""
    state, coupling, vectors = system.state, system.coupling, system.work.vectors
    nv, nu = state.p.shape[0], state.u.shape[0]
    weight = vectors[HALF, :nu]
    reduce_to_columns(coupling, vectors[WEIGHT, :nv], weight)
    for i in range(nu):
        state.memory[NODE_WORK] -= 0.5 * h * state.u[i] * weight[i]
