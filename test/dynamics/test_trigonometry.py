# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Sines and cosines of all angles at once: as good as the library's."""

import numpy as np
import pytest

from mbsim_ros.dynamics.trigonometry import LARGEST_REDUCED, cosines_and_sines
from mbsim_ros.jit import kernel


@kernel
def both_into(q, cosines, sines):
    cosines_and_sines(q, cosines, sines)


def both(q):
    cosines, sines = np.empty_like(q), np.empty_like(q)
    both_into(q, cosines, sines)
    return cosines, sines


@pytest.mark.parametrize("size", [1e-12, 1.0, 10.0, 1e3, LARGEST_REDUCED * 0.999, 1e8, 1e15])
def test_against_the_library(size):
    q = np.random.default_rng(1).uniform(-size, size, 20001)
    cosines, sines = both(q)
    tolerance = 2.3e-16 if size < 1e4 else 4e-16
    assert np.abs(cosines - np.cos(q)).max() <= tolerance
    assert np.abs(sines - np.sin(q)).max() <= tolerance


def test_around_multiples_of_the_right_angle():
    k = np.arange(-2000, 2001)
    q = np.concatenate([k * (np.pi / 2) + d for d in (0.0, 1e-9, -1e-9, np.pi / 4, 1e-300)])
    cosines, sines = both(q)
    assert np.abs(cosines - np.cos(q)).max() <= 2.3e-16
    assert np.abs(sines - np.sin(q)).max() <= 2.3e-16


def test_small_angles_keep_their_relative_accuracy():
    q = 10.0 ** np.arange(-300.0, -3.0)
    _, sines = both(q)
    assert np.abs(sines / np.sin(q) - 1.0).max() <= 2.3e-16
    assert both(np.zeros(3))[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_not_a_number(bad):
    cosines, sines = both(np.array([0.5, bad, 1.0]))
    assert np.isnan([cosines[1], sines[1]]).all()
    assert np.isfinite([cosines[0], sines[2]]).all()
