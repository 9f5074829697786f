# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A launch that is to record and cannot ends at once, and says why."""

from __future__ import annotations

import subprocess
import sys


def test_a_launch_that_cannot_record_ends(tmp_path, ros_domain):
    (tmp_path / "there").mkdir()
    arguments = ["record:=true", f"bag:={tmp_path / 'there'}", "view:=false"]
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "launch", "arm", *arguments], capture_output=True, text=True, timeout=100
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "record failed with code 2; it said last: record: " in said and "exists already" in said
