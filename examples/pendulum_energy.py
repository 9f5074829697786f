# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energy of a double pendulum that swings for twenty minutes at a rough step: the variational integrator beside RK4.

The error of the variational scheme is large for its order, and stays what it is; that of RK4 grows for ever; explicit
Lie-Euler gains energy until nothing is left of the motion. With a file name as argument it draws the figure.
"""

import sys
import warnings

import numpy as np

from mbsim_ros import Simulation, SimulationDiverged
from mbsim_ros.experiments.figures import label, panels
from mbsim_ros.sim.resolution import ResolutionWarning

STEP, MINUTES = 0.06, 20
SWING = {"shoulder": 0.5, "elbow": 0.3}
warnings.simplefilter("ignore", ResolutionWarning)  # it is right: the step is rough on purpose

figure, ((axis,),) = panels(1, title="A double pendulum, step of 60 ms")
for integrator in ("lie_variational", "rk4", "lie_euler"):
    sim = Simulation("urdf/double_pendulum.urdf", dt=STEP, integrator=integrator, stops=False)
    sim.reset({"shoulder": 0.0, "elbow": 0.0})
    rest = sim.energy().total
    sim.reset(SWING)
    start = sim.energy().total
    try:
        run = sim.run(60.0 * MINUTES, record=("energy",))
        ended = ""
    except SimulationDiverged as error:
        run, ended = error.recording, f", gone after {sim.seconds:.0f} s"
    percent = 100.0 * (run.energy[:, -1] - start) / (start - rest)  # the last column is the total
    worst = [abs(part).max() for part in np.array_split(percent, 4)] if not ended else [abs(percent).max()]
    quarters = " ".join(f"{error:.3g}" for error in worst)
    print(f"{integrator:16} largest error [% of the swing], quarter by quarter: {quarters}{ended}")
    axis.plot(run.seconds / 60.0, percent, label=integrator, linewidth=0.8)
axis.set_ylim(-5.0, 3.0)
label(axis, "time [min]", "error of the energy [% of the swing]", loc="lower left")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1])
