# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The executables of the package, as `ros2 run` and launch files name them, and the modules that they run."""

from __future__ import annotations

MODULES = {
    "balance_controller": "nodes.controllers.balance_controller",
    "bench_probe": "nodes.checks.bench_probe",
    "clutch_manager": "nodes.controllers.clutch_manager",
    "computed_torque": "nodes.controllers.computed_torque",
    "doctor_echo": "nodes.checks.doctor_echo",
    "doctor_probe": "nodes.checks.doctor_probe",
    "drive_replay": "nodes.drive.replay",
    "drive_teleop": "nodes.drive.teleop",
    "fuzz_messages": "nodes.checks.fuzz_messages",
    "joint_hold": "nodes.controllers.joint_hold",
    "joint_trajectory_controller": "nodes.controllers.joint_trajectory_controller",
    "physics": "nodes.physics.node",
    "python_file": "nodes.controllers.python_file",
    "record": "nodes.recording.node",
    "rviz": "nodes.viewer.rviz",
    "soak": "nodes.checks.soak",
    "soak_chaos": "nodes.checks.soak_chaos",
    "soak_many": "nodes.checks.soak_many",
    "soak_spawn": "nodes.checks.soak_spawn",
    "soak_walk": "nodes.checks.soak_walk",
    "viewer": "nodes.viewer.node",
    "viscoelastic_controller": "nodes.controllers.viscoelastic_controller",
    "walker_controller": "nodes.controllers.walker_controller",
}


def module_of(executable: str) -> str:
    """The module that an executable runs."""
    return f"mbsim_ros.{MODULES[executable]}"
