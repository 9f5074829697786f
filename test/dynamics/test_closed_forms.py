# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots whose equations of motion fit on a line. (The double pendulum of rods is in test_inverse_and_forward.py.)"""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.dynamics import energy, forward_dynamics, inverse_dynamics, mass_matrix
from mbsim_ros.model.assembly.builder import ModelBuilder

G = 9.81


def point_mass_pendulum(links, lengths, masses):
    """Planar pendulum of point masses on massless rods; relative angles about y, zero hangs down."""
    builder = ModelBuilder("pendulum").link("world")
    before = ("world", 0.0)
    for number, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        name = f"bob_{number}"
        builder.link(name, mass=mass, com=(0, 0, -length), inertia=(0, 0, 0))
        builder.joint(f"joint_{number}", "continuous", before[0], name, xyz=(0, 0, -before[1]), axis=(0, 1, 0))
        before = (name, length)
    assert number + 1 == links
    return builder.build()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("angle", [0.0, 0.3, -1.9, 3.0])
def test_pendulum(angle):
    """m l² θ'' = τ − m g l sin θ."""
    mass, length, tau = 1.7, 0.6, 0.4
    model = point_mass_pendulum(1, [length], [mass])
    expected = (tau - mass * G * length * np.sin(angle)) / (mass * length**2)
    np.testing.assert_allclose(forward_dynamics(model, [angle], [2.0], [tau]), [expected], rtol=1e-12, atol=1e-12)
    found = energy(model, [angle], [2.0])
    np.testing.assert_allclose(found.kinetic, 0.5 * mass * length**2 * 4.0, rtol=1e-12)
    np.testing.assert_allclose(found.potential, -mass * G * length * np.cos(angle), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(5))
def test_double_pendulum(seed):
    """Point masses m1, m2 on rods l1, l2, in the absolute angles φ1 = q1, φ2 = q1 + q2 of the textbooks."""
    rng = np.random.default_rng(seed)
    (m1, m2), (l1, l2) = rng.uniform(0.5, 2.0, (2, 2))
    model = point_mass_pendulum(2, [l1, l2], [m1, m2])
    q, v, a = rng.normal(size=(3, 2))
    (f1, f2), (w1, w2), (b1, b2) = (np.cumsum(x) for x in (q, v, a))
    c, s = np.cos(f1 - f2), np.sin(f1 - f2)
    on_first = (m1 + m2) * l1**2 * b1 + m2 * l1 * l2 * (b2 * c + w2**2 * s) + (m1 + m2) * G * l1 * np.sin(f1)
    on_second = m2 * l2**2 * b2 + m2 * l1 * l2 * (b1 * c - w1**2 * s) + m2 * G * l2 * np.sin(f2)
    tau = np.array([on_first + on_second, on_second])  # the force on q2 is that on φ2; q1 moves both
    np.testing.assert_allclose(inverse_dynamics(model, q, v, a), tau, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(forward_dynamics(model, q, v, tau), a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_free_rigid_body(seed):
    """Newton m (v' + ω × v) = f + m Rᵀg and Euler I ω' + ω × I ω = τ, with the centre of mass at the origin."""
    rng = np.random.default_rng(seed)
    mass, moments = 2.5, np.array([0.3, 0.4, 0.6])
    model = ModelBuilder("body").link("body", mass=mass, inertia=moments.tolist()).build("floating")
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    x, y, z, w = quaternion
    down = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])  # Rᵀ z
    q = np.concatenate([rng.normal(size=3), quaternion])
    v, force = rng.normal(size=(2, 6))
    linear = force[:3] / mass - G * down - np.cross(v[3:], v[:3])
    angular = (force[3:] - np.cross(v[3:], moments * v[3:])) / moments
    np.testing.assert_allclose(forward_dynamics(model, q, v, force), [*linear, *angular], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(mass_matrix(model, q), np.diag([mass] * 3 + moments.tolist()), atol=1e-14)
