# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The scalar coefficients against their series in 50 digits, on both sides of the Taylor switch at theta = 1."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import factorial

import lie_oracle as oracle
import numpy as np
import pytest

from mbsim_ros.lie import _coefficients

# Coefficients of theta2^k. A slope (df/dtheta) / theta is twice the derivative by theta2.
B = [Fraction((-1) ** k, factorial(2 * k + 2)) for k in range(60)]
C = [Fraction((-1) ** k, factorial(2 * k + 3)) for k in range(60)]
D = [abs(b) for b in oracle.bernoulli_series(180)[2::2]]


def slope(series):
    return [2 * k * c for k, c in enumerate(series)][1:]


def relative_error(value, series, theta2):
    with localcontext(prec=oracle.DIGITS):
        x = Decimal(float(theta2))
        exact = sum(Decimal(c.numerator) / Decimal(c.denominator) * x**k for k, c in enumerate(series))
        return abs(float((Decimal(float(value)) - exact) / exact))


@pytest.mark.parametrize("theta2", [1e-300, 1e-24, 1e-6, 0.01, 0.25, 0.7, np.nextafter(1.0, 0.0)])
def test_series_are_exact_to_rounding(theta2):
    a, b, c = _coefficients.exp_coefficients.py_func(theta2)
    b_slope, c_slope = _coefficients.exp_slopes.py_func(theta2, a, b, c)
    d, d_slope = _coefficients.dexp_inv_coefficients.py_func(theta2)
    assert relative_error(b, B, theta2) < 2.5e-16
    assert relative_error(c, C, theta2) < 2.5e-16
    assert relative_error(b_slope, slope(B), theta2) < 2.5e-16
    assert relative_error(c_slope, slope(C), theta2) < 2.5e-16
    assert relative_error(d, D, theta2) < 3e-16
    assert relative_error(d_slope, slope(D), theta2) < 1.5e-15
    assert a == pytest.approx(np.sinc(np.sqrt(theta2) / np.pi), rel=3e-16)


@pytest.mark.parametrize("theta2", [1.0, 1.1, 2.0, 5.0, 9.8])
def test_closed_forms_lose_little(theta2):
    a, b, c = _coefficients.exp_coefficients.py_func(theta2)
    b_slope, c_slope = _coefficients.exp_slopes.py_func(theta2, a, b, c)
    d, d_slope = _coefficients.dexp_inv_coefficients.py_func(theta2)
    assert relative_error(b, B, theta2) < 1e-15
    assert relative_error(c, C, theta2) < 2e-15
    assert relative_error(b_slope, slope(B), theta2) < 1e-14
    assert relative_error(c_slope, slope(C), theta2) < 3e-14
    assert relative_error(d, D, theta2) < 4e-15
    assert relative_error(d_slope, slope(D), theta2) < 3e-13  # of 1/360: 1e-15 beside the leading 1
