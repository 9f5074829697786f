# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A run of `mbsim soak --chaos`: processes of the walker are stopped and killed, its bags replay bit for bit."""

from __future__ import annotations

from mbsim_ros.nodes.checks.soak_chaos import chaos_run

SEED = 8  # kills the controller, the recorder and the clutch manager, and stops the controller


def test_every_bag_replays_bit_for_bit(tmp_path):
    result = chaos_run(SEED, tmp_path)
    assert result.problems == [], result
    assert result.bags >= 1 and result.missing == 0
    assert result.states > 20, "it was looked at"  # how many there are depends on how busy the machine is
    assert len(result.disturbances) >= 3
