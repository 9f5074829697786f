# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energy of a swinging double pendulum: the variational integrator beside RK4 and Lie-Euler, at a step of 10 ms."""

from mbsim_ros import Simulation

for integrator in ("lie_variational", "rk4", "lie_euler"):
    sim = Simulation("urdf/double_pendulum.urdf", dt=0.01, integrator=integrator, stops=False)
    sim.reset({"shoulder": 1.5, "elbow": 0.5})
    start = sim.energy().total
    worst = []
    for _ in range(10):
        run = sim.run(10.0, record=("energy",))
        worst.append(abs(run.energy[:, -1] - start).max())  # the last column is the total
    print(f"{integrator:16} largest error [J] per 10 s: " + " ".join(f"{error:.1e}" for error in worst))
