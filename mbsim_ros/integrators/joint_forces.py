"""Forces on single coordinates at the middle of a step, each with its part of the Jacobian and its energy.

A drive, damping, Coulomb friction and stops depend on one coordinate r and its rate v only, so their derivatives are
diagonal. With r at the middle moving by h/2 per unit of v, the slope −dQ/dv of a force −k r − b v is b + k h/2.
"""

import math

from mbsim_ros.jit import helper


@helper
def drive_force(drives, i, r, v, h):
    """Force of a drive and its slope: effort + PD, cut at the limit."""
    wanted = drives.effort[i] + drives.kp[i] * (drives.position[i] - r) + drives.kd[i] * (drives.velocity[i] - v)
    if wanted > drives.limit[i]:
        return drives.limit[i], 0.0
    if wanted < -drives.limit[i]:
        return -drives.limit[i], 0.0
    return wanted, drives.kd[i] + 0.5 * h * drives.kp[i]


@helper
def damping_force(joints, i, v):
    """Viscous damping and its slope."""
    return -joints.damping[i] * v, joints.damping[i]


@helper
def friction_force(joints, i, v):
    """Coulomb friction f v / √(v² + v₀²) and its slope: smooth, so that the solve converges."""
    f = joints.friction[i]
    if f == 0.0:
        return 0.0, 0.0
    small = joints.friction_speed[0]
    root = math.sqrt(v * v + small * small)
    return -f * v / root, f * small * small / (root * root * root)


@helper
def stop_force(joints, i, r, v, h):
    """Force of a position stop and its slope: a spring beyond the limit, damping fading in with depth; only pushes."""
    if r > joints.upper[i]:
        depth, rate, sign = r - joints.upper[i], v, -1.0
    elif r < joints.lower[i]:
        depth, rate, sign = joints.lower[i] - r, -v, 1.0
    else:
        return 0.0, 0.0
    k, b = joints.stop_stiffness[i], joints.stop_damping[i]
    fade = k * depth / (k * depth + b * FADE_RATE)
    force = k * depth + b * fade * rate
    if force <= 0.0:
        return 0.0, 0.0
    return sign * force, b * fade + 0.5 * h * k


FADE_RATE = 0.1  # [rad/s or m/s] the damping is half there when the spring force equals that of damping at this rate
