# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Words of others in the Markdown of the panel.

viser's pages run what stands between braces in Markdown as JavaScript, and viser itself reads the files that a text
names as pictures. Names and messages come from robots, recordings and topics: they are shown as they are.
"""

from __future__ import annotations

_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~!&$"})


def plain(text: object) -> str:
    """A text that Markdown shows letter by letter, within a line that begins with other words."""
    return " ".join(str(text).split()).translate(_ESCAPES)


def code(text: object) -> str:
    """A text as code, on one line; what could end the code is shown as an apostrophe."""
    return f"`{_without_backticks(' '.join(str(text).split())) or ' '}`"


def code_block(lines: list[str]) -> str:
    """Lines as a block of code."""
    return "\n".join(["```", *(_without_backticks(" ".join(line.splitlines())) for line in lines), "```"])


def _without_backticks(text: str) -> str:
    return text.replace("`", "'").replace("![", "! [")
