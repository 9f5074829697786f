# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Your own URDF: load it, look at it, let it hang for a second. Takes a path; without one, a double pendulum."""

import sys

from mbsim_ros import Simulation, load_urdf

robot = load_urdf(sys.argv[1] if len(sys.argv) > 1 else "urdf/double_pendulum.urdf")
print(robot)
sim = Simulation(robot)
sim.run(1.0)
print(f"after {sim.seconds:g} s: q = {sim.q.round(3).tolist()}")
print(sim.ledger())
