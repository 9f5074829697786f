# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Scalar coefficients of exp, dexp and dexp^-1, from theta2 = |w|^2, without cancellation at any angle.

Below theta = 1 each function is its Taylor series in theta2. The series of exp alternate with falling terms, so the
error is below the first term left out; those of dexp^-1 have positive terms with ratio under 1/39. Every bound below
is relative to the value at theta = 0 and holds for theta <= 1. Above theta = 1 the closed forms lose at most one digit.
"""

import math

from mbsim_ros.jit import helper


@helper
def exp_coefficients(theta2):
    """(a, b, c) = (sin t / t, (1 - cos t) / t^2, (t - sin t) / t^3) with t^2 = theta2."""
    if theta2 < 1.0:
        # b leaves out 2/20! = 9e-19, c leaves out 6/19! = 5e-17
        b = 1 / 2 - theta2 * (
            1 / 24
            - theta2
            * (
                1 / 720
                - theta2
                * (
                    1 / 40320
                    - theta2
                    * (
                        1 / 3628800
                        - theta2
                        * (
                            1 / 479001600
                            - theta2 * (1 / 87178291200 - theta2 * (1 / 20922789888000 - theta2 / 6402373705728000))
                        )
                    )
                )
            )
        )
        c = 1 / 6 - theta2 * (
            1 / 120
            - theta2
            * (
                1 / 5040
                - theta2
                * (
                    1 / 362880
                    - theta2
                    * (
                        1 / 39916800
                        - theta2 * (1 / 6227020800 - theta2 * (1 / 1307674368000 - theta2 / 355687428096000))
                    )
                )
            )
        )
        return 1.0 - theta2 * c, b, c
    theta = math.sqrt(theta2)
    s = math.sin(theta)
    return s / theta, (1.0 - math.cos(theta)) / theta2, (theta - s) / (theta2 * theta)


@helper
def exp_slopes(theta2, a, b, c):
    """(b', c') with b' = (db/dt) / t and c' = (dc/dt) / t, given a, b, c of exp_coefficients."""
    if theta2 < 1.0:
        # twice the derivatives of the series by theta2; b' leaves out 9e-17, c' 2e-17
        b_slope = -1 / 12 + theta2 * (
            1 / 180
            - theta2
            * (
                1 / 6720
                - theta2
                * (
                    1 / 453600
                    - theta2
                    * (
                        1 / 47900160
                        - theta2 * (1 / 7264857600 - theta2 * (1 / 1494484992000 - theta2 / 400148356608000))
                    )
                )
            )
        )
        c_slope = -1 / 60 + theta2 * (
            1 / 1260
            - theta2
            * (
                1 / 60480
                - theta2
                * (
                    1 / 4989600
                    - theta2
                    * (
                        1 / 622702080
                        - theta2 * (1 / 108972864000 - theta2 * (1 / 25406244864000 - theta2 / 7602818775552000))
                    )
                )
            )
        )
        return b_slope, c_slope
    return (a - 2.0 * b) / theta2, (b - 3.0 * c) / theta2


@helper
def dexp_inv_coefficients(theta2):
    """(d, d') with d = (1 - (t/2) cot(t/2)) / t^2 and d' = (dd/dt) / t; both grow without bound towards t = 2 pi."""
    if theta2 < 1.0:
        # K (52b): |B_2k| / (2k)!; d leaves out 7e-17, d' 2e-15 of its 1/360, which is 3e-18
        d = 1 / 12 + theta2 * (
            1 / 720
            + theta2
            * (
                1 / 30240
                + theta2
                * (
                    1 / 1209600
                    + theta2
                    * (
                        1 / 47900160
                        + theta2
                        * (
                            691 / 1307674368000
                            + theta2
                            * (
                                1 / 74724249600
                                + theta2
                                * (
                                    3617 / 10670622842880000
                                    + theta2 * (43867 / 5109094217170944000 + theta2 * (174611 / 802857662698291200000))
                                )
                            )
                        )
                    )
                )
            )
        )
        d_slope = 1 / 360 + theta2 * (
            1 / 7560
            + theta2
            * (
                1 / 201600
                + theta2
                * (
                    1 / 5987520
                    + theta2
                    * (
                        691 / 130767436800
                        + theta2
                        * (
                            1 / 6227020800
                            + theta2
                            * (
                                3617 / 762187345920000
                                + theta2
                                * (
                                    43867 / 319318388573184000
                                    + theta2
                                    * (174611 / 44603203483238400000 + theta2 * (77683 / 705055001969590272000))
                                )
                            )
                        )
                    )
                )
            )
        )
        return d, d_slope
    half = 0.5 * math.sqrt(theta2)
    s = math.sin(half)
    gamma = half * math.cos(half) / s
    return (1.0 - gamma) / theta2, (0.25 / (s * s) + (gamma - 2.0) / theta2) / theta2
