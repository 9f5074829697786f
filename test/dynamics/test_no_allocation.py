# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Kernels take all memory from outside: none is allocated in a call, and nothing is multiplied as a matrix."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]

from mbsim_ros import jit
from mbsim_ros.bench import loops, warm_up
from mbsim_ros.bench.works import WORKS, Setting
from mbsim_ros.model.assembly.builder import chain

# What a kernel may call beside other kernels: nothing here makes an array.
SCALAR_FUNCTIONS = {abs, bool, float, int, len, max, min, range, np.rint, np.floor, np.sqrt, np.isfinite}
SCALAR_FUNCTIONS |= {value for value in vars(math).values() if callable(value)}


def compiled_functions():
    """All kernels and helpers of the core, by name."""
    found = {}
    for module in warm_up.modules():
        for value in vars(module).values():
            if isinstance(value, CPUDispatcher):
                found[f"{value.py_func.__module__}.{value.__name__}"] = value
    return found


FUNCTIONS = compiled_functions()


def allocations():
    _nrt_python.memsys_enable_stats()
    return rtsys.get_allocation_stats().alloc


def test_there_are_kernels():
    assert len(FUNCTIONS) > 50
    assert {"mbsim_ros.dynamics.kernels.forward_kernel.forward_dynamics_into", "mbsim_ros.lie.so3.exp_so3_into"} < set(
        FUNCTIONS
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_without_a_runtime_to_allocate_with(name):
    assert FUNCTIONS[name].targetoptions["_nrt"] is False


def test_a_kernel_that_allocates_does_not_compile():
    def allocating(n):
        return np.zeros(n).sum()

    options = {**jit.OPTIONS, "cache": False}
    assert numba.njit(**{**options, "_nrt": True})(allocating)(3) == 0.0
    with pytest.raises(numba.TypingError, match="No implementation of function Function.*zeros"):
        numba.njit(**options)(allocating)(3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_source_makes_no_arrays(name):
    """No matrix product, no list or comprehension, no call but of scalar functions and other kernels."""
    function = FUNCTIONS[name].py_func
    known = {**vars(__import__("builtins")), **function.__globals__}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        assert not isinstance(node, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.GeneratorExp))
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            assert not isinstance(node.op, ast.MatMult)
        if isinstance(node, ast.Call):
            called = eval(ast.unparse(node.func), known)
            assert isinstance(called, CPUDispatcher) or called in SCALAR_FUNCTIONS, ast.unparse(node)


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_nothing_is_allocated_in_a_loop(work):
    contender = work.compiled(Setting(chain(5, base="floating")))
    contender.run(1)
    before = allocations()
    contender.run(100)
    assert allocations() == before


def test_the_count_would_see_an_allocation():
    @numba.njit
    def allocating(n):
        return np.zeros(n).sum()

    allocating(3)
    before = allocations()
    allocating(3)
    assert allocations() == before + 1


def test_loops_cover_the_linear_time_algorithms():
    assert len([name for name in vars(loops) if name.startswith("repeat_")]) == len(WORKS)
