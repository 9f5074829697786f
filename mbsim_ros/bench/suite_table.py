# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The suites there are."""

from __future__ import annotations

import importlib

from mbsim_ros.bench.result import Suite

# Suite → what it measures. Its module is mbsim_ros.bench.suites.<suite>, imported when it is used.
SUITES = {
    "dynamics": "inverse and forward dynamics, mass matrix, momenta and kinematics on robots and chains",
    "steps": "one step of the integrator: the walker standing, walking and free, chains, energy error at order 4",
    "scenes": "stacks and heaps of boxes that touch each other, falling and at rest",
    "growth": "how the time of a step grows with dofs, points that touch, and entities",
    "ensemble": "walkers by the thousand on one core and on all, beside mujoco.rollout; memory and growth with members",
    "energy": "fast robots of example-robot-data in free flight: does any make energy from nothing",
    "robots": "fifty robots of others on the floor, joints held: do they stand, come to rest, hold, and repeat",
    "schemes": "every scheme on every robot, launched by name: it runs and replays, or is refused as its row says",
    "ros": "lockstep rounds over DDS, the walker as it is launched, publishing of a state",
    "view": "what the web view costs its process while the walker walks",
    "start": "import, first calls from a warm cache, compilation from nothing",
}


def find(name: str) -> Suite:
    """The function `run(options, progress)` of a suite."""
    return importlib.import_module(f"mbsim_ros.bench.suites.{name}").run  # type: ignore[no-any-return]
