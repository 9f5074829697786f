# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Ends the nodes of a launcher that died without ending them itself (``kill -9``).

Runs as a process of its own with only the standard library. Nodes announce their process group on its
standard input (``+pid``), the launcher signs them off (``-pid``). When the pipe closes, the launcher is
gone: what is still announced gets SIGINT, and SIGKILL after a grace period. The first argument is the
launcher's folder of temporary files, removed at the end.
"""

import os
import shutil
import signal
import sys
import time

GRACE_SECONDS = 3.0


def main() -> None:
    """Follow the announcements until the launcher is gone, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the reaper must outlive the launcher's terminal
    groups: set[int] = set()
    for line in sys.stdin:
        pid = int(line[1:])
        groups.add(pid) if line[0] == "+" else groups.discard(pid)
    _end(groups)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


def _end(groups: set[int]) -> None:
    alive = {pid for pid in groups if _signal(pid, signal.SIGINT)}
    deadline = time.monotonic() + GRACE_SECONDS
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = {pid for pid in alive if _signal(pid, 0)}
    for pid in alive:
        _signal(pid, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; False when nothing is left of it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main()
