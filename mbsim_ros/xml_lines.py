# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The line on which an element begins; libxml2 only knows where its start tag ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_LINE = 10_000  # letters; a file that is all in one line has nothing to look for
MOST_LINES = 200  # of one start tag


def first_line(lines: Sequence[str], tag: str, last_line: int) -> int:
    """Line (from 1) of the `<tag` whose start tag ends on last_line; last_line itself if it is not found there."""
    if not 0 < last_line <= len(lines) or len(lines[last_line - 1]) > LONGEST_LINE:
        return last_line
    opening = re.compile(rf"<{re.escape(tag)}(?![\w.:-])")
    for number in range(last_line, max(0, last_line - MOST_LINES), -1):
        if opening.search(lines[number - 1]):
            return number
    return last_line
