# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker walking without ROS, and what is measured of it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.control.walker.legs import legs

ROOT = Path(__file__).parent.parent.parent
PERIOD = 0.002


@functools.cache
def walker():
    return load_urdf(ROOT / "urdf" / "walker.urdf.xacro")


def foot_forces(sim):
    return {report.link.removesuffix("_tibia"): float(report.force @ report.normal) for report in sim.contacts()}


@dataclass
class Walk:
    """A walk and its record: base (n, 3), roll, pitch, yaw (n, 3), targets of the five motors and rates (n, 10)."""

    sim: Simulation
    gait: WalkerGait
    t: np.ndarray
    base: np.ndarray
    angles: np.ndarray
    targets: np.ndarray
    clearance: list[float]  # [m] of the lowest swinging foot during its stroke

    def speed(self, begin, end):
        """Mean velocity ahead between two times [m/s]."""
        i, j = (np.searchsorted(self.t, time - 1e-9) for time in (begin, end))
        return (self.base[j, 0] - self.base[i, 0]) / (self.t[j] - self.t[i])


def walk(seconds, asked, *, start="home", parameters=None, every=None):
    """Walk with velocities [(time, forward, turn, rise), …] asked for; `every(t, sim, state)` is called each instant.

    What it returns, if anything, is what the gait sees of the robot.
    """
    sim = Simulation(walker(), coupling="normal")
    sim.reset(start)
    gait = WalkerGait(walker(), parameters)
    asked = sorted(asked)
    t, base, angles, targets, clearance = [], [], [], [], []

    def controller(sim):
        while asked and sim.seconds >= asked[0][0] - 1e-9:
            gait.ask(*asked.pop(0)[1:])
        state = sim.state()
        if every is not None:
            state = every(sim.seconds, sim, state) or state
        command = gait.update(sim.seconds, state)
        t.append(sim.seconds)
        base.append(state.q[:3])
        angles.append(roll_pitch_yaw(state.q))
        targets.append(np.concatenate(gait.targets()))
        if len(t) % 5 == 1:
            clearance.extend(swing_clearance(sim, gait))
        return command

    sim.run((round(seconds / PERIOD) + 1) * PERIOD, controller, control_period=PERIOD, progress=False)
    t, base, angles, targets = map(np.array, (t, base, angles, targets))
    angles[:, 2] = np.unwrap(angles[:, 2])
    return Walk(sim, gait, t, base, angles, targets, clearance)


def swing_clearance(sim, gait):
    """Height of the lowest foot of the swinging frame during its stroke."""
    step = gait.step
    if step is None:
        return []
    stroke = step.reach[step.swing]
    moved = (gait.gait_time - stroke.begin) / stroke.duration
    if not 0.0 <= moved <= 1.0 or stroke.is_still:
        return []
    gaps = {report.link: -report.penetration for report in sim.contacts()}
    return [min(gaps[f"{leg}_tibia"] for leg in legs(step.swing))]


def roll_pitch_yaw(q):
    x, y, z, w = q[3:7]
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, math.asin(2 * (w * y - z * x)), math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
