# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A trot for Unitree's Go2, in thirty lines: with `Simulation.run`, or over ROS by controller:=python_file."""

import numpy as np

from mbsim_ros.control.command import JointCommand

LEGS = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}  # which part of the period a leg is ahead: diagonal ones together


class Trot:
    """Feet go to and fro under their hips; where the body is pushed to, they step further out (Raibert)."""

    PERIOD, LIFT, HEIGHT, SHANK = 0.4, 0.08, 0.30, 0.213  # s, m: thigh and shank are of one length
    CATCH, STRAIGHTEN = 0.15, 0.5  # m for each m/s too fast, m/s for each rad off course
    SPEED = 0.7  # m/s that is asked for; drives that give way leave about 0.5

    def update(self, t, state):
        """Joint positions at t [s], for the base's pose q[:7] and its velocity v[:3] in its own axes."""
        x, y, z, w = state.q[3:7]
        yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        begin = min(1.0, t)  # one second from standing to full strides
        angles = {}
        for leg, ahead in LEGS.items():
            phase = (t / self.PERIOD + ahead) % 1.0
            swings, way = phase < 0.5, 2.0 * phase % 1.0  # the first half in the air, the second on the ground
            turn = self.STRAIGHTEN * yaw if leg[1] == "L" else -self.STRAIGHTEN * yaw
            stride = begin * (self.SPEED + turn) * 0.5 * self.PERIOD
            # in the air to the front, with the ground's speed when it leaves and when it lands
            shift = way * (way * (6.0 - 4.0 * way) - 1.0) - 0.5 if swings else 0.5 - way
            forward = stride * shift + self.CATCH * (state.v[0] - begin * self.SPEED)
            left = self.CATCH * state.v[1]
            down = self.HEIGHT - (begin * self.LIFT * np.sin(np.pi * way) if swings else 0.0)
            reach = np.sqrt(forward**2 + left**2 + down**2)
            knee = -2.0 * np.arccos(min(1.0, 0.5 * reach / self.SHANK))
            angles[f"{leg}_hip_joint"] = np.arctan2(left, down)
            angles[f"{leg}_thigh_joint"] = -np.arctan2(forward, np.hypot(left, down)) - 0.5 * knee
            angles[f"{leg}_calf_joint"] = knee
        return JointCommand(tuple(angles), position=np.array(list(angles.values())))
