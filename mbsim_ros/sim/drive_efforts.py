"""What drives do in a state: effort + kp (position − r) + kd (velocity − v), cut at the limit."""

from __future__ import annotations

from mbsim_ros.jit import kernel


@kernel
def drive_efforts_into(effort, kp, kd, position, velocity, limit, dofs, in_q, in_v, q, v, out):
    """Write the efforts of n drives to out (n,): drive k is at dofs[k] of the first six, r = q[in_q[k]], v[in_v[k]]."""
    for k in range(out.shape[0]):
        i = dofs[k]
        wanted = effort[i] + kp[i] * (position[i] - q[in_q[k]]) + kd[i] * (velocity[i] - v[in_v[k]])
        out[k] = min(max(wanted, -limit[i]), limit[i])
