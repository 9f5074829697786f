# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Ctrl-C ends a node that compiles.

Python runs handlers of signals between two of its own instructions, and an exception that one raises in a callback of
the compiler is ignored: a node could not be interrupted for as long as a kernel takes. So while the compiler is at work
SIGINT and SIGTERM do what they do to a process without handlers. Numba writes an entry of its cache under another name
and renames it: what is there is whole, whenever it ends.
"""

from __future__ import annotations

import ctypes
import signal

import rclpy
from numba.core import event

ENDING = (signal.SIGINT, signal.SIGTERM)
_SIZE = 512  # bytes; a struct sigaction has less than 160
_DEFAULT = bytes(_SIZE)  # SIG_DFL, no flags, an empty mask
_sigaction = ctypes.CDLL(None, use_errno=True).sigaction  # rclpy's handlers are in C++: Python's module knows them not


class _EndByDefault(event.Listener):
    """Takes the handlers away with the first kernel of a nest that is compiled, and gives them back with the last."""

    def __init__(self) -> None:
        self._depth = 0
        self._before = {number: ctypes.create_string_buffer(_SIZE) for number in ENDING}

    def on_start(self, event: object) -> None:
        self._depth += 1
        if self._depth == 1:
            for number, before in self._before.items():
                _sigaction(number, _DEFAULT, before)
        if not rclpy.ok():  # a signal came before, and its exception was lost in a callback; numba calls on_end
            raise KeyboardInterrupt

    def on_end(self, event: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            for number, before in self._before.items():
                _sigaction(number, before, None)


def end_by_signals_while_compiling() -> None:
    """From now on, in this process, whose rclpy has been initialised."""
    event.register("numba:compile", _EndByDefault())
