# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The text of an attribute with its ``$(name argument …)`` substitutions.

Grammar (that of ROS 2's launch front ends):
    text          characters, ``\\x`` stands for ``x``, so ``\\$(`` is a literal ``$(``
    substitution  ``$(name)`` or ``$(name argument argument …)``, one blank between them
    argument      pieces of text without blanks, quotes and parentheses, and substitutions;
                  or a whole argument in '…' or "…", in which blanks and parentheses are text
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mbsim_ros.launcher.errors import SubstitutionError

MOST_SUBSTITUTIONS = 100  # they nest, and so do the calls that read them
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Substitution:
    """``$(name arguments…)``; each argument is a template again."""

    name: str
    arguments: tuple[Template, ...]


Template = tuple["str | Substitution", ...]


def parse_template(text: str) -> Template:
    """Split text into literal pieces and substitutions."""
    if text.count("$(") > MOST_SUBSTITUTIONS:
        raise SubstitutionError(f"more than {MOST_SUBSTITUTIONS} substitutions in one text")
    template, position = _Reader(text).template(0, stop=None)
    assert position == len(text)
    return template


class _Reader:
    """Recursive descent over one attribute's text."""

    def __init__(self, text: str):
        self.text = text

    def template(self, position: int, stop: str | None) -> tuple[Template, int]:
        """Read text and substitutions up to the quote ``stop`` (or the end)."""
        parts: list[str | Substitution] = []
        literal = ""
        while position < len(self.text):
            character = self.text[position]
            if character == stop:
                break
            if character == "\\":
                literal += self.text[position : position + 2]
                position = min(position + 2, len(self.text))
            elif self._opens(position):
                _append_literal(parts, literal)
                literal = ""
                substitution, position = self.substitution(position, quote=stop)
                parts.append(substitution)
            else:
                literal += character
                position += 1
        else:
            if stop is not None:
                raise SubstitutionError(f"the quote {stop} is not closed in: {self.text}")
        _append_literal(parts, literal)
        return tuple(parts), position

    def substitution(self, position: int, quote: str | None) -> tuple[Substitution, int]:
        """Read ``$(name argument …)`` that starts at position."""
        begin = position
        name = _NAME.match(self.text, position + 2)
        if name is None:
            raise SubstitutionError(f"a name must follow '$(' directly in: {self.text[begin:]}")
        position = name.end()
        arguments: list[Template] = []
        while position < len(self.text) and self.text[position] == " ":
            argument, position = self.argument(position + 1, quote)
            arguments.append(argument)
        if position >= len(self.text):
            raise SubstitutionError(f"'$(' is not closed in: {self.text[begin:]}")
        if self.text[position] != ")":
            raise SubstitutionError(
                f"'{self.text[position]}' is not expected in: {self.text[begin:]} "
                "(arguments are separated by one blank; put one that holds blanks, quotes or parentheses in quotes)"
            )
        return Substitution(name.group(), tuple(arguments)), position + 1

    def argument(self, position: int, quote: str | None) -> tuple[Template, int]:
        """Read one argument; inside quotes the same quote cannot open again."""
        if quote is None and position < len(self.text) and self.text[position] in "'\"":
            template, end = self.template(position + 1, stop=self.text[position])
            return template, end + 1
        forbidden = " ()'\"" if quote is None else f" (){quote}"
        parts: list[str | Substitution] = []
        literal = ""
        begin = position
        while position < len(self.text) and self.text[position] not in forbidden:
            if self.text[position] == "\\" and self.text[position + 1 : position + 2] != " ":
                literal += self.text[position : position + 2]
                position += 2
            elif self._opens(position):
                _append_literal(parts, literal)
                literal = ""
                inner, position = self.substitution(position, quote)
                parts.append(inner)
            else:
                literal += self.text[position]
                position += 1
        if position == begin:
            raise SubstitutionError(
                f"an argument is missing at position {position + 1} of: {self.text} "
                "(one blank between arguments, none after '$(' and before ')')"
            )
        _append_literal(parts, literal)
        return tuple(parts), position

    def _opens(self, position: int) -> bool:
        # A backslash before it makes it text, even if that backslash is escaped itself: ros2 launch's rule.
        return self.text.startswith("$(", position) and self.text[position - 1 : position] != "\\"


def _append_literal(parts: list[str | Substitution], literal: str) -> None:
    if literal:
        parts.append(unescaped(literal))


def unescaped(text: str) -> str:
    r"""Text with every \x replaced by x."""
    return _ESCAPED.sub(r"\1", text)
