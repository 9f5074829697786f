# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The biped of W chapter 4 and other robots on legs, for the tests of the balance controller."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from mbsim_ros.control.balance.workspace_balance import WorkspaceBalance, WorkspaceBalanceParameters
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.world import World, load_world

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = json.loads((ROOT / "test/reference/wendlandt_biped.json").read_text())
W_TO_OURS = np.diag([-1.0, -1.0, 1.0, -1.0, -1.0, 1.0])  # W looks towards -X: half a turn about z
CONTROL_PERIOD = 0.002  # s: 500 Hz
MIDDLE = (-0.035, 0.0, 1.08)  # centre of pressure at the middle of the soles, in the posture of W
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
EXPERIMENT_1 = {"position": (0.01, 0.0, 1.10), "rpy": (np.deg2rad(15.0), 0.0, 0.0)}
EXPERIMENT_2 = {"position": (0.01, 0.0, 1.14), "rpy": (0.0, np.deg2rad(15.0), 0.0)}


@cache
def biped() -> Model:
    """The biped alone."""
    return load_urdf(ROOT / "urdf/biped.urdf.xacro")


@cache
def biped_and_block() -> World:
    """The biped and the block that is thrown at it."""
    return load_world(ROOT / "config/biped_and_block.world.yaml")


@cache
def centaur() -> Model:
    """A leaning body, off-centre, on three legs of seven, six and six joints, with an arm and a sliding hand on it."""
    builder = ModelBuilder("centaur").link("trunk", mass=20.0, com=(0.03, -0.02, 0.05), box=(0.5, 0.3, 0.2))
    axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0.6, 0.0, 0.8))
    for leg, x, y, joints in (("a", 0.25, 0.0, 7), ("b", -0.2, 0.15, 6), ("c", -0.2, -0.15, 6)):
        parent, z = "trunk", -0.1
        for k in range(joints):
            child = f"{leg}_{'foot' if k == joints - 1 else k}"
            builder.link(child, mass=0.5 + 0.1 * k, com=(0.01 * k, 0.0, -0.08), box=(0.08, 0.06, 0.16), collision=True)
            builder.joint(
                f"{leg}_j{k}", "revolute", parent, child, xyz=(x, y, z), axis=axes[k], lower=-3, upper=3, effort=500,
                velocity=9,
            )  # fmt: skip
            parent, x, y, z = child, 0.0, 0.0, (-0.2 if k in (2, 3) else -0.04)
    builder.link("arm", mass=1.5, com=(0.1, 0, 0), box=(0.2, 0.05, 0.05))
    builder.joint("shoulder", "revolute", "trunk", "arm", xyz=(0.2, 0, 0.1), axis=(0, 1, 0), lower=-3, upper=3,
                  effort=50, velocity=9)  # fmt: skip
    builder.link("hand", mass=0.4, box=(0.05, 0.05, 0.05))
    builder.joint("slide", "prismatic", "arm", "hand", xyz=(0.2, 0, 0), axis=(1, 0, 0), lower=-1, upper=1, effort=50,
                  velocity=9)  # fmt: skip
    return builder.build(base="floating")


def balance(model: Model, **parameters) -> WorkspaceBalance:
    return WorkspaceBalance(model, WorkspaceBalanceParameters(**parameters))


def standing(seconds: float = 1.5, **parameters) -> tuple[Simulation, WorkspaceBalance]:
    """The biped, gone to the middle of its soles and at rest there."""
    sim = Simulation(biped())
    sim.reset("standing")
    controller = balance(biped(), position=MIDDLE, rpy=(0.0, 0.0, 0.0), move_time=0.5, **parameters)
    sim.run(seconds, controller, control_period=CONTROL_PERIOD)
    return sim, controller


def turn_in_degrees(controller: WorkspaceBalance) -> float:
    error = controller.orientation_error
    return float(np.rad2deg(2.0 * np.arctan2(np.linalg.norm(error[1:]), error[0])))
