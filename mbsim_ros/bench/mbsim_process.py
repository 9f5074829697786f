# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A verb of mbsim in a process of its own, as users call it."""

from __future__ import annotations

import os
import subprocess
import sys

from mbsim_ros.launcher.discovery import discovery

PATIENCE = 300.0  # s for a launch, start and all
DOMAIN = 97  # of nodes that are launched to be measured


def run_mbsim(*words: str, domain: int | None = None) -> subprocess.CompletedProcess[str]:
    """`mbsim WORDS`, with what it wrote; nodes meet in this ROS domain, or in the user's, or else in DOMAIN."""
    chosen = os.environ.get("ROS_DOMAIN_ID", str(DOMAIN)) if domain is None else str(domain)
    return subprocess.run(
        [sys.executable, "-m", "mbsim_ros", *words],
        env=discovery({**os.environ, "ROS_DOMAIN_ID": chosen}).environment,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
