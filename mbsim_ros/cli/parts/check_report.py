# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What ``mbsim check`` prints about one file: problems, inertias, tags, links, joints, and the robot in a line."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from mbsim_ros.cli.parts.check_contact import points_of_links, touching
from mbsim_ros.cli.parts.check_inertia import masses_beside_meshes
from mbsim_ros.cli.parts.check_integrators import integrators_in_lines
from mbsim_ros.cli.parts.plain_table import print_table, printable
from mbsim_ros.model.assembly.checking import FileCheck
from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Inertial, Joint, Link, Mesh
from mbsim_ros.model.model import Model, ModelJoint
from mbsim_ros.model.problems import Problem
from mbsim_ros.model.summary import headline, squeezed, travel

# All of them are in the JSON; nobody reads more on a screen.
LISTED = 200
WIDTH_WITHOUT_TERMINAL = 120


def report(check: FileCheck, *, strict: bool = False, brief: bool = False, console: Console | None = None) -> None:
    """Print everything about a file: what is in it first, what is wrong with it last, where one looks."""
    console = console or _console()
    check = replace(check, masses=masses_beside_meshes(check))
    _line(console, _text(check.file, "bold"))
    if check.robot is not None and check.model is not None and not brief:
        _links(console, check, points_of_links(check.model))
        _joints(console, check.model)
        _tags(console, check)
    _inertias(console, check)
    _problems(console, check)
    _conclusion(console, check, strict)


def _console() -> Console:
    piped = not os.isatty(1) and "COLUMNS" not in os.environ
    return Console(highlight=False, markup=False, emoji=False, width=WIDTH_WITHOUT_TERMINAL if piped else None)


def _problems(console: Console, check: FileCheck) -> None:
    """Errors one by one, to be clicked on; warnings by rule, because robots repeat theirs."""
    for problem in check.errors[:LISTED]:
        _line(console, _text("error: ", "bold red"), _text(str(problem)))
    if len(check.errors) > LISTED:
        _line(console, _text(f"… and {len(check.errors) - LISTED} more errors"))
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in check.warnings:
        groups.setdefault((problem.rule, _general(problem.hint)), []).append(problem)
    for (rule, hint), members in groups.items():
        times = f" ({len(members)})" if len(members) > 1 else ""
        _line(
            console, _text("warning: ", "bold yellow"), _text(rule + times), _text(f": {hint}" if hint else "", "dim")
        )
        for problem in members[:LISTED]:
            _line(console, _text(f"  line {problem.line}: "), _text(_short(problem, hint)))
        if len(members) > LISTED:
            _line(console, _text(f"  … and {len(members) - LISTED} more"))
    if check.note and (check.errors or check.warnings):
        _line(console, _text(f"({check.note})", "dim"))


def _general(hint: str) -> str:
    """Hint that several problems may share; one with numbers or names of its own stays with its problem."""
    return "" if "'" in hint or "=" in hint else hint


def _short(problem: Problem, said: str) -> str:
    owner = f"{problem.element} '{problem.name}'" if problem.name else problem.element
    return ", ".join(part for part in (owner, problem.value, "" if problem.hint == said else problem.hint) if part)


def _links(console: Console, check: FileCheck, points: Counter[str]) -> None:
    assert check.robot is not None
    parent = {joint.child: joint.parent for joint in check.robot.joints}
    masses = {found.link.name: found for found in check.masses}
    rows = []
    for link in check.robot.links:
        found = masses.get(link.name)
        style = "dim" if found is None else "red" if found.suspicious else "yellow" if found.doubts else ""
        mass = "–" if found is None else f"{found.mass:.4g}"
        moments = "" if found is None else " ".join(f"{moment:.2g}" for moment in found.moments)
        ends = (str(link.line), link.name, parent.get(link.name, ""))
        shapes = (_shapes(link, "visuals"), _shapes(link, "collisions"))
        rows.append(((*ends, mass, moments, *shapes, str(points[link.name] or "")), style))
    heads = (">line", "link", "parent", ">mass", "principal moments", "visual", "collision", ">points")
    print_table(console, f"{_count(len(rows), 'link')} (kg, kg m²)", heads, rows, names=(1, 2))


def _shapes(link: Link, kind: str) -> str:
    """Kinds of shapes with their number, `mesh?` for files that were not found."""
    names: dict[str, int] = {}
    for shape in getattr(link, kind):
        lost = isinstance(shape.geometry, Mesh) and shape.geometry.path is None
        name = type(shape.geometry).__name__.lower() + ("?" if lost else "")
        names[name] = names.get(name, 0) + 1
    return " ".join(name if count == 1 else f"{count} {name}" for name, count in names.items())


