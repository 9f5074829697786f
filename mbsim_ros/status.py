# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a process is doing, told to the `mbsim launch` that started it, which shows all of them on one line.

A note is a line on stderr that begins with a sign which no other line has. Where no launch of ours listens nothing is
written: a node then says in its log what a user has to know.
"""

from __future__ import annotations

import os

MARK = "\x1fmbsim "  # the unit separator: no log and no traceback begins a line with it
LISTENER = "MBSIM_LAUNCH"  # names the process that listens; what a node starts itself has another parent
STATUS, SUMMARY = "status", "summary"


def is_listened_to() -> bool:
    """Whether this process was started by a launch that shows notes."""
    return os.environ.get(LISTENER) == str(os.getppid())


def tell_status(text: str) -> bool:
    """Say what this process is doing, "" for nothing worth a word; whether anybody listens."""
    return _tell(STATUS, text)


def tell_summary(text: str) -> bool:
    """Say how it went, for the end of the launch; whether anybody listens."""
    return _tell(SUMMARY, text)


def read_note(line: str) -> tuple[str, str] | None:
    """STATUS or SUMMARY and the text, or None where the line is an ordinary one."""
    if not line.startswith(MARK):
        return None
    kind, _, text = line[len(MARK) :].partition(" ")
    return (kind, text) if kind in (STATUS, SUMMARY) else None


def _tell(kind: str, text: str) -> bool:
    if not is_listened_to():
        return False
    try:
        os.write(2, f"{MARK}{kind} {' '.join(text.split())}\n".encode())  # in one piece: others write there, too
    except OSError:
        return False
    return True
