# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Numbers side by side: a kernel that computes with `Lanes` does the same for the stages of a step all at once.

`Lanes` are LANES floating-point numbers, one for each stage, which a processor adds and multiplies in one instruction.
They behave like a number: sums, products and quotients of lanes, and of lanes and a number. What is written for numbers
(dynamics/placement.py, articulated.py) works on them as it stands. `lane_row(array, i)` is row i of an array (rows,
columns, LANES), of which `w[k]` are the lanes of column k, to read and to write; `spread_lane(x, 2)` has lane 2 of x in
all lanes.
"""

from __future__ import annotations

import operator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model

LANES = 4  # four doubles are a register of AVX2; the stages of order 8

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_ALIGNMENT = 8  # bytes: of numpy's arrays, not of a register


class LanesType(types.Type):
    """What numba knows of lanes."""

    def __init__(self) -> None:
        super().__init__("Lanes")


class LaneRowType(types.Type):
    """What numba knows of a row of lanes."""

    def __init__(self) -> None:
        super().__init__("LaneRow")


LANES_TYPE, LANE_ROW_TYPE = LanesType(), LaneRowType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _VECTOR)


@register_model(LaneRowType)
class _LaneRowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _DOUBLE.as_pointer())


def _spread(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """A number in every lane; lanes as they are."""
    if isinstance(kind, LanesType):
        return value
    number = context.cast(builder, value, kind, types.float64)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), places)


def _make_operator(operation: Any, instruction: str) -> None:
    class Typing(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            numbers = (LanesType, types.Float, types.Integer)
            if LANES_TYPE in arguments and all(isinstance(each, numbers) for each in arguments):
                return signature(LANES_TYPE, *arguments)
            return None

    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        left, right = (_spread(context, builder, *each) for each in zip(arguments, sig.args, strict=True))
        return getattr(builder, instruction)(left, right)

    infer_global(operation)(Typing)
    for other in (LanesType, types.Float, types.Integer):
        lower_builtin(operation, LanesType, other)(lower)
        if other is not LanesType:
            lower_builtin(operation, other, LanesType)(lower)


for _operation, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"),
):  # fmt: skip
    _make_operator(_operation, _instruction)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        return signature(LANES_TYPE, *arguments) if arguments == (LANES_TYPE,) else None


@lower_builtin(operator.neg, LanesType)
def _negative(_context: Any, builder: Any, _sig: Any, arguments: Any) -> Any:
    return builder.fsub(ir.Constant(_VECTOR, [-0.0] * LANES), arguments[0])


@infer_global(operator.getitem)
class _Reading(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        if isinstance(arguments[0], LaneRowType) and isinstance(arguments[1], types.Integer):
            return signature(LANES_TYPE, *arguments)
        return None


@infer_global(operator.setitem)
class _Writing(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        if isinstance(arguments[0], LaneRowType) and isinstance(arguments[1], types.Integer):
            return signature(types.none, *arguments)
        return None


def _place(context: Any, builder: Any, row: Any, index: Any, kind: Any) -> Any:
    column = context.cast(builder, index, kind, types.intp)
    first = builder.mul(column, context.get_constant(types.intp, LANES))
    return builder.bitcast(builder.gep(row, [first]), _VECTOR.as_pointer())


@lower_builtin(operator.getitem, LaneRowType, types.Integer)
def _read(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    place = _place(context, builder, arguments[0], arguments[1], sig.args[1])
    return builder.load(place, align=_ALIGNMENT)


@lower_builtin(operator.setitem, LaneRowType, types.Integer, types.Any)
def _write(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    place = _place(context, builder, arguments[0], arguments[1], sig.args[1])
    builder.store(_spread(context, builder, arguments[2], sig.args[2]), place, align=_ALIGNMENT)
    return context.get_dummy_value()


def _lane_row(_typing_context: Any, array: Any, index: Any) -> Any:
    """Row `index` of an array (rows, columns, LANES)."""
    if not (isinstance(array, types.Array) and array.ndim == 3 and array.layout == "C"):
        return None

    def codegen(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        given = context.make_array(sig.args[0])(context, builder, arguments[0])
        columns = cgutils.unpack_tuple(builder, given.shape, 3)[1]
        row = context.cast(builder, arguments[1], sig.args[1], types.intp)
        first = builder.mul(builder.mul(row, columns), context.get_constant(types.intp, LANES))
        return builder.gep(given.data, [first])

    return LANE_ROW_TYPE(array, index), codegen


def _spread_lane(_typing_context: Any, lanes: Any, lane: Any) -> Any:
    """One of the lanes in all of them; which one is written in the code."""
    if not (isinstance(lanes, LanesType) and isinstance(lane, types.IntegerLiteral)):
        return None

    def codegen(_context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [sig.args[1].literal_value] * LANES)
        return builder.shuffle_vector(arguments[0], ir.Constant(_VECTOR, ir.Undefined), places)

    return LANES_TYPE(lanes, lane), codegen


class _PlainRow:
    """The same where numba is turned off: what is read is a copy, as a number is."""

    def __init__(self, rows: np.ndarray):
        self._rows = rows

    def __getitem__(self, column: int) -> np.ndarray:
        return self._rows[column].copy()

    def __setitem__(self, column: int, value: Any) -> None:
        self._rows[column] = value


def _plain_lane_row(array: np.ndarray, index: int) -> _PlainRow:
    return _PlainRow(array[index])


def _plain_spread_lane(lanes: np.ndarray, lane: int) -> float:
    return float(lanes[lane])


_PLAIN = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
lane_row: Any = _plain_lane_row if _PLAIN else intrinsic(_lane_row)
spread_lane: Any = _plain_spread_lane if _PLAIN else intrinsic(prefer_literal=True)(_spread_lane)
