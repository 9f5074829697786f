# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What tests with real nodes share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def fast_discovery(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes find each other in 50 ms instead of two seconds; the domain keeps tests apart.

    By UDP: tests kill nodes, and one that dies while it writes to shared memory can leave it locked for all others.
    """
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
