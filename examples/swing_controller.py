"""A controller of your own: every joint swings about where it was found. Works with and without ROS."""

from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import Checked, parameter


@dataclass(frozen=True)
class SwingParameters(Checked):
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
    from mbsim_ros.nodes.controller_node import run_controller

    raise SystemExit(run_controller("controller", Swing))
