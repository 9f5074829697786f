"""Rotations and poses: so3, se3 and quaternion.

Each module has kernels (numba, named like exp_so3_into, writing into their last arguments, for use inside other
kernels) and Python functions (checked, returning arrays). Twists and wrenches are linear first.
"""

from mbsim_ros.lie import quaternion, se3, so3

__all__ = ["quaternion", "se3", "so3"]
