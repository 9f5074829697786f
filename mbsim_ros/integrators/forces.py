"""Forces on joints and motors in the middle of a step, and the work of all forces over it."""

from mbsim_ros.elastic.springs_kernel import DAMPING_TENSION, RATE
from mbsim_ros.integrators.arrays import EFFORT
from mbsim_ros.integrators.joint_forces import damping_force, drive_force, friction_force, stop_force
from mbsim_ros.integrators.spatial_forces import power_of_pushes
from mbsim_ros.integrators.vectors import FORCE, MOTOR, MOTOR_SLOPE, SLOPE, VELOCITY
from mbsim_ros.jit import helper

# Entries of the ledger: work done on the mechanism by each kind of force.
ACTUATORS, DAMPING, FRICTION, STOPS, SPRING_DAMPING, EXTERNAL = range(6)
LEDGER = 6


@helper
def apply_joint_forces(dof_q, state, joints, drives, motors, vectors, h):
    """Write forces on joints and motors in the middle of the step, and their slopes."""
    for i in range(state.p.shape[0]):
        at = dof_q[i]
        if at < 0:
            vectors[FORCE, i], vectors[SLOPE, i] = drives[EFFORT, i], 0.0
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


@helper
def book(dof_q, state, joints, drives, vectors, h, ledger):
    """Add the work of each kind of force on joints over the step, with the step's own velocities, to the ledger."""
    for i in range(state.p.shape[0]):
        at, v = dof_q[i], vectors[VELOCITY, i]
        if at < 0:
            ledger[ACTUATORS] += h * drives[EFFORT, i] * v
            continue
        r = state.q[at] + 0.5 * h * v
        drive, _ = drive_force(drives, i, r, v, h)
        damping, _ = damping_force(joints, i, v)
        friction, _ = friction_force(joints, i, v)
        stop, _ = stop_force(joints, i, r, v, h)
        ledger[ACTUATORS] += h * drive * v
        ledger[DAMPING] += h * damping * v
        ledger[FRICTION] += h * friction * v
        ledger[STOPS] += h * stop * v
    for i in range(state.u.shape[0]):
        ledger[ACTUATORS] += h * vectors[MOTOR, i] * state.u[i]


@helper
def book_on_bodies(external, rows, twists, springs, h, ledger):
    """The same for what acts on bodies, but contact, which books for itself."""
    ledger[EXTERNAL] += h * power_of_pushes(external, rows, twists)
    if springs is not None:
        for s in range(springs.states.shape[0]):
            spring = springs.states[s]
            ledger[SPRING_DAMPING] -= h * spring[DAMPING_TENSION] * spring[RATE]
