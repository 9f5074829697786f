# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Group maps straight from their definitions in 50-digit decimal arithmetic: slow, and independent of the package."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np

DIGITS = 50


def exactly(matrix):
    """Object array of the exact decimal values of floats."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(matrix, dtype=float))


def expm(matrix):
    """Matrix exponential: Taylor series of matrix / 2^8, squared eight times."""
    with localcontext(prec=DIGITS):
        small = exactly(matrix) / 256
        result = term = exactly(np.eye(len(small)))
        for k in range(1, 40):
            term = term @ small / k
            result = result + term
        for _ in range(8):
            result = result @ result
        return result


def cay(matrix):
    """Cayley map, K before (53): (I - x/2)^-1 (I + x/2)."""
    with localcontext(prec=DIGITS):
        half, one = exactly(matrix) / 2, exactly(np.eye(len(matrix)))
        return inverse(one - half) @ (one + half)


def dcay(matrix, direction):
    """K (53a): (I - x/2)^-1 y (I + x/2)^-1, as a matrix of the algebra."""
    with localcontext(prec=DIGITS):
        half, one = exactly(matrix) / 2, exactly(np.eye(len(matrix)))
        return inverse(one - half) @ exactly(direction) @ inverse(one + half)


def dexp(ad):
    """K (52a), summed to the end."""
    return power_series(ad, [Fraction(1, factorial(j + 1)) for j in range(90)])


def dexp_inv(ad):
    """K (52b), summed to the end; |w| must stay well below 2 pi."""
    return power_series(ad, bernoulli_series(130))


@cache
def bernoulli_series(count):
    """B_j / j! for j < count, with B_1 = -1/2."""
    bernoulli = [Fraction(1)]
    for n in range(1, count):
        bernoulli.append(-sum((comb(n + 1, k) * bernoulli[k] for k in range(n)), Fraction(0)) / (n + 1))
    return [b / factorial(j) for j, b in enumerate(bernoulli)]


def power_series(matrix, coefficients):
    """Sum of coefficient_j matrix^j."""
    with localcontext(prec=DIGITS):
        x = exactly(matrix)
        power, result = exactly(np.eye(len(x))), exactly(np.zeros((len(x), len(x))))
        for c in coefficients:
            result = result + power * (Decimal(c.numerator) / Decimal(c.denominator))
            power = power @ x
        return result


def inverse(matrix):
    """Gauss-Jordan elimination with row exchange."""
    n = len(matrix)
    work = np.concatenate([matrix, exactly(np.eye(n))], axis=1)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(work[i:, i].astype(float))))
        work[[i, pivot]] = work[[pivot, i]]
        work[i] = work[i] / work[i, i]
        for j in range(n):
            if j != i:
                work[j] = work[j] - work[i] * work[j, i]
    return work[:, n:]


def error(value, exact):
    """Largest absolute difference, formed before rounding."""
    with localcontext(prec=DIGITS):
        return float(np.max(np.abs(exactly(value) - exact)))
