# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What all nodes of a launch are doing, as one line: `physics: compiling 37 of 120 kernels, about 30 s | …`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

CLEAR = "\r\033[K"  # of a terminal: back to the beginning of the line, and it is empty
SETTLED = 5.0  # s after which what goes on is worth a line; most is over by then
REFRESH = 0.2  # s between two looks of a terminal's line
REPEAT = 60.0  # s after which what goes on is told again


class Statuses:
    """The last status of each node, and when they are to be shown.

    A terminal has one line that is written over. Elsewhere a line is printed when the nodes have been doing something
    for a while, and again, numbers aside, when it has taken as long as all before.
    """

    def __init__(self, is_terminal: bool, clock: Callable[[], float] = time.monotonic):
        self._is_terminal, self._clock = is_terminal, clock
        self._of: dict[str, str] = {}
        self._begin = self._drawn = clock()
        self._due: dict[str, float] = {}  # when a line of a kind is to be printed
        self._on_screen = ""

    def set(self, label: str, text: str) -> None:
        """A node does something else, or nothing worth a word."""
        if text:
            self._of[label] = text
        else:
            self._of.pop(label, None)
        self._due.setdefault(_kind(self.line()), self._clock() + SETTLED)

    def line(self) -> str:
        """All of them; nodes that do the same stand together."""
        by_text: dict[str, list[str]] = {}
        for label, text in self._of.items():
            by_text.setdefault(text, []).append(label)
        return " | ".join(f"{', '.join(labels)}: {text}" for text, labels in by_text.items())

    def due(self) -> str | None:
        """The line that is to be shown now, "" to clear it, None for nothing to do."""
        line, now = self.line(), self._clock()
        if self._is_terminal:
            if line == self._on_screen or now - self._drawn < REFRESH:
                return None
            self._on_screen, self._drawn = line, now
            return line
        kind = _kind(line)
        if not line or now < self._due[kind]:
            return None
        self._due[kind] = now + max(REPEAT, now - self._begin)  # ever more rarely
        return line

    def covered(self) -> bool:
        """An ordinary line is printed where the status stands: whether there is something to clear away."""
        was, self._on_screen = self._on_screen, ""
        return bool(was)


def _kind(line: str) -> str:
    return re.sub(r"\d+|\b(min|s)\b", "", line)
