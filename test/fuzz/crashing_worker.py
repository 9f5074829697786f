# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""In place of mbsim_ros.fuzz.worker: a process that crashes in one case and hangs in another."""

from __future__ import annotations

import json
import os
import sys

for number in range(*map(int, sys.argv[3:6])):
    print(number, flush=True)
    if number == 2:
        os._exit(7)
    while number == 5:
        pass
    if number == 6:
        print(json.dumps({"failed": 6, "text": "seen"}), flush=True)
print(json.dumps({"accepted": 1, "memory": [1, 1]}), flush=True)
