# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What `print(model)` shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mbsim_ros.model.description import Joint
from mbsim_ros.model.problems import shortened

if TYPE_CHECKING:
    from mbsim_ros.model.model import Model, ModelJoint

# A chain of a thousand links is summarised by its ends.
SHOWN_FIRST, SHOWN_LAST = 36, 16
LONGEST_JOINT, LONGEST_LINK = 32, 20
_HEADS = ("#", "joint", "type", "parent → child", "q", "v", "limits", "effort")
_RIGHT = (0, 4, 5, 7)


def summary(model: Model) -> str:
    """Name, base, sizes and a table of the joints, in 60 lines at most."""
    rows = _rows(model)
    table = _aligned([_HEADS, *rows])
    if len(rows) > SHOWN_FIRST + SHOWN_LAST + 1:
        left_out = len(rows) - SHOWN_FIRST - SHOWN_LAST
        table[1 + SHOWN_FIRST : len(table) - SHOWN_LAST] = [f"  … {left_out} more …"]
    return "\n".join([headline(model), *(table if rows else [])])


def headline(model: Model) -> str:
    """The robot in a sentence or two: base, counts, mass, what its sidecar adds."""
    base = f"{'floating' if model.is_floating else 'fixed'} base '{model.description.root.name}'"
    fixed = sum(joint.type == "fixed" for joint in model.description.joints)
    mimics = sum(joint.iv < 0 for joint in model.joints)
    parts = [
        base,
        _count(model.n_bodies, "body", "bodies"),
        _count(len(model.joints), "moving joint") + (f" ({mimics} mimic)" if mimics else ""),
        *([_count(fixed, "fixed joint") + " merged"] if fixed else []),
        f"nq = {model.nq}",
        f"nv = {model.nv}",
        f"{model.mass:.5g} kg",
    ]
    lines = [f"{shortened(model.name)}: {', '.join(parts)}"]
    if model.sidecar is not None:
        lines.append(f"sidecar: {_sidecar(model)}")
    return "\n".join(lines)


def travel(joint: Joint, digits: int = 4) -> str:
    """Limits of a joint's position as text, empty if it has none."""
    if joint.limits is None or joint.type == "continuous":
        return ""
    return f"{joint.limits.lower:.{digits}g} … {joint.limits.upper:.{digits}g}"


def squeezed(name: str, width: int) -> str:
    """Name in at most `width` characters: the middle goes, because robots' names differ at their ends."""
    flat = " ".join(name.split())
    if len(flat) <= width:
        return flat
    head = (width - 1) // 2
    return f"{flat[:head]}…{flat[len(flat) - (width - 1 - head) :]}"


def _rows(model: Model) -> list[tuple[str, ...]]:
    rows = [_row(model, index, joint) for index, joint in enumerate(model.joints)]
    if model.is_floating:
        root = model.description.root.name
        rows.insert(0, ("", "(base)", "floating", f"(world) → {_link(root)}", "0–6", "0–5", "", ""))
    return rows


def _row(model: Model, index: int, joint: ModelJoint) -> tuple[str, ...]:
    said = model.description.joint(joint.name)
    effort = f"{said.limits.effort:.4g}" if said.limits is not None and math.isfinite(said.limits.effort) else ""
    ends = f"{_link(said.parent)} → {_link(said.child)}"
    limits = travel(said)
    if said.mimic is not None:
        offset = f" {said.mimic.offset:+.4g}" if said.mimic.offset else ""
        limits = f"= {said.mimic.multiplier:.4g} × {_link(said.mimic.joint)}{offset}"
    q, v = _places(joint.iq, joint.nq), _places(joint.iv, joint.nv)
    return (str(index), squeezed(joint.name, LONGEST_JOINT), joint.type, ends, q, v, limits, effort)


def _places(first: int, count: int) -> str:
    if first < 0:
        return "–"
    return str(first) if count == 1 else f"{first}–{first + count - 1}"


def _sidecar(model: Model) -> str:
    sidecar = model.sidecar
    assert sidecar is not None
    parts = []
    for section in (
        "contact",
        "couplings",
        "springs",
        "initial_states",
        "gains",
        "rotor_inertia",
        "damping",
        "terrain",
    ):
        value = getattr(sidecar, section)
        if isinstance(value, dict) and value:
            names = ", ".join(shortened(name, 20) for name in list(value)[:6]) + (", …" if len(value) > 6 else "")
            parts.append(f"{section} ({names})")
        elif value is not None and not isinstance(value, dict):
            parts.append(section)
    return ", ".join(parts) or "empty"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _link(name: str) -> str:
    return squeezed(name, LONGEST_LINK)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in _RIGHT else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines
