# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forces on joints and motors at the midpoint of a step, and the work of all forces over it."""

import math

from mbsim_ros.elastic.springs_kernel import DAMPING_TENSION, SPRING_RATE
from mbsim_ros.integrators.joint_forces import damping_force, drive_force, force_beside, friction_force, stop_force
from mbsim_ros.integrators.layout import (
    DRIVE_EFFORT,
    DRIVE_KD,
    DRIVE_KP,
    DRIVE_LIMIT,
    JOINT_DAMPING,
    JOINT_FRICTION,
    JOINT_LOWER,
    JOINT_UPPER,
    LEDGER_ACTUATORS,
    LEDGER_DAMPING,
    LEDGER_EXTERNAL,
    LEDGER_FRICTION,
    LEDGER_SPRING_DAMPING,
    LEDGER_STOPS,
)
from mbsim_ros.integrators.lie_variational.body_forces_kernel import power_of_pushes
from mbsim_ros.integrators.lie_variational.vectors import FORCE, MOTOR, MOTOR_SLOPE, SCRATCH, SLOPE, VELOCITY
from mbsim_ros.jit import helper


@helper
def apply_joint_forces(dof_q, state, coupling, joints, drives, motors, vectors, h):
    """Write forces on joints and motors at the midpoint of the step, and their slopes."""
    for i in range(state.p.shape[0]):
        at = dof_q[i]
        if at < 0:
            vectors[FORCE, i], vectors[SLOPE, i] = drives[DRIVE_EFFORT, i], 0.0
            continue
        v = vectors[VELOCITY, i]
        r = state.q[at] + 0.5 * h * v
        drive, drive_slope = drive_force(drives, i, r, v, h)
        damping, damping_slope = damping_force(joints, i, v)
        friction, friction_slope = friction_force(joints, i, v)
        stop, stop_slope = stop_force(joints, i, r, v, h)
        vectors[FORCE, i] = drive + damping + friction + stop
        vectors[SLOPE, i] = drive_slope + damping_slope + friction_slope + stop_slope
    for i in range(state.u.shape[0]):
        x = state.motor_position[i] + 0.5 * h * state.u[i]
        vectors[MOTOR, i], vectors[MOTOR_SLOPE, i] = drive_force(motors, i, x, state.u[i], h)
    if any_drives(motors) and any_drives(drives):
        share_limits(dof_q, state, coupling, drives, motors, vectors, h)


@helper
def clear_joint_forces(vectors):
    """The same where there are none."""
    for i in range(vectors.shape[1]):
        vectors[FORCE, i] = vectors[SLOPE, i] = vectors[MOTOR, i] = vectors[MOTOR_SLOPE, i] = 0.0


@helper
def any_joint_forces(joints):
    """Whether anything resists a joint, or may at a stop."""
    for i in range(joints.shape[1]):
        if joints[JOINT_DAMPING, i] != 0.0 or joints[JOINT_FRICTION, i] != 0.0:
            return True
        if joints[JOINT_LOWER, i] > -math.inf or joints[JOINT_UPPER, i] < math.inf:
            return True
    return False


@helper
def any_drives(drives):
    """Whether any of them does anything."""
    for i in range(drives.shape[1]):  # numba compiles no any()
        if drives[DRIVE_EFFORT, i] != 0.0 or drives[DRIVE_KP, i] != 0.0 or drives[DRIVE_KD, i] != 0.0:
            return True
    return False


@helper
def share_limits(dof_q, state, coupling, drives, motors, vectors, h):
    """Cut what a motor adds to the drives of the joints that it moves: together they stay within its limit."""
    own = vectors[SCRATCH]
    for k in range(state.u.shape[0]):
        own[k] = 0.0
    for i in range(state.p.shape[0]):
        if dof_q[i] >= 0:
            v = vectors[VELOCITY, i]
            drive, _ = drive_force(drives, i, state.q[dof_q[i]] + 0.5 * h * v, v, h)
            for e in range(coupling.start[i], coupling.start[i + 1]):
                own[coupling.column[e]] += coupling.ratio[e] * drive
    for k in range(state.u.shape[0]):
        vectors[MOTOR, k], vectors[MOTOR_SLOPE, k] = force_beside(
            own[k], vectors[MOTOR, k], vectors[MOTOR_SLOPE, k], motors[DRIVE_LIMIT, k]
        )


@helper
def add_work(dof_q, state, joints, drives, vectors, h, ledger):
    """Add the work of each kind of force on joints over the step, with the step's own velocities, to the ledger."""
    for i in range(state.p.shape[0]):
        at, v = dof_q[i], vectors[VELOCITY, i]
        if at < 0:
            ledger[LEDGER_ACTUATORS] += h * drives[DRIVE_EFFORT, i] * v
            continue
        r = state.q[at] + 0.5 * h * v
        drive, _ = drive_force(drives, i, r, v, h)
        damping, _ = damping_force(joints, i, v)
        friction, _ = friction_force(joints, i, v)
        stop, _ = stop_force(joints, i, r, v, h)
        ledger[LEDGER_ACTUATORS] += h * drive * v
        ledger[LEDGER_DAMPING] += h * damping * v
        ledger[LEDGER_FRICTION] += h * friction * v
        ledger[LEDGER_STOPS] += h * stop * v
    for i in range(state.u.shape[0]):
        ledger[LEDGER_ACTUATORS] += h * vectors[MOTOR, i] * state.u[i]


@helper
def add_work_on_bodies(external, rows, twists, springs, h, ledger):
    """The same for what acts on bodies, but contact, which books for itself."""
    ledger[LEDGER_EXTERNAL] += h * power_of_pushes(external, rows, twists)
    if springs is not None:
        for s in range(springs.states.shape[0]):
            spring = springs.states[s]
            ledger[LEDGER_SPRING_DAMPING] -= h * spring[DAMPING_TENSION] * spring[SPRING_RATE]
