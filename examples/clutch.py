# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A clutch that closes while the walker strokes: momentum stays, the lost energy is booked."""

from mbsim_ros import Simulation
from mbsim_ros.control.walker.gait import WalkerGait

sim = Simulation("urdf/walker.urdf.xacro", coupling="normal")
gait = WalkerGait(sim.model)
gait.ask(forward=0.22)
sim.run(2.0, gait)
closing = sim.couple("hold")  # every brake at once, at full speed
print(f"lost in the brakes: {closing.loss:.3f} J")
sim.run(1.0)
print(f"booked: {sim.ledger().clutch_loss:.3f} J of {sim.ledger().turned_over:.1f} J turned over")
