# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim soak --fuzz --only messages` in its short form."""

from __future__ import annotations

from mbsim_ros.fuzz.runner import fuzz

CASES = 60  # a complete run has 5,000


def test_nodes_do_not_mind_hostile_messages():
    found = fuzz("messages", 4, range(CASES), 1)
    assert not found.failures, found.failures
    assert found.accepted > 10  # services that answered
    assert found.memory[0][0] > 1 << 28  # three nodes
