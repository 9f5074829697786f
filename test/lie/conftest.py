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
