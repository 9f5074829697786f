# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Functions of the user as expressions: each is called once, with symbols, and CasADi knows all of its derivatives.

The symbols come in NumPy arrays of objects, so that functions are written with NumPy as for numbers: `v @ M @ v`,
`np.sin(q[0])`, `np.cross(a, b)`, `np.linalg.norm(q[3:] - q[:3])`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from mbsim_ros.lagrangian.symbol import Symbol

Symbols = Any  # casadi.SX, which has no types
Traced = Callable[..., Any]  # what a user gives


def casadi_module() -> ModuleType:
    """CasADi, which is an extra, or what to do to have it."""
    try:
        import casadi
    except ImportError:
        install = f"{sys.executable} -m pip install casadi"
        raise ImportError(f"derivatives of a Lagrangian are by CasADi, which is not installed: {install}") from None
    return casadi  # type: ignore[no-any-return]


def symbols(name: str, size: int) -> Symbols:
    """A column of symbols."""
    return casadi_module().SX.sym(name, size)


def as_array(column: Symbols) -> np.ndarray:
    """A column of symbols as a user's function takes it."""
    return _objects([Symbol(column[k]) for k in range(column.numel())], (column.numel(),))


def scalar_of(name: str, function: Traced, *arguments: Any) -> Symbols:
    """The expression of a function that gives one number."""
    entries = _entries(name, function, arguments)
    if entries.size != 1:
        raise ValueError(f"{name}: expected one number, got an array of shape {entries.shape}")
    return _column(name, entries)


def vector_of(name: str, function: Traced, *arguments: Any, size: int | None = None) -> Symbols:
    """The expression of a function that gives a vector, of this size if that is said; one number is a vector, too."""
    entries = _entries(name, function, arguments)
    if entries.ndim > 1:
        raise ValueError(f"{name}: expected a vector, got an array of shape {entries.shape}")
    if size is not None and entries.shape != (size,):
        raise ValueError(f"{name}: expected {size} numbers, one a coordinate, got shape {entries.shape}")
    return _column(name, entries)


def _entries(name: str, function: Traced, arguments: Sequence[Any]) -> np.ndarray:
    """What the function answers to arrays of symbols, as an array of objects."""
    if not callable(function):
        raise ValueError(f"{name}: expected a function, got {function!r}")
    try:
        result = function(*arguments)
    except Exception as error:
        raise ValueError(f"{name}: fails when it is called with symbols instead of numbers: {error}") from error
    if isinstance(result, casadi_module().SX):
        flat = [result[k] for k in range(result.numel())]
        return _objects(flat, () if result.numel() == 1 else result.shape if result.shape[1] > 1 else (len(flat),))
    try:
        return np.asarray(result, dtype=object)
    except ValueError:
        raise ValueError(f"{name}: expected numbers, got {result!r}") from None


def _objects(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects; NumPy would look into them if it were given the list."""
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found.reshape(shape)


def _column(name: str, entries: np.ndarray) -> Symbols:
    casadi = casadi_module()
    try:
        return casadi.vertcat(
            *(each.value if isinstance(each, Symbol) else casadi.SX(each) for each in entries.ravel())
        )
    except NotImplementedError:  # how CasADi says that an argument is of the wrong type
        raise ValueError(f"{name}: expected numbers, got {entries.ravel().tolist()!r}") from None
