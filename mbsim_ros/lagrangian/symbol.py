# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A number that is not known yet, as an entry of NumPy's arrays.

CasADi's own symbols make matrices of CasADi out of arrays that they are multiplied with, in which `a @ b` is not what
it is in NumPy. This one stays an entry: an array does with it what it does with objects, by these operators and, for
`np.sin` and its like, by methods of the same names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

OPERATORS = ("add", "sub", "mul", "truediv", "pow")
COMPARISONS = ("lt", "le", "gt", "ge")
# NumPy's name → CasADi's
FUNCTIONS = {
    "__abs__": "fabs",
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log10": "log10", "sqrt": "sqrt", "fabs": "fabs",
    "arctan2": "atan2", "hypot": "hypot",
}  # fmt: skip


class Symbol:
    """Has a CasADi expression of one number as `value`. CasADi's functions take it, too, and give its own kind."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __SX__(self) -> Any:
        return self.value

    def __neg__(self) -> Symbol:
        return Symbol(-self.value)

    def __pos__(self) -> Symbol:
        return self

    def conjugate(self) -> Symbol:
        """Itself; norms along an axis ask for it."""
        return self

    def __bool__(self) -> bool:
        raise TypeError("it asks whether a value that is not known yet is true: use casadi.if_else, fmax, fmin or sign")

    def __float__(self) -> float:
        raise TypeError("it asks for the value of what is not known yet: use NumPy's functions, not those of math")

    def __repr__(self) -> str:
        return str(self.value)


def _operation(operate: Callable[[Any, Any], Any], *, reflected: bool = False) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy then asks for every entry
        operand = other.value if isinstance(other, Symbol) else other
        return Symbol(operate(operand, self.value) if reflected else operate(self.value, operand))

    return method


def _function(name: str) -> Callable[..., Symbol]:
    def method(self: Symbol, *others: Any) -> Symbol:
        import casadi

        return Symbol(getattr(casadi, name)(self.value, *others))

    return method


for _name in (*OPERATORS, *COMPARISONS):
    setattr(Symbol, f"__{_name}__", _operation(getattr(operator, _name)))
for _name in OPERATORS:
    setattr(Symbol, f"__r{_name}__", _operation(getattr(operator, _name), reflected=True))
for _name, _its_name in FUNCTIONS.items():
    setattr(Symbol, _name, _function(_its_name))
