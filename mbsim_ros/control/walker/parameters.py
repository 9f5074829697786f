# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters of the walker's gait, on flat and on rough ground."""

from __future__ import annotations

from dataclasses import dataclass

from mbsim_ros.control.parameters import ValidatedParameters, parameter


@dataclass(frozen=True)
class WalkerGaitParameters(ValidatedParameters):
    """Of the gait; lengths in m, times in s, angles in rad."""

    depth: float = parameter(
        0.0, "Of the feet below the base, standing; 0: 10 mm less than with level femurs.", "m", lower=0.0, upper=2.0
    )
    sitting_depth: float = parameter(0.0, "The same, sitting; 0: 70 mm less than standing.", "m", lower=0.0, upper=2.0)
    lift: float = parameter(0.06, "Of the swinging feet.", "m", lower=0.01, upper=0.5)
    fast_lift: float = parameter(
        0.08, "The same at full speed, where they stroke before they are up.", "m", lower=0.01, upper=0.5
    )
    lift_compensation: float = parameter(
        0.0,
        "Share of what the standing legs give way under the weight that is added to the lift.",
        lower=0.0,
        upper=2.0,
    )
    step_time: float = parameter(0.8, "Duration of a step at ease.", "s", lower=0.3, upper=5.0)
    shortest_step_time: float = parameter(0.7, "Duration of a step at full speed.", "s", lower=0.3, upper=5.0)
    longest_step: float = parameter(0.35, "Length of a step at full speed.", "m", lower=0.01, upper=2.0)
    easy_step: float = parameter(0.2, "Length of a step up to which it takes its time.", "m", lower=0.01, upper=2.0)
    lifting: float = parameter(0.1875, "Share of a step for lifting, and for lowering.", lower=0.05, upper=0.4)
    overlap: float = parameter(0.4, "Share of lifting and lowering with stroke, at full speed.", lower=0.0, upper=0.6)
    waist_reach: float = parameter(
        0.1, "Of the waist, to either side; legs clear each other.", "rad", lower=0.0, upper=0.12
    )
    largest_acceleration: float = parameter(6.5, "Of a stroke that is changed.", "m/s²", lower=0.1, upper=50.0)
    rising_time: float = parameter(1.5, "To stand up or sit down.", "s", lower=0.2, upper=20.0)
    patience: float = parameter(0.3, "For feet to touch down before the next step.", "s", lower=0.0, upper=10.0)
    smallest_speed: float = parameter(1e-3, "Below which a velocity is none.", "m/s, rad/s", lower=0.0, upper=0.1)
    rough: bool = parameter(False, "Whether every leg is braked at its own touch-down, for ground that is not flat.")
    rough_lift: float = parameter(0.09, "Lift on rough ground.", "m", lower=0.01, upper=0.5)
    rough_step: float = parameter(0.24, "Longest step on rough ground.", "m", lower=0.01, upper=2.0)
    rough_step_time: float = parameter(
        1.2, "Duration of a step on rough ground, with lowering to the level.", "s", lower=0.3, upper=5.0
    )
    lowering_speed: float = parameter(0.12, "Of feet that feel for the ground.", "m/s", lower=0.01, upper=1.0)
    deepest: float = parameter(0.06, "How far below the level feet are lowered.", "m", lower=0.0, upper=0.1)
    touch_force: float = parameter(15.0, "Under a foot that has touched down.", "N", lower=1.0, upper=200.0)
    preload: float = parameter(
        0.004, "By which a frame pushes before the other is lifted, so that all its feet carry.", "m",
        lower=0.0, upper=0.02,
    )  # fmt: skip
    preload_time: float = parameter(0.15, "For that.", "s", lower=0.01, upper=2.0)
    levelling: float = parameter(1.0, "Share of a tilt that the next footholds take out.", lower=0.0, upper=1.0)
    largest_levelling: float = parameter(0.003, "Of a foot, in one step.", "m", lower=0.0, upper=0.01)
