# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The controller of the tutorial docs/own_controller.md: the dog goes down and up, its feet stay where they are."""

from math import pi, sin

from mbsim_ros.control.command import JointCommand


class Crouch:
    """Bends hips and knees of all legs by the same angle."""

    def __init__(self, model):
        self.names = model.joint_names  # hip and knee, leg by leg

    def update(self, t, state):
        """The command for the state at t [s]."""
        bend = 0.6 + 0.25 * sin(pi * t)
        return JointCommand(self.names, position=[bend, -2.0 * bend] * 4)
