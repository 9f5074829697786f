# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The physics node with W's integrator: commanded in lockstep, it moves as with the flagship."""

from __future__ import annotations

import numpy as np
from physics_process import ROOT, Client, start_node, stop

ARM = f"robot_file:={ROOT}/urdf/arm.urdf.xacro"
TARGET = [0.2, 0.5, 1.0, 0.2, 0.1, 0.3]


def run(integrator):
    """Position and velocity after 60 rounds of 2 ms."""
    process = start_node("physics", ARM, "sync:=lockstep", "real_time_factor:=0.0", f"integrator:={integrator}")
    client = Client()
    try:
        last = client.lockstep(60, position=TARGET)[-1]
    finally:
        written = stop(process)
        client.close()
    assert "Traceback" not in written
    return np.array(last.position), np.array(last.velocity)


def test_an_arm_is_commanded_as_with_the_flagship():
    position, velocity = run("lie_variational")
    ours, speeds = run("quaternion_variational")
    assert np.abs(position).max() > 0.02
    np.testing.assert_allclose(ours, position, atol=2e-3)
    np.testing.assert_allclose(speeds, velocity, atol=5e-2)
