# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Figures of walks: footfalls, motor torques, how level the body stays, clutch events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mbsim_ros.control.clutches.logic import ENGAGED, REFUSED, WAITING, ClutchEvent
from mbsim_ros.control.walker.legs import LEGS, MOTORS
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.nelson.walker_walks import Walk

STANDS = 1.0  # N, from which on a foot stands


def footfall(walks: dict[str, Walk], begin: float, end: float) -> Figure:
    """Bars where feet stand, one panel for each walk."""
    figure, axes = panels(len(walks), title="Footfalls", size=(11.0, 1.0 + 3.0 * len(walks)), sharex=True)
    for axis, (name, walk) in zip(axes[:, 0], walks.items(), strict=True):
        part = walk.between(begin, end)
        for k, leg in enumerate(LEGS):
            spans = _spans(walk.t[part], walk.forces[part, k] > STANDS)
            axis.broken_barh(spans, (k - 0.35, 0.7), color=COLOURS[0 if leg[0] == "A" else 1])
        axis.set_yticks(range(len(LEGS)), LEGS)
        axis.invert_yaxis()
        axis.set_xlim(begin, end)
        axis.set_title(name)
        label(axis, "time [s]" if axis is axes[-1, 0] else "", "leg", legend=False)
    return figure


def motor_torques(walk: Walk, begin: float, end: float, title: str) -> Figure:
    """Torques of the five motors and their power."""
    figure, axes = panels(3, title=title, size=(11.0, 9.5), sharex=True)
    part = walk.between(begin, end)
    for k, motor in enumerate(MOTORS):
        row = {"waist": 0, "femur": 0, "tibia": 1}[motor.split("_")[0]]
        axes[row, 0].plot(walk.t[part], walk.torques[part, k], color=COLOURS[k], label=motor.replace("_", " "))
    power = walk.power[part].sum(axis=1)
    axes[2, 0].plot(walk.t[part], power, color=COLOURS[6], label="all motors")
    axes[2, 0].axhline(power.mean(), color=COLOURS[6], linestyle=":", label=f"mean, {power.mean():.1f} W")
    for row, what in enumerate(("torque [N m]", "torque [N m]", "power [W]")):
        label(axes[row, 0], "time [s]" if row == 2 else "", what, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def body_motion(walks: dict[str, Walk]) -> Figure:
    """Roll, pitch and height of the body."""
    figure, axes = panels(3, title="The body while it walks", size=(11.0, 9.0), sharex=True)
    for k, (name, walk) in enumerate(walks.items()):
        for row, values in enumerate((1e3 * walk.angles[:, 0], 1e3 * walk.angles[:, 1], 1e3 * walk.base[:, 2])):
            axes[row, 0].plot(walk.t, values, color=COLOURS[k], label=name, linewidth=1.3)
    axes[0, 0].set_ylim(*axes[1, 0].get_ylim())  # straight on there is only rounding to see in roll
    axes[2, 0].set_xlim(0.0, min(walk.t[-1] for walk in walks.values()))
    for row, what in enumerate(("roll [mrad]", "pitch [mrad]", "height [mm]")):
        label(
            axes[row, 0], "time [s]" if row == 2 else "", what, legend=row == 0, loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
        )  # fmt: skip
    return figure


def costs(names: Sequence[str], net: Sequence[float], positive: Sequence[float]) -> Figure:
    """Cost of transport of several gaits."""
    figure, axes = panels(1, title="Cost of transport", size=(8.0, 4.2))
    axis: Axes = axes[0, 0]
    places = np.arange(len(names))
    axis.bar(places - 0.2, net, 0.4, label="net work of the motors")
    axis.bar(places + 0.2, positive, 0.4, label="positive work alone")
    axis.set_xticks(places, names)
    label(axis, "", "work / (weight · way)", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def clutch_events(walk: Walk, events: Sequence[ClutchEvent], names: Sequence[str]) -> Figure:
    """The coupling in force, what became of requests, and what was lost."""
    figure, axes = panels(
        3, title="Clutch requests while it walks", size=(12.0, 12.0), sharex=True,
        gridspec_kw={"height_ratios": [2.4, 1.0, 1.0]},
    )  # fmt: skip
    rows = {name: k for k, name in enumerate(names)}
    axis = axes[0, 0]
    axis.step(walk.t, [rows[name] for name in walk.couplings], where="post", color="#999999", label="in force")
    marks = {ENGAGED: ("o", COLOURS[2]), REFUSED: ("x", COLOURS[1]), WAITING: ("|", COLOURS[4])}
    for outcome, (marker, colour) in marks.items():
        chosen = [event for event in events if event.outcome == outcome and event.request.coupling in rows]
        times, places = [event.t for event in chosen], [rows[event.request.coupling] for event in chosen]
        axis.plot(times, places, marker, color=colour, label=outcome, markersize=7)
    axis.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    label(axis, "", "coupling", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    engaged = [event for event in events if event.outcome == ENGAGED]
    axes[1, 0].step([0.0, *(event.t for event in engaged), walk.t[-1]],
                    [0.0, *np.cumsum([event.loss for event in engaged]), sum(event.loss for event in engaged)],
                    where="post", color=COLOURS[1])  # fmt: skip
    label(axes[1, 0], "", "lost in clutches [J]", legend=False)
    axes[2, 0].plot(walk.t, walk.base[:, 0], color=COLOURS[0])
    label(axes[2, 0], "time [s]", "way [m]", legend=False)
    return figure


def prices(t: np.ndarray, losses: dict[str, np.ndarray], impulses: dict[str, np.ndarray], shade: np.ndarray) -> Figure:
    """What engaging couplings would cost at every instant of a walk; shade: where all feet stand."""
    figure, axes = panels(2, title="The price of a clutch, by the moment it closes", size=(11.0, 7.5), sharex=True)
    for name, values in losses.items():
        if values.any():
            axes[0, 0].semilogy(t, values, label=name.replace("_", " "))
    for name, values in impulses.items():
        axes[1, 0].plot(t, values, label=name.replace("_", " "))
    for axis in axes[:, 0]:
        for begin, length in _spans(t, shade):
            axis.axvspan(begin, begin + length, color="#dddddd", linewidth=0, zorder=0)
    label(axes[0, 0], "", "energy lost [J]", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    label(axes[1, 0], "time [s]", "impulse [N m s]", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def on_a_plate(walks: dict[str, Walk]) -> Figure:
    """Roll, the legs that are braked, and the forces under the feet of frame A, of walks over the plate."""
    figure, axes = panels(3, title="A plate of 30 mm under the left feet", size=(12.0, 10.0), sharex=True)
    for k, (name, walk) in enumerate(walks.items()):
        axes[0, 0].plot(walk.t, 1e3 * walk.angles[:, 0], color=COLOURS[k], label=name)
        braked = [coupling.count("_") if coupling.startswith("braked") else 0 for coupling in walk.couplings]
        axes[1, 0].step(walk.t, braked, where="post", color=COLOURS[k], label=name, linewidth=1.3)
    axes[1, 0].set_yticks(range(4))
    walk = list(walks.values())[-1]
    for k, leg in enumerate(LEGS[:4]):
        axes[2, 0].plot(walk.t, walk.forces[:, k], color=COLOURS[k + 2], label=leg, linewidth=1.0)
    axes[2, 0].set_title(f"frame A, {list(walks)[-1]}")
    for row, what in enumerate(("roll [mrad]", "braked legs", "force [N]")):
        label(axes[row, 0], "time [s]" if row == 2 else "", what, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _spans(t: np.ndarray, holds: np.ndarray) -> list[tuple[float, float]]:
    """Begin and length of the times in which a condition (n,) holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    last = len(t) - 1
    return [(float(t[a]), float(t[min(b, last)] - t[a])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
