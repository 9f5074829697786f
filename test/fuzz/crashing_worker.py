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
