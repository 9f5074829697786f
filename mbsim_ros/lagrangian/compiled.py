# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Expressions as functions that read and write arrays of ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbsim_ros.lagrangian.expressions import Symbols, casadi_module


class Compiled:
    """A vector (k,), and if there is one a matrix (k, l), of columns of symbols.

    Arrays `inputs` are filled, then `evaluate` fills `outputs`: CasADi's own call copies every argument, these buffers
    cost a tenth of it.
    """

    def __init__(self, name: str, inputs: Sequence[Symbols], vector: Symbols, matrix: Symbols | None = None):
        casadi = casadi_module()
        results = [vector] if matrix is None else [vector, matrix]
        shapes: list[tuple[int, ...]] = [(vector.numel(),), *(each.shape for each in results[1:])]
        self._function = casadi.Function(name, list(inputs), [casadi.densify(each) for each in results])
        self._buffer, self._evaluate = self._function.buffer()
        self.inputs = [np.zeros(each.numel()) for each in inputs]
        flat = [np.zeros(each.numel()) for each in results]
        self.outputs = [each.reshape(shape, order="F") for each, shape in zip(flat, shapes, strict=True)]
        for k, array in enumerate(self.inputs):
            self._buffer.set_arg(k, array.data)
        for k, array in enumerate(flat):
            self._buffer.set_res(k, array.data)

    def evaluate(self) -> list[np.ndarray]:
        """The outputs of the inputs as they are; the next evaluation overwrites them."""
        self._evaluate()
        return self.outputs

    def __call__(self, *values: np.ndarray | float) -> list[np.ndarray]:
        """The outputs of these values."""
        for array, value in zip(self.inputs, values, strict=True):
            array[:] = value
        return self.evaluate()

    def rows(self, *values: np.ndarray) -> list[np.ndarray]:
        """The outputs of every row of the values: (rows, k), (rows, k, l)."""
        count = len(values[0])
        found = self._function.call([np.ascontiguousarray(each.reshape(count, -1).T) for each in values])
        sizes = ((len(each), count, -1) for each in self.outputs)  # CasADi puts them side by side
        return [
            np.asarray(each).reshape(size).swapaxes(0, 1).reshape((count, *ours.shape))
            for each, size, ours in zip(found, sizes, self.outputs, strict=True)
        ]
