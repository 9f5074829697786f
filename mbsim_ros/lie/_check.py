# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Argument checks of the Python layer: each raises a ValueError naming the argument, the expected and the given.

Every check returns a fresh, writable, C-ordered float64 array, so each kernel is compiled for one type only.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Squares of larger numbers times each other would overflow inside the kernels.
LARGEST = 1e75
# Loose enough for rotations that went through float32 messages, tight enough to catch a wrong matrix.
UNIT_TOLERANCE = 1e-5


def array(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """Copy of value as a finite float64 array of the given shape."""
    try:
        result = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers of shape {shape}, got {value!r}") from None
    if result.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got shape {result.shape}")
    if not np.all(np.abs(result) <= LARGEST):  # false for nan too
        raise ValueError(f"{name}: expected finite numbers up to {LARGEST:g}, got {result.tolist()}")
    return result


def number(name: str, value: object) -> float:
    """Value as one finite float."""
    return float(array(name, value, ()))


def rotation(name: str, value: object) -> Array:
    """Value as a (3, 3) rotation matrix."""
    R = array(name, value, (3, 3))
    defect = float(np.abs(R.T @ R - np.eye(3)).max())
    if defect > UNIT_TOLERANCE or np.linalg.det(R) < 0.0:
        raise ValueError(
            f"{name}: expected a rotation matrix (R^T R = I within {UNIT_TOLERANCE:g}, det R = 1), "
            f"got a defect of {defect:.3g} and det {np.linalg.det(R):.3g}"
        )
    return R


def pose(name: str, value: object) -> tuple[Array, Array]:
    """Value, a (4, 4) pose or a pair (R, p), as R (3, 3) and p (3,)."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return rotation(f"{name}.R", value[0]), array(f"{name}.p", value[1], (3,))
    X = array(name, value, (4, 4))
    if not np.array_equal(X[3], (0.0, 0.0, 0.0, 1.0)):
        raise ValueError(f"{name}: expected the last row of a pose to be [0, 0, 0, 1], got {X[3].tolist()}")
    return rotation(name, X[:3, :3]), X[:3, 3].copy()


def unit_quaternion(name: str, value: object) -> Array:
    """Value as a (4,) quaternion of length one, rescaled exactly to it."""
    q = array(name, value, (4,))
    length = float(np.linalg.norm(q))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise ValueError(f"{name}: expected a unit quaternion (within {UNIT_TOLERANCE:g}), got length {length:.6g}")
    return q / length


def skew(name: str, value: object) -> Array:
    """Value as a (3, 3) skew-symmetric matrix."""
    W = array(name, value, (3, 3))
    defect = float(np.abs(W + W.T).max())
    if defect > 1e-9 * max(1.0, float(np.abs(W).max())):
        raise ValueError(f"{name}: expected a skew-symmetric matrix, got one with |W + W^T| = {defect:.3g}")
    return W


def regular(name: str, result: Array, reason: str) -> Array:
    """Result unchanged, or a ValueError with the reason if a singular argument made it infinite."""
    if not np.all(np.isfinite(result)):
        raise ValueError(f"{name}: {reason}")
    return result


def columns(kernel: Callable[..., object], size: int, *arguments: Array) -> Array:
    """Matrix of the linear map y -> kernel(*arguments, y, out), shape (size, size)."""
    matrix = np.empty((size, size))
    for column, unit in zip(matrix, np.eye(size), strict=True):
        kernel(*arguments, unit, column)
    return np.ascontiguousarray(matrix.T)
