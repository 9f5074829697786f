# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A terminal that gives every key at once, and is as it was before however the program ends."""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import termios
from types import FrameType, TracebackType
from typing import TextIO

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminal:
    """Keys without Enter and without echo. A context manager: leaving it, for whatever reason, restores the terminal.

    Signals that end the program set `ended` instead, so that it can stop the robot first; Ctrl-Z restores the terminal
    before it suspends, and takes it again afterwards. Only the main thread may use it. ValueError without a terminal.
    """

    def __init__(self, keys: TextIO | None = None, screen: TextIO | None = None):
        self._keys, self._screen = keys or sys.stdin, screen or sys.stdout
        try:
            self._fd = self._keys.fileno()
            self._before = termios.tcgetattr(self._fd)
        except (OSError, ValueError, termios.error):
            raise ValueError("keyboard: expected a terminal as standard input, got something else") from None
        self.ended = False
        self._handlers: dict[int, object] = {}
        self._is_restored = True

    def __enter__(self) -> Terminal:
        atexit.register(self.restore)
        for number in ENDING:
            self._handlers[number] = signal.signal(number, self._end)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        self._take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        atexit.unregister(self.restore)

    def restore(self) -> None:
        """Make the terminal what it was; harmless when it is, or when it is gone."""
        if self._is_restored:
            return
        self._is_restored = True
        try:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        except termios.error:
            pass  # the connection is cut: there is nothing to restore

    def read(self, patience: float) -> str:
        """The keys that came, waiting for them at most this long [s]; an end of input sets `ended`."""
        try:
            if not select.select([self._fd], [], [], patience)[0]:
                return ""
            data = os.read(self._fd, 1024)
        except OSError:  # the terminal is gone
            data = b""
        self.ended = self.ended or not data
        return data.decode(errors="ignore")

    def write(self, text: str) -> None:
        """Write lines."""
        self._put(f"\r\x1b[K{text}\n")

    def show(self, line: str) -> None:
        """Put a line in the place of the last one that was shown, cut to the width of the terminal."""
        try:
            width = os.get_terminal_size(self._screen.fileno()).columns or 80
        except OSError:
            width = 80
        self._put(f"\r\x1b[K{line[: width - 1]}")

    def _put(self, text: str) -> None:
        try:
            self._screen.write(text)
            self._screen.flush()
        except OSError:
            self.ended = True

    def _take(self) -> None:
        mode = termios.tcgetattr(self._fd)
        mode[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C and Ctrl-Z stay signals
        mode[6] = [*mode[6]]
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        self._is_restored = False
        termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.ended = True

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        self.restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stops here until the program goes on
        signal.signal(signal.SIGTSTP, self._suspend)
        self._take()
