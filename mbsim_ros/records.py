# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Many named tuples of arrays for one kernel: a table with a row of addresses and sizes for each.

A kernel takes a named tuple as so many arguments, so it cannot be given a list of them. It is given a table instead,
and a `RecordKind`, which says of what type all of them are and costs nothing to pass on: `record(kind, table[i])` is
the i-th in the kernel. The arrays stay where they are and belong to whoever made them, who keeps them alive while the
table is in use.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, typeof_impl, unbox
from numba.np import arrayobj


class RecordKind:
    """The type of the named tuples of a table, from one of them."""

    def __init__(self, like: Any):
        self.like = like
        self._numba_type_ = RecordKindType(numba.typeof(like))


class RecordKindType(types.Opaque):
    """What numba knows of it."""

    def __init__(self, record_type: Any):
        self.record_type = record_type
        super().__init__(f"RecordKind({record_type})")


register_model(RecordKindType)(models.OpaqueModel)


@typeof_impl.register(RecordKind)
def _typeof(value: RecordKind, _context: Any) -> Any:
    return value._numba_type_


@unbox(RecordKindType)
def _unbox(_kind: Any, _value: Any, context: Any) -> Any:
    return NativeValue(context.context.get_dummy_value())


def row_of(made: Any) -> list[int]:
    """The row of a named tuple, nested ones included: of an array its address and its shape, of a number itself."""
    row: list[int] = []
    for value in made:
        if isinstance(value, tuple):
            row += row_of(value)
        elif isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"a record takes arrays without gaps, got strides {value.strides}")
            row += [value.ctypes.data, *value.shape]
        elif value is not None:
            row.append(int(value))
    return row


def _load(context: Any, builder: Any, kind: Any, row: Any, at: list[int]) -> Any:
    """LLVM value of a type, read from the words of a row from at[0] on, which moves on."""

    def word() -> Any:
        address = builder.gep(row, [context.get_constant(types.intp, at[0])])
        at[0] += 1
        return builder.load(address)

    if isinstance(kind, types.NamedTuple):
        return context.make_tuple(builder, kind, [_load(context, builder, each, row, at) for each in kind.types])
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    if isinstance(kind, types.Boolean):
        return builder.icmp_signed("!=", word(), context.get_constant(types.intp, 0))
    if isinstance(kind, types.Integer):
        return context.cast(builder, word(), types.intp, kind)
    if not isinstance(kind, types.Array) or kind.layout != "C":
        raise NotImplementedError(f"a record of {kind}")
    array = context.make_array(kind)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    address = word()
    shape = [word() for _ in range(kind.ndim)]
    strides: list[Any] = []
    size = context.get_constant(types.intp, item)
    for length in reversed(shape):
        strides.insert(0, size)
        size = builder.mul(size, length)
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    item_size = context.get_constant(types.intp, item)
    arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=item_size, meminfo=None)
    return array._getvalue()


def _record(typing_context: Any, kind: Any, row: Any) -> Any:
    """The named tuple of this kind that a row of the table describes."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        return _load(context, builder, signature.return_type, words, [0])

    return kind.record_type(kind, row), codegen


def _plain_record(kind: Any, row: Any) -> Any:
    """The same where numba is turned off."""
    words = iter(int(word) for word in row)

    def load(value: Any) -> Any:
        if isinstance(value, tuple):
            return type(value)(*(load(each) for each in value))
        if isinstance(value, np.ndarray):
            address, shape = next(words), tuple(next(words) for _ in range(value.ndim))
            count = int(np.prod(shape))
            buffer: Any = (ctypes.c_byte * (count * value.itemsize)).from_address(address) if count else b""
            return np.frombuffer(buffer, dtype=value.dtype, count=count).reshape(shape)
        return None if value is None else type(value)(next(words))

    return load(kind.like)


record: Any = _plain_record if numba.config.DISABLE_JIT else intrinsic(_record)  # type: ignore[attr-defined]
