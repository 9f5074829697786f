# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How a bad file is reported: every problem at once, each with its file and line."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# A hostile file can hold a million problems; the message stays readable, `.problems` has them all.
LISTED_PROBLEMS = 200
LISTED_PLACES = 4
PLACE_INDENT = "    "
# Looking for similar names costs (unknown names) x (known names): beyond these the hint is left out.
NAMES_COMPARED = 1000
HINTED_PROBLEMS = 50


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, what, with which value, and what to do about it."""

    file: str
    line: int
    element: str
    name: str
    rule: str
    value: str = ""
    hint: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        """`file:line: link 'name': rule, value, hint`."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        who = _owner(self)
        what = ", ".join(part for part in (self.rule, self.value, self.hint) if part)
        return f"{place}: {who}: {what}" if who else f"{place}: {what}"


class ProblemError(ValueError):
    """A file was refused. `problems` has every reason, `warnings` what would have been accepted without them."""

    def __init__(self, problems: Sequence[Problem], warnings: Sequence[Problem] = (), note: str = "") -> None:
        """Keep the problems in the order of their lines."""
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line)))
        self.warnings = tuple(warnings)
        self.note = note
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [str(problem) for problem in self.problems[:LISTED_PROBLEMS]]
        left_out = len(self.problems) - len(lines)
        if left_out:
            lines.append(f"… and {left_out} more problems")
        if self.note:
            lines.append(f"({self.note})")
        return "\n".join(lines)

    def __reduce__(self) -> tuple:
        """Pickle by the constructor's arguments; the default would pass the text."""
        return type(self), (self.problems, self.warnings, self.note)


class UrdfError(ProblemError):
    """A URDF or xacro file that cannot be loaded."""


class SidecarError(ProblemError):
    """A `<robot>.mbsim.yaml` that cannot be used."""


class UrdfWarning(UserWarning):
    """Imperfections of a URDF that was loaded anyway."""


def warn_grouped(problems: Sequence[Problem], note: str = "") -> None:
    """Issue one `UrdfWarning` for all imperfections of a file; none if there are none."""
    if problems:
        warn_user(grouped_text(problems, note), UrdfWarning)


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn with the line of the program that uses this package, however deep below it the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mbsim_ros."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def show_warnings_plainly() -> None:
    """From now on, in this process, warnings of this package are a few lines without places in its own source.

    Of a URDF's imperfections there is a line a rule; `mbsim check` tells where they are.
    """
    of_python = warnings.formatwarning

    def plain(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if not category.__module__.startswith("mbsim_ros."):
            return of_python(message, category, filename, lineno, line)
        lines = str(message).splitlines()
        if issubclass(category, UrdfWarning):
            lines = [text for text in lines if not text.startswith(PLACE_INDENT)]
            lines[0] += " (mbsim check shows where)"
        return "\n".join([f"warning: {lines[0]}", *lines[1:]]) + "\n"

    warnings.formatwarning = plain


def grouped_text(problems: Sequence[Problem], note: str = "") -> str:
    """One paragraph per rule: how often, where, with which value, and the hint."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.rule, []).append(problem)
    head = f"{problems[0].file}: loaded with {len(problems)} imperfection{'s' if len(problems) > 1 else ''}"
    lines = [head + (f" ({note})" if note else "")]
    for rule, members in groups.items():
        hint = next((problem.hint for problem in members if problem.hint), "")
        lines.append(f"  {rule} ({len(members)})" + (f": {hint}" if hint else ""))
        lines += [f"{PLACE_INDENT}{_place(problem)}" for problem in members[:LISTED_PLACES]]
        if len(members) > LISTED_PLACES:
            lines.append(f"{PLACE_INDENT}… and {len(members) - LISTED_PLACES} more")
    return "\n".join(lines)


def _place(problem: Problem) -> str:
    return f"line {problem.line}: {_owner(problem)}" + (f", {problem.value}" if problem.value else "")


def _owner(problem: Problem) -> str:
    return f"{problem.element} '{shortened(problem.name, 100)}'" if problem.name else problem.element


def did_you_mean(name: str, known: Collection[str], otherwise: str, already: int) -> str:
    """Hint with the most similar known name, or `otherwise`, also if there are many problems `already`."""
    if already > HINTED_PROBLEMS or len(known) > NAMES_COMPARED or len(name) > 200:
        return otherwise
    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean '{matches[0]}'?" if matches else otherwise


def shortened(text: str, length: int = 60) -> str:
    """Text of a file as it is shown in a message: one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"
