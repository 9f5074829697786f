# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Two real nodes, two processes, real DDS: do messages go there and back, and how fast?"""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path

from mbsim_ros.cli.parts.machine_checks import Check
from mbsim_ros.launcher.discovery import discovery
from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.launcher.output import Screen
from mbsim_ros.launcher.plan import find_launch_file, plan_launch
from mbsim_ros.launcher.runner import run


def check_round_trips(round_trips: int) -> list[Check]:
    """Launch the two nodes and read what they found."""
    with tempfile.TemporaryDirectory(prefix="mbsim_doctor_") as folder:
        result = Path(folder) / "result.json"
        log = io.StringIO()
        arguments = {
            "result": str(result),
            "round_trips": str(round_trips),
            "namespace": f"doctor_{os.getpid()}",  # two doctors at once do not hear each other
        }
        try:
            plan = plan_launch(find_launch_file("doctor"), arguments)
        except LaunchError as error:
            return [Check("two nodes", str(error), "missing")]
        code = run(plan, Screen(log))
        if code != 0 or not result.is_file():
            print(log.getvalue())
            return [Check("two nodes", f"exit code {code}", "missing", "see what the nodes said, above")]
        found = json.loads(result.read_text())
    return [
        Check("rclpy", found["rclpy"]),
        Check("RMW", found["rmw"]),
        Check("DDS", f"domain {found['domain']}, {discovery(os.environ).reach}"),
        Check("two nodes", f"{found['round_trips']} JointStates there and back, {found['per_second']:.0f}/s"),
    ]
