"""Random states of a model, the same for the same seed."""

from __future__ import annotations

import numpy as np

from mbsim_ros.model.model import Model


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Any angles, positions within a metre, any orientations."""
    q = rng.uniform(-np.pi, np.pi, model.nq)
    lengths = [0, 1, 2] if model.is_floating else []
    for joint in model.joints:
        if joint.iq >= 0:
            lengths += {"prismatic": [joint.iq], "planar": [joint.iq, joint.iq + 1]}.get(joint.type, [])
            lengths += range(joint.iq, joint.iq + 3) if joint.type == "floating" else []
    q[lengths] = rng.uniform(-1.0, 1.0, len(lengths))
    for start in model.quaternions:
        quaternion = rng.normal(size=4)
        q[start : start + 4] = quaternion / np.linalg.norm(quaternion)
    return q


def random_velocity(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Velocities, accelerations or forces of about unit size."""
    return rng.normal(size=model.nv)
