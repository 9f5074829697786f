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
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table

SLICES, QUICK_SLICES = 20, 2  # of one second each
FIRST = 30  # pictures before it is measured: then the walker walks
PATIENCE = 100.0  # s of wall time for them
LEAST, MOST = 29.5, 10.0  # pictures/s, rounded, and % of a core
WHAT = ("viewer process [% of a core]", "pictures/s", "machine idle [%]")
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 0.0, 1.0), "fov": 1.0, "near": 0.1,
    "far": 100.0, "image_height": 480, "image_width": 640, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure in slices of a second, while a walker walks."""
    wanted = QUICK_SLICES if options.quick else SLICES
    progress.begin(wanted + 1)
    progress.step("a walker that walks")
    with _walker() as (viewer, port), _Page(port) as page:
        page.wait(FIRST)
        found = [_slice(viewer, page, progress) for _ in range(wanted)]
    cpu, pictures, idle = (statistics.median(values) for values in zip(*found, strict=True))
    quartiles = [statistics.quantiles(values, n=4) for values in zip(*found, strict=True)]
    return SuiteResult(
        tables=[
            Table("web view of a walker that walks, one page", ["", "median", "quartiles"],
                  [[what, f"{value:.1f}", f"{low:.1f} … {high:.1f}"]
                   for what, value, (low, _, high) in zip(WHAT, (cpu, pictures, idle), quartiles, strict=True)])
        ],
        measurements=[{"what": "viewer process", "pictures_per_second": pictures, "percent_of_a_core": cpu,
                       "percent_idle": idle, "slices": [list(slice_) for slice_ in found]}],
        goals=[BenchGoal("pictures in a second", pictures, LEAST, True, "/s"),
               BenchGoal("the viewer's process", cpu, MOST, False, "% of a core")],
        notes=["all threads of the process: drawing, messages from the simulation, messages to the page",
               "a machine that is never idle does other things as well: there are fewer pictures then"],
    )  # fmt: skip


def _slice(viewer: int, page: _Page, progress: Progress) -> tuple[float, float, float]:
    """CPU [% of a core], pictures per second, and how idle the machine is [%], of a second."""
    used, idle, pictures, start = _cpu_time(viewer), _idle_time(), page.pictures, time.monotonic()
    time.sleep(1.0)
    passed = time.monotonic() - start
    rate = (page.pictures - pictures) / passed
    progress.step(f"{rate:.0f} pictures/s")
    cores = os.cpu_count() or 1
    return 100.0 * (_cpu_time(viewer) - used) / passed, rate, 100.0 * (_idle_time() - idle) / passed / cores


def _idle_time() -> float:
    """Seconds that the processors of this machine have had nothing to do, all together."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")


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
        from websockets.typing import Subprotocol

        protocol = Subprotocol(f"viser-v{version('viser')}")
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

    def wait(self, pictures: int) -> None:
        """Until so many have come."""
        end = time.monotonic() + PATIENCE
        while self.pictures < pictures:
            if time.monotonic() > end:
                raise RuntimeError(f"the page got {self.pictures} of {pictures} pictures in {PATIENCE:g} s")
            time.sleep(0.05)

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
        viewer, port = _viewer(process.stdout)
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield viewer, port
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()


def _viewer(lines: Iterable[str]) -> tuple[int, int]:
    """Process and port of the viewer, from what a launch says until the viewer has told where its page is."""
    said, port = "", None
    for line in lines:
        said += line
        port = re.search(r"open http://\S+:(\d+)", line)
        if port:
            break
    viewer = re.search(r"viewer \(pid (\d+)\)", said)
    if port is None or viewer is None:
        raise RuntimeError(f"the viewer did not start, or not in words that are known here:\n{said}")
    return int(viewer[1]), int(port[1])
