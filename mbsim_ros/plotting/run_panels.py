# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The panels of a recorded run: joint angles, torques, footfalls, ledger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbsim_ros.bags.history import Contacts, History
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.plotting.panels import Bar, Line, Panel, split
from mbsim_ros.sim.ledger import LEDGER_ENTRIES, LOSSES, WORKS

WHAT = ("angles", "torques", "footfalls", "ledger")
TIME = "simulated time [s]"
RESET_GAP = 0.5  # s: a stamp that jumps this far is a reset, over which no line is drawn
STICKS, SLIDES = ("sticks", "#009E73"), ("slides", "#E69F00")
STICKING_MODES = (ContactMode.STICKING, ContactMode.SLIDING_TO_STICKING)
SMALL = 1e-9  # of the largest entry of a ledger: what stays below is nothing


class NothingToPlot(ValueError):
    """A run without what was asked for; the text says which, and why."""


def run_panels(history: History, what: Sequence[str] = WHAT, joints: Sequence[str] = ()) -> list[Panel]:
    """The panels that were asked for, of all joints or those named. Raises NothingToPlot."""
    unknown = [name for name in joints if name not in history.joint_names]
    if unknown:
        raise NothingToPlot(f"no joint named {', '.join(unknown)}; there are: {', '.join(history.joint_names)}")
    chosen = tuple(joints) or history.joint_names
    makers = {
        "angles": lambda: _angles(history, chosen),
        "torques": lambda: _torques(history, chosen),
        "footfalls": lambda: [] if history.contacts is None else [footfalls(history.seconds, history.contacts)],
        "ledger": lambda: _ledger(history),
    }
    found = [panel for name in what for panel in makers[name]()]
    if not found:
        raise NothingToPlot(f"the recording has no {', '.join(what)}: {'; '.join(history.notes) or 'nothing moved'}")
    return found


def footfalls(seconds: np.ndarray, contacts: Contacts) -> Panel:
    """When each link that can touch the ground did, and whether it stuck or slid; of several points, the firmest."""
    links = tuple(dict.fromkeys(contacts.links))
    bars = []
    for link in links:
        columns = [place for place, name in enumerate(contacts.links) if name == link]
        modes = contacts.modes[:, columns]
        sticks = np.any(np.isin(modes, STICKING_MODES), axis=1)
        touches = np.any(modes != ContactMode.NO_CONTACT, axis=1)
        for state, (kind, colour) in ((sticks, STICKS), (touches & ~sticks, SLIDES)):
            bars += [Bar(link, start, end, kind, colour) for start, end in _stretches(seconds, state)]
    return Panel("Footfalls", TIME, "", bars=tuple(bars), rows=links)


def _angles(history: History, joints: Sequence[str]) -> list[Panel]:
    found = []
    for unit, kinds in (("rad", ("revolute", "continuous")), ("m", ("prismatic",))):
        names = [name for name in joints if history.model.joint(name).type in kinds]
        lines = [_line(history, name, history.position[:, history.joint_names.index(name)]) for name in names]
        title = "Joint angles" if unit == "rad" else "Joint positions"
        found += split(lines, title, TIME, f"{'angle' if unit == 'rad' else 'position'} [{unit}]")
    return found


def _torques(history: History, joints: Sequence[str]) -> list[Panel]:
    """Efforts of the joints that have any, and of the motors that drive the others."""
    lines = []
    for name in joints:
        effort = history.effort[:, history.joint_names.index(name)]
        if effort.any():
            lines.append(_line(history, name, effort))
    panels = split(lines, "Joint torques", TIME, "torque [N m]")
    if history.motor_effort is not None:
        motors = [_line(history, name, history.motor_effort[:, k]) for k, name in enumerate(history.motor_names)]
        panels += split(motors, "Motor torques", TIME, "torque [N m]")
    return panels


def _ledger(history: History) -> list[Panel]:
    if history.ledger is None:
        return []
    entries = dict(zip(LEDGER_ENTRIES, history.ledger.T, strict=True))
    largest = max(float(np.abs(values).max()) for values in entries.values()) or 1.0
    stored = {
        "kinetic": entries["kinetic"], "potential, from its start": entries["potential"] - entries["potential"][0],
        "springs": entries["elastic"], "springs of contact": entries["contact_stored"],
    }  # fmt: skip
    moved = {f"work of {words}": entries[name] for name, words in WORKS.items()}
    moved |= {f"lost: {words}": entries[name] for name, words in LOSSES.items()}
    moved |= {"left over (discretisation)": entries["residue"]}
    panels = []
    for title, group in (("Energy stored", stored), ("Energy since the reset", moved)):
        shown = {name: values for name, values in group.items() if np.abs(values).max() > SMALL * largest}
        panels += split([_line(history, name, values) for name, values in shown.items()], title, TIME, "energy [J]")
    return panels


def _line(history: History, name: str, values: np.ndarray) -> Line:
    """A line that is interrupted where the simulation was reset."""
    gaps = np.flatnonzero(np.diff(history.seconds) >= RESET_GAP) + 1
    return Line(name, np.insert(history.seconds, gaps, np.nan), np.insert(values.astype(float), gaps, np.nan))


def _stretches(seconds: np.ndarray, state: np.ndarray) -> list[tuple[float, float]]:
    """Begin and end of the times in which a state (n,) holds; one instant lasts until the next."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], state, [False]]).astype(np.int8)))
    last = len(seconds) - 1
    return [(float(seconds[a]), float(seconds[min(b, last)])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