def _joints(console: Console, model: Model) -> None:
    rows = []
    moving = {joint.name: joint for joint in model.joints}
    for joint in model.description.joints:
        limit = joint.limits
        cells = (
            str(joint.line), joint.name, joint.type, joint.child, _axis(joint), *_places(moving.get(joint.name)),
            _travel(joint),
            f"{limit.effort:.4g}" if limit else "", f"{limit.velocity:.4g}" if limit else "",
            f"{joint.damping:.3g}" if joint.damping else "", f"{joint.friction:.3g}" if joint.friction else "",
            f"{joint.rotor_inertia:.3g}" if joint.rotor_inertia else "",
        )  # fmt: skip
        rows.append((cells, "dim" if joint.type == "fixed" else ""))
    heads = (
        ">line", "joint", "type", "child link", "axis", ">q", ">v", "limits", ">effort", ">speed", ">damp", ">frict",
        ">rotor",
    )  # fmt: skip
    if rows:
        print_table(console, _count(len(rows), "joint"), heads, rows, names=(1, 3))


def _axis(joint: Joint) -> str:
    """An axis in the joint's frame: a letter where it is one of the frame's own."""
    if joint.type not in (*SINGLE_AXIS_TYPES, "planar"):
        return ""
    for letter, value in zip("xyz", joint.axis, strict=True):
        if abs(abs(value) - 1.0) < 1e-9:
            return letter if value > 0.0 else f"-{letter}"
    return " ".join(f"{value:.2g}" for value in joint.axis)


def _places(joint: ModelJoint | None) -> tuple[str, str]:
    if joint is None:
        return "", ""
    return ("–", "–") if joint.iv < 0 else (str(joint.iq), str(joint.iv))


def _travel(joint: Joint) -> str:
    if joint.mimic is not None:
        return f"{joint.mimic.multiplier:.3g} × {squeezed(joint.mimic.joint, 10)}"
    return travel(joint, digits=3)


def _tags(console: Console, check: FileCheck) -> None:
    assert check.robot is not None
    used, ignored = list(check.robot.used_tags.items()), list(check.robot.ignored_tags.items())
    rows = []
    for row in range(max(len(used), min(len(ignored), LISTED))):
        left = used[row] if row < len(used) else ("", "")
        right = ignored[row] if row < len(ignored) else ("", "")
        rows.append(((left[0], str(left[1]), right[0], str(right[1])), ""))
    title = f"tags: {len(used)} used, {len(ignored)} ignored"
    print_table(console, title, ("used", ">times", "ignored", ">times"), rows, names=(0, 2))


def _inertias(console: Console, check: FileCheck) -> None:
    """What is odd about masses and inertias, with an inertial to put in their place."""
    odd = [found for found in check.masses if found.doubts]
    if odd:
        _line(console, _text("\nmasses and inertias to look at", "bold"))
    for found in odd[:LISTED]:
        _line(console, _text(f"line {found.link.line}: link '{found.link.name}': "), _text(", ".join(found.doubts)))
        if found.suggestion is not None:
            _line(console, _text(f"  {found.suggested_by}, would have\n  {_snippet(found.suggestion)}", "dim"))
    if len(odd) > LISTED:
        _line(console, _text(f"… and {len(odd) - LISTED} more"))


def _snippet(inertial: Inertial) -> str:
    I = inertial.inertia  # noqa: E741
    six = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    components = " ".join(f'{name}="{0.0 if abs(value) < 1e-12 else value:.4g}"' for name, value in six.items())
    xyz = " ".join(f"{value:.4g}" for value in inertial.origin.xyz)
    return f'<origin xyz="{xyz}"/> <mass value="{inertial.mass:.6g}"/> <inertia {components}/>'


def _conclusion(console: Console, check: FileCheck, strict: bool) -> None:
    console.print()
    if check.model is not None:
        _line(console, _text(headline(check.model)))
        choice = check.model.base_choice
        if choice.is_guess and not choice.is_floating:
            _line(console, _text(f"its base is fixed because {choice.why}: --base floating lets it float"))
        _line(console, _text(touching(check.model)))
        _line(console, _text(integrators_in_lines(check.model)))
    if check.sidecar_file and check.sidecar_file != check.file:
        _line(console, _text(f"sidecar file: {check.sidecar_file}"))
    if check.sidecar_note:
        _line(console, _text(check.sidecar_note, "dim"))
    counts = f"{_count(len(check.errors), 'error')}, {_count(len(check.warnings), 'warning')}"
    if check.is_fine(strict):
        _line(console, _text("Fine", "bold green"), _text(f": {counts}."))
    else:
        _line(console, _text("Not usable", "bold red"), _text(f"{' (strict)' if strict else ''}: {counts}."))


def _line(console: Console, *parts: Text) -> None:
    """Print without breaking lines: `grep` and editors take them as they are."""
    console.print(Text.assemble(*parts), soft_wrap=True)


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
