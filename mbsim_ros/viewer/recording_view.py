# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A run that was recorded in Python, as a page to play it and as a film."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from mbsim_ros.bags.history import History
from mbsim_ros.bags.recording.history import history_of
from mbsim_ros.sim.recording.recorder import Recording
from mbsim_ros.viewer.drawing.camera import Camera, checked_size
from mbsim_ros.viewer.drawing.film import PICTURES, write_film
from mbsim_ros.viewer.page.web_server import LOOPBACK, PORT, address, close_server, open_browser, open_server
from mbsim_ros.viewer.playback import MOST, Playback

FRAME = 1 / 30  # s of wall time between two pictures
LONGEST = 300.0  # s: a film is drawn picture by picture, and kept in memory


class RecordingViewer:
    """A page that plays a recorded run, until `close`; it plays by a thread of its own."""

    def __init__(self, history: History, port: int = PORT, *, host: str = LOOPBACK, open: bool = True):
        self.server = open_server(host, port, f"mbsim {history.model.name}")
        self.playback = Playback(self.server, history)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._play, name="recording view", daemon=True)
        self._thread.start()
        print(f"mbsim: open {self.address} in a browser", file=sys.stderr, flush=True)
        if open:
            open_browser(self.address)

    @property
    def address(self) -> str:
        """What to type into a browser on this host."""
        return address(self.server)

    def wait(self) -> None:
        """Keep the page until Ctrl-C, then close it."""
        try:
            while not self._ended.is_set():
                time.sleep(FRAME)
        except KeyboardInterrupt:
            pass
        self.close()

    def close(self) -> None:
        """End the page; a second call does nothing."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            close_server(self.server)

    def _play(self) -> None:
        while not self._ended.wait(FRAME):
            self.playback.tick()

    def __enter__(self) -> RecordingViewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def view_recording(recording: Recording, port: int, *, open: bool, block: bool, **options: Any) -> RecordingViewer:
    """See `Recording.view`."""
    viewer = RecordingViewer(history_of(recording, MOST), port, open=open, **options)
    if block:
        viewer.wait()
    return viewer


def film_recording(
    recording: Recording, path: str | os.PathLike, *, start: float, seconds: float | None, size: tuple[int, int],
    speed: float, camera: Camera | str | None,
) -> None:  # fmt: skip
    """See `Recording.film`."""
    length = float(recording.seconds[-1] - recording.seconds[0])
    wanted = length - start if seconds is None else seconds
    if not 0.0 <= start < length:
        raise ValueError(f"start: expected a time in the recording, 0 … {length:g} s, got {start!r}")
    if not 0.01 <= speed <= 100.0:
        raise ValueError(f"speed: expected 0.01 … 100, got {speed!r}")
    if not 0.0 < wanted / speed <= LONGEST:
        raise ValueError(f"seconds: expected a film of at most {LONGEST:g} s, got {wanted / speed:g} s")
    history = history_of(recording, max(2, round(4 * PICTURES * length / min(speed, 1.0))))
    for note in history.notes:
        warnings.warn(f"{path}: {note}", stacklevel=3)
    write_film(Path(path), history, start, wanted, checked_size(size), camera=camera, speed=speed)
