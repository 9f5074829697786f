# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `view`: what the web view of a walker that walks costs its process, with a page that takes every picture."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mbsim_ros.bench.result import Goal, Options, Progress, SuiteResult, Table

SLICES, QUICK_SLICES = 20, 2  # of one second each
ENOUGH = 28  # pictures in a second, for it to count
PATIENCE = 120.0  # s of wall time for a walker that walks at its pace
MOST = 10.0  # % of a core
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 0.0, 1.0), "fov": 1.0, "near": 0.1,
    "far": 100.0, "image_height": 480, "image_width": 640, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure in slices of a second; those in which the machine did not keep pace are measured again."""
    wanted = QUICK_SLICES if options.quick else SLICES
    progress.begin(wanted + 1)
    progress.step("a walker that walks")
    with _walker() as (viewer, port), _Page(port) as page:
        found = _slices(viewer, page, wanted, progress)
    cpu, pictures = (statistics.median(values) for values in zip(*found, strict=True))
    quartiles = statistics.quantiles([cpu for cpu, _ in found], n=4)
    return SuiteResult(
        tables=[
            Table("web view", ["", "pictures/s", "% of a core", "quartiles"],
                  [["walker that walks, one page", f"{pictures:.1f}", f"{cpu:.1f}",
                    f"{quartiles[0]:.1f} … {quartiles[-1]:.1f}"]])
        ],
        measurements=[{"what": "viewer process", "pictures_per_second": pictures, "percent_of_a_core": cpu,
                       "slices": [list(pair) for pair in found]}],
        goals=[Goal("the viewer's process at 30 pictures/s", cpu, MOST, False, "% of a core")],
        notes=["all threads of the process: drawing, messages from the simulation, messages to the page"],
    )  # fmt: skip


def _slices(viewer: int, page: _Page, wanted: int, progress: Progress) -> list[tuple[float, float]]:
    """CPU [% of a core] and pictures per second, of each slice."""
    found: list[tuple[float, float]] = []
    end = time.monotonic() + PATIENCE + wanted
    while len(found) < wanted:
        if time.monotonic() > end:
            raise RuntimeError(f"the page did not get {ENOUGH} pictures a second: is this machine busy?")
        used, pictures, start = _cpu_time(viewer), page.pictures, time.monotonic()
        time.sleep(1.0)
        passed = time.monotonic() - start
        rate = (page.pictures - pictures) / passed
        if rate >= ENOUGH:
            found.append((100.0 * (_cpu_time(viewer) - used) / passed, rate))
            progress.step(f"{rate:.0f} pictures/s")
    return found


def _cpu_time(process: int) -> float:
    """Seconds that all threads of a process have run."""
    total = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # ended in the meantime
            total += int((task / "schedstat").read_text().split()[0])
    return 1e-9 * total


class _Page:
    """Takes what a browser would, and throws it away. `pictures` counts: all of a picture comes at once."""

    def __init__(self, port: int):
        import msgspec.msgpack
        from websockets.sync.client import connect

        protocol: Any = f"viser-v{version('viser')}"
        self._socket = connect(f"ws://127.0.0.1:{port}", subprotocols=[protocol], max_size=None, open_timeout=PATIENCE)
        self._socket.send(msgspec.msgpack.encode(CAMERA))
        self.pictures = 0
        self._thread = threading.Thread(target=self._take, daemon=True)

    def __enter__(self) -> _Page:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._thread.join()

    def _take(self) -> None:
        for _ in self._socket:
            self.pictures += 1


@contextlib.contextmanager
def _walker() -> Iterator[tuple[int, int]]:
    """A walker that was launched as users do it; gives the viewer's process and port."""
    environment = {"ROS_DOMAIN_ID": "97", **os.environ, "MBSIM_VIEW": "true", "PYTHONUNBUFFERED": "1"}
    environment.pop("DISPLAY", None)  # nobody is to open a browser beside the page
    process = subprocess.Popen(
        [sys.executable, "-m", "mbsim_ros", "launch", "walker"], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            port, viewer = re.search(r"open http://\S+:(\d+)", line), re.search(r"viewer started \(pid (\d+)\)", said)
            if port and viewer:
                break
        else:
            raise RuntimeError(f"the viewer did not start:\n{said}")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield int(viewer[1]), int(port[1])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
