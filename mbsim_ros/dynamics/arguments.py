# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Checks of what users pass in. They cost about a microsecond per call, so the common case takes no detour."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.jit import kernel
from mbsim_ros.model.model import Model

QUATERNION_TOLERANCE = 1e-5  # loose enough for poses that went through float32 messages


def vector(name: str, value: object, size: int) -> np.ndarray:
    """Value as a contiguous, writable float64 vector of this size (itself, if it is one already).

    Writable, because numba compiles a kernel anew for every kind of array. Whether it is finite is for `finite`.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (size,):
        flags = value.flags
        if flags.c_contiguous and flags.writeable:
            return value
    try:
        plain = np.asarray(value)
        if plain.dtype.kind not in "biuf" or isinstance(value, np.ma.MaskedArray):
            raise ValueError("no real numbers")
        result = np.array(plain, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: expected {size} numbers, got {value!r}") from None
    if result.shape != (size,):
        raise ValueError(f"{name}: expected shape ({size},), got {result.shape}")
    return result


def finite(name: str, value: np.ndarray) -> np.ndarray:
    """Value, if every entry is finite; otherwise a ValueError that names the first that is not."""
    if all_finite(value):
        return value
    bad = int(np.flatnonzero(~np.isfinite(value))[0])
    raise ValueError(f"{name}: expected finite numbers, got {name}[{bad}] = {value[bad]}")


def configuration(model: Model, q: ArrayLike, name: str = "q") -> np.ndarray:
    """Check q (nq,): size, finite, unit quaternions. Returns the coordinates of the tree."""
    return shaped_configuration(model, finite(name, vector(name, q, model.nq)), name)


def velocity(model: Model, v: ArrayLike, name: str = "v") -> np.ndarray:
    """Check a vector of nv entries (velocities or accelerations). Returns those of the tree."""
    return model.tree_v(finite(name, vector(name, v, model.nv)))


def shaped_configuration(model: Model, q: ArrayLike, name: str = "q") -> np.ndarray:
    """Check q (nq,) for size and unit quaternions; `finite_result` sees the rest: a NaN in q reaches every result."""
    q = vector(name, q, model.nq)
    for start in model.quaternions:
        i, j, k, r = q.item(start), q.item(start + 1), q.item(start + 2), q.item(start + 3)
        length = i * i + j * j + k * k + r * r
        if abs(length - 1.0) > 2.0 * QUATERNION_TOLERANCE:
            where = f"{name}[{start}:{start + 4}]"
            raise ValueError(f"{name}: expected a unit quaternion at {where}, got one of length {length**0.5:.6g}")
    return q if model.mimic is None else model.tree_q(q)


def shaped_velocity(model: Model, v: ArrayLike, name: str = "v") -> np.ndarray:
    """Check a vector of nv entries: size and finite. Returns that of the tree."""
    v = finite(name, vector(name, v, model.nv))
    return v if model.mimic is None else model.tree_v(v)


def finite_result(what: str, result: np.ndarray, **inputs: object) -> np.ndarray:
    """Result of any shape, if it is finite; otherwise a ValueError about the input that is not, or about overflow."""
    if all_finite(result.reshape(-1)):
        return result
    refuse_infinite(what, **inputs)
    return result


def refuse_infinite(what: str, **inputs: object) -> None:
    """Raise the ValueError for a computation that left the finite numbers: which input did, or all together."""
    for name, value in inputs.items():
        if value is not None:
            finite(name, np.array(value, dtype=np.float64).reshape(-1))
    raise ValueError(f"{what}: the numbers are too large for double precision")


def effort(model: Model, tau: ArrayLike, name: str = "tau") -> np.ndarray:
    """Check a vector of nv generalised forces."""
    return finite(name, vector(name, tau, model.nv))


def gravity_vector(gravity: ArrayLike) -> np.ndarray:
    """Check a gravity vector (3,)."""
    return finite("gravity", vector("gravity", gravity, 3))


def body_wrenches(model: Model, wrenches: Mapping[str, ArrayLike] | None) -> np.ndarray:
    """Wrenches by link name, each (f, τ) at the link's origin in its axes, as (bodies, 6) in the body frames."""
    if not wrenches:
        return NO_WRENCHES
    total = np.zeros((model.n_bodies, 6))
    for link, value in wrenches.items():
        frame = model.frame(link)
        wrench = finite(f"wrenches[{link!r}]", vector(f"wrenches[{link!r}]", value, 6))
        if frame.body >= 0:
            R, p = frame.X_BF[:3, :3], frame.X_BF[:3, 3]
            force = R @ wrench[:3]
            total[frame.body, :3] += force
            total[frame.body, 3:] += R @ wrench[3:] + np.cross(p, force)
    return total


@kernel
def all_finite(vector):
    """Is every entry finite? A kernel, because np.isfinite(…).all() costs three times as much for short vectors."""
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] * 0.0
    return total == 0.0


NO_WRENCHES = np.zeros((0, 6))
