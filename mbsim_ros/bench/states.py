# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

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
