# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Output of the nodes: whole lines with the node's name in a colour, or into log files."""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TextIO

from mbsim_ros.launcher.node_spec import NodeSpec
from mbsim_ros.launcher.statuses import CLEAR, Statuses
from mbsim_ros.status import STATUS, SUMMARY, read_note

LONGEST_LINE = 65536  # bytes; what has no line break by then is shown as a line
_COLOURS = (36, 33, 35, 32, 34, 96, 93, 95, 92, 94)  # ANSI; red is left to errors


class Screen:
    """The terminal (or what stands for it), shared by all nodes."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream or sys.stdout or open(os.devnull, "w")
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to stop
        self._coloured = self._stream.isatty() and "NO_COLOR" not in os.environ
        self._colour_of: dict[str, int] = {}
        self._statuses = Statuses(is_terminal=self._stream.isatty())
        self._summaries: list[tuple[str, str]] = []

    def say(self, message: str) -> None:
        """Print a line of the launcher itself."""
        self._print("launch", message, bold=True)

    def line(self, label: str, text: str) -> None:
        """Print a line of a node."""
        self._print(label, text)

    def note(self, label: str, kind: str, text: str) -> None:
        """Take a note of a node: what it is doing now, or how it went."""
        if kind == SUMMARY:
            self._summaries.append((label, text))
        else:
            self._statuses.set(label, text)

    def show_status(self) -> None:
        """Show what the nodes are doing, if it is time to: on a terminal one line that is written over."""
        text = self._statuses.due()
        if text is None:
            return
        if self._stream.isatty():
            self._write(f"{CLEAR}{text[: shutil.get_terminal_size().columns - 1]}")
        else:
            self.say(text)

    def sum_up(self) -> None:
        """The last lines of a launch: how it went."""
        for label, text in self._summaries:
            self.say(f"{label}: {text}")

    def _print(self, label: str, text: str, bold: bool = False) -> None:
        prefix = f"[{label}]"
        if self._coloured:
            colour = self._colour_of.setdefault(label, _COLOURS[len(self._colour_of) % len(_COLOURS)])
            prefix = f"\033[{'1' if bold else colour}m{prefix}\033[0m"
        cleared = CLEAR if self._statuses.covered() else ""
        self._write(f"{cleared}{prefix} {text}\n")

    def _write(self, text: str) -> None:
        try:
            _write_all(self._stream, text)
        except (OSError, ValueError):
            # Nobody reads any more (`… | head`, a closed terminal, a full disk); the nodes go on or end as they would.
            self._stream = open(os.devnull, "w")


def _write_all(stream: TextIO, text: str) -> None:
    """Write and flush. Python's own unbuffered stdout loses what a signal keeps it from writing at once."""
    if not isinstance(stream, io.TextIOWrapper):
        stream.write(text)
        stream.flush()
        return
    stream.flush()
    left = memoryview(text.encode(stream.encoding, errors="replace"))
    while left:
        left = left[stream.buffer.write(left) or 0 :]
    stream.buffer.flush()


class NodeOutput:
    """Both streams of one node, sent where its output attribute says.

    ``screen``: to the terminal; ``log``: to a file, errors also to the terminal; ``both``: both to both.
    """

    def __init__(self, spec: NodeSpec, screen: Screen):
        self._spec = spec
        self._screen = screen
        self._partial = {False: b"", True: b""}
        self._log: TextIO | None = None
        self.last_line = ""  # that has words in it

    def write(self, data: bytes, error: bool) -> None:
        """Take bytes from stdout or (error) stderr; whole lines are passed on, the rest waits."""
        *lines, rest = (self._partial[error] + data).split(b"\n")
        if len(rest) > LONGEST_LINE:
            lines.append(rest)
            rest = b""
        self._partial[error] = rest
        for line in lines:
            self._emit(line.decode(errors="replace").rstrip("\r"), error)

    def close(self) -> None:
        """Pass on unfinished last lines."""
        for error, rest in self._partial.items():
            if rest:
                self._emit(rest.decode(errors="replace"), error)
        if self._log is not None:
            self._log.close()
        self._screen.note(self._spec.label, STATUS, "")

    def _emit(self, line: str, error: bool) -> None:
        note = read_note(line)
        if note is not None:
            self._screen.note(self._spec.label, *note)
            return
        self.last_line = line.strip() or self.last_line
        if self._spec.output in ("screen", "both") or error:
            self._screen.line(self._spec.label, line)
        if self._spec.output in ("log", "both"):
            self._write_log(line)

    def _write_log(self, line: str) -> None:
        try:
            if self._log is None:
                self._log = _open_log(self._spec)
            self._log.write(line + "\n")
            self._log.flush()
        except OSError as error:
            self._screen.say(f"warning: no log of {self._spec.label}: {error}")
            self._log = open(os.devnull, "w")


def _open_log(spec: NodeSpec) -> TextIO:
    """Log file of a node, in the folder that ROS's own logging uses."""
    home = spec.environment.get("ROS_HOME") or os.path.expanduser("~/.ros")
    folder = Path(spec.environment.get("ROS_LOG_DIR") or Path(home) / "log")
    folder.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d-%H-%M-%S")
    return open(folder / f"{spec.label}_{stamp}_{os.getpid()}.log", "w", encoding="utf-8")
