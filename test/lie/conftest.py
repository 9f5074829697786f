# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Rotation vectors and twists every test of the group maps runs on: zero, near identity, uniform, both sides of the
Taylor switch, near pi."""

import numpy as np
import pytest

ANGLES = [0.0, 1e-12, 1e-7, 1e-3, 0.3, 1.0 - 1e-9, 1.0 + 1e-9, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-7, np.pi - 1e-9]


def _directions():
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(len(ANGLES), 3))
    axes[3] = (0.0, 0.0, -1.0)  # an axis of the frame, as joints have
    return axes / np.linalg.norm(axes, axis=1)[:, None], rng.normal(size=(len(ANGLES), 3))


AXES, LINEAR = _directions()


@pytest.fixture(params=range(len(ANGLES)), ids=[f"angle={a:.12g}" for a in ANGLES])
def w(request):
    """Rotation vector (3,)."""
    return ANGLES[request.param] * AXES[request.param]


@pytest.fixture(params=range(len(ANGLES)), ids=[f"angle={a:.12g}" for a in ANGLES])
def xi(request):
    """Twist (6,) with a linear part of order one, whatever the angle."""
    return np.concatenate([LINEAR[request.param], ANGLES[request.param] * AXES[request.param]])


@pytest.fixture
def rng():
    """Seeded random numbers."""
    return np.random.default_rng(20)
