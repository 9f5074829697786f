# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What kernels promise to the kernels that call them: no allocation, in-place use, NaN in means NaN out."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]
from numpy.testing import assert_array_equal

from mbsim_ros.jit import kernel
from mbsim_ros.lie import quaternion, se3, so3

# Inputs and outputs by letter: q (4,) quaternion, w (3,) vector, x (6,) twist or wrench, R (3, 3) rotation, h scalar.
CASES = {
    quaternion: {
        "multiply_quaternion": "qq q", "matrix_from_quaternion": "q R", "quaternion_from_matrix": "R q",
        "integrate_quaternion": "qwh q",
    },
    so3: {
        "exp_so3": "w R", "log_so3": "R w", "cay_so3": "w R", "cay_inv_so3": "R w", "half_cay_so3": "w w",
        "dexp_so3": "ww w", "dexp_inv_so3": "ww w", "dcay_so3": "ww w", "dcay_inv_so3": "ww w",
    },
    se3: {
        "compose_se3": "RwRw Rw", "inverse_se3": "Rw Rw", "exp_se3": "x Rw", "log_se3": "Rw x", "cay_se3": "x Rw",
        "cay_inv_se3": "Rw x", "half_cay_se3": "x x", "Ad_se3": "Rwx x", "Ad_inv_se3": "Rwx x", "coAd_se3": "Rwx x",
        "coAd_inv_se3": "Rwx x", "ad_se3": "xx x", "ad_T_se3": "xx x", "dexp_se3": "xx x", "dexp_inv_se3": "xx x",
        "dexp_T_se3": "xx x", "dexp_inv_T_se3": "xx x", "dcay_se3": "xx x", "dcay_inv_se3": "xx x",
        "dcay_T_se3": "xx x", "dcay_inv_T_se3": "xx x",
    },
}  # fmt: skip
KERNELS = [
    pytest.param(getattr(module, f"{name}_into"), *letters.split(), id=name)
    for module, names in CASES.items()
    for name, letters in names.items()
]
SHAPES = {"q": (4,), "w": (3,), "x": (6,), "R": (3, 3)}


def argument(letter, rng):
    if letter == "h":
        return 0.3
    return so3.exp(rng.normal(size=3)) if letter == "R" else rng.normal(size=SHAPES[letter])


def outputs(letters):
    return [np.zeros(SHAPES[letter]) for letter in letters]


def test_the_table_names_every_public_kernel():
    for module, names in CASES.items():
        kind = module.__name__.rpartition(".")[2]
        assert set(names) == {n.removesuffix("_into") for n in dir(module) if kind in n and n.endswith("_into")}


@pytest.mark.parametrize("into, given, written", KERNELS)
def test_nan_in_any_component_reaches_the_output(into, given, written, rng):
    for position in range(len(given)):
        if given[position] == "h":
            continue
        for index in np.ndindex(SHAPES[given[position]]):
            inputs, out = [argument(letter, rng) for letter in given], outputs(written)
            inputs[position][index] = np.nan
            into(*inputs, *out)
            assert any(np.isnan(array).any() for array in out)


@pytest.mark.parametrize("into, given, written", KERNELS)
def test_a_vector_output_may_be_any_input_of_its_size(into, given, written, rng):
    for position in range(len(given)):
        if given[position] != written:  # never so where a matrix is written
            continue
        inputs, (expected,) = [argument(letter, rng) for letter in given], outputs(written)
        into(*inputs, expected)
        into(*inputs, inputs[position])
        assert_array_equal(inputs[position], expected)


def test_singular_arguments_do_not_raise():
    w, xi = np.empty(3), np.empty(6)
    half_turn = np.diag([1.0, -1.0, -1.0])
    so3.cay_inv_so3_into(half_turn, w)
    se3.cay_inv_se3_into(half_turn, np.ones(3), xi)
    assert not np.isfinite(w).all() and not np.isfinite(xi).all()


def test_a_kernel_that_allocates_does_not_compile():
    def allocating(w, out):
        copy = np.empty(3)
        copy[0] = w[0]
        out[0] = copy[0]

    with pytest.raises(numba.TypingError, match="empty"):
        kernel(allocating)(np.zeros(3), np.zeros(3))


def test_a_thousand_calls_from_a_kernel_allocate_nothing():
    arrays = (np.ones(4), np.ones(3), np.full(6, 0.1), np.eye(3), np.empty(4), np.empty((3, 3)), np.empty(12))
    loop_over_kernels(1, *arrays)
    allocating_loop(1)
    _nrt_python.memsys_enable_stats()
    try:
        allocations = [
            allocated_by(lambda: loop_over_kernels(1, *arrays)),  # the array arguments themselves are counted
            allocated_by(lambda: loop_over_kernels(1000, *arrays)),
        ]
        assert allocated_by(lambda: allocating_loop(10)) >= 10  # the counter counts
    finally:
        _nrt_python.memsys_disable_stats()
    assert allocations[0] == allocations[1]


def allocated_by(call):
    before = rtsys.get_allocation_stats()
    call()
    return rtsys.get_allocation_stats().alloc - before.alloc


@numba.njit
def allocating_loop(n):
    total = 0.0
    for i in range(n):
        total += np.ones(i + 1).sum()
    return total


@numba.njit
def loop_over_kernels(n, q, w, xi, R, q_out, R_out, out):
    """Calls every kernel n times, with slices as kernels pass them."""
    w3, x6, p = out[0:3], out[3:9], out[9:12]
    for _ in range(n):
        quaternion.multiply_quaternion_into(q, q, q_out)
        quaternion.matrix_from_quaternion_into(q, R_out)
        quaternion.quaternion_from_matrix_into(R, q_out)
        quaternion.integrate_quaternion_into(q, w, 0.1, q_out)
        so3.exp_so3_into(xi[3:6], R_out)
        so3.log_so3_into(R, w3)
        so3.cay_so3_into(w, R_out)
        so3.cay_inv_so3_into(R, w3)
        so3.half_cay_so3_into(w, w3)
        so3.dexp_so3_into(w, xi[0:3], w3)
        so3.dexp_inv_so3_into(w, w, w3)
        so3.dcay_so3_into(w, w, w3)
        so3.dcay_inv_so3_into(w, w, w3)
        se3.compose_se3_into(R, w, R, w, R_out, p)
        se3.inverse_se3_into(R, w, R_out, p)
        se3.exp_se3_into(xi, R_out, p)
        se3.log_se3_into(R, w, x6)
        se3.cay_se3_into(xi, R_out, p)
        se3.cay_inv_se3_into(R, w, x6)
        se3.half_cay_se3_into(xi, x6)
        se3.Ad_se3_into(R, w, xi, x6)
        se3.Ad_inv_se3_into(R, w, xi, x6)
        se3.coAd_se3_into(R, w, xi, x6)
        se3.coAd_inv_se3_into(R, w, xi, x6)
        se3.ad_se3_into(xi, xi, x6)
        se3.ad_T_se3_into(xi, xi, x6)
        se3.dexp_se3_into(xi, xi, x6)
        se3.dexp_inv_se3_into(xi, xi, x6)
        se3.dexp_T_se3_into(xi, xi, x6)
        se3.dexp_inv_T_se3_into(xi, xi, x6)
        se3.dcay_se3_into(xi, xi, x6)
        se3.dcay_inv_se3_into(xi, xi, x6)
        se3.dcay_T_se3_into(xi, xi, x6)
        se3.dcay_inv_T_se3_into(xi, xi, x6)
    return out.sum()
