# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A controller of your own: every joint swings about where it was found. Works with and without ROS."""

from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import ValidatedParameters, parameter


@dataclass(frozen=True)
class SwingParameters(ValidatedParameters):
    """Each becomes a ROS parameter."""

    amplitude: float = parameter(0.2, "How far the joints swing.", "rad, m", lower=0.0)
    frequency: float = parameter(0.5, "How often.", "Hz", lower=0.0)


class Swing:
    """Holds positions that swing, by the drives of the robot."""

    Parameters = SwingParameters

    def __init__(self, model, parameters=None):
        joints = driven_joints(model)
        self._names, self._at_q = tuple(j.name for j in joints), [j.iq for j in joints]
        self.configure(parameters or SwingParameters())
        self.reset()

    def configure(self, parameters):
        """Go on with other parameters."""
        self.parameters = parameters

    def reset(self):
        """The simulation starts again."""
        self._middle = None

    def update(self, t, state):
        """The command for the state at t [s]."""
        if self._middle is None:
            self._middle = state.q[self._at_q]
        way = self.parameters.amplitude * np.sin(2.0 * np.pi * self.parameters.frequency * t)
        return JointCommand(self._names, position=self._middle + way)


if __name__ == "__main__":
    from mbsim_ros.nodes.controllers.controller_node import run_controller

    raise SystemExit(run_controller("controller", Swing))
