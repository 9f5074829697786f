# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Plots beside the scene that grow while a simulation runs: joints, real-time factor and energy ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.model.model import Model
from mbsim_ros.sim.ledger import LOSSES
from mbsim_ros.viewer.page.rewind import SECOND, Instant

if TYPE_CHECKING:
    from viser import ViserServer
    from viser.uplot import Axis, Series

LENGTH = 300  # values that a plot holds
NO_JOINT, POSITION, VELOCITY = "none", "position", "velocity"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")


class LivePlot:
    """Lines over time; the oldest values go when there are LENGTH."""

    def __init__(self, server: ViserServer, title: str, names: tuple[str, ...], unit: str, height: int = 190):
        series: list[Series] = [{"label": "t [s]"}]
        series += [{"label": name, "stroke": COLOURS[k], "width": 2} for k, name in enumerate(names)]
        axes: tuple[Axis, ...] = (
            {"label": "simulated time [s]", "labelSize": 20},
            {"label": unit, "labelSize": 20, "size": 60},
        )
        self._values = np.zeros((0, 1 + len(names)))
        start = tuple(np.zeros(1) for _ in range(1 + len(names)))
        self._plot = server.gui.add_uplot(
            data=start, series=tuple(series), title=title, height=height, axes=axes,
            scales={"x": {"time": False}}, legend={"show": len(names) > 1},
        )  # fmt: skip

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return bool(self._plot.visible)

    @visible.setter
    def visible(self, wanted: bool) -> None:
        if self._plot.visible != wanted:
            self._plot.visible = wanted

    def add(self, time: float, *values: float) -> None:
        """Go on to a time [s]; one that is not later than the last begins the plot anew."""
        if len(self._values) and time <= self._values[-1, 0]:
            if time == self._values[-1, 0]:
                return
            self._values = self._values[:0]
        self._values = np.concatenate([self._values[-(LENGTH - 1) :], [[time, *values]]])
        self._plot.data = tuple(np.ascontiguousarray(column) for column in self._values.T)


class LedgerPlots:
    """Real-time factor and where the energy goes."""

    def __init__(self, server: ViserServer):
        self._speed = LivePlot(server, "Real-time factor", ("factor",), "sim / real", height=150)
        names = ("kinetic", "potential", "actuators", "lost", "left over")
        self._energy = LivePlot(server, "Energy since the start", names, "J", height=240)
        self._potential: float | None = None

    def add(self, time: float, factor: float | None, ledger: Mapping[str, float]) -> None:
        """One more value at a time [s]; ledger: entries as `Ledger` has them; potential counts from its first value."""
        if factor is not None and np.isfinite(factor):
            self._speed.add(time, factor)
        if {"kinetic", "potential", "residue"} <= ledger.keys():
            if self._potential is None:
                self._potential = ledger["potential"]
            lost = sum(ledger.get(name, 0.0) for name in LOSSES)
            self._energy.add(
                time, ledger["kinetic"], ledger["potential"] - self._potential, ledger.get("actuator_work", 0.0), lost,
                ledger["residue"],
            )  # fmt: skip

    def restart(self) -> None:
        """Measure the potential energy from the next value on."""
        self._potential = None


class LyapunovPlot:
    """v of a controller that has a Lyapunov function; it is there from its first value on."""

    def __init__(self, server: ViserServer):
        self._plot = LivePlot(server, "Lyapunov function v", ("v",), "J")
        self._plot.visible = False

    def add(self, time: float, v: float) -> None:
        """One more value [J] at a time [s]."""
        self._plot.visible = True
        self._plot.add(time, v)


class JointPlot:
    """Position or velocity of the joint that is chosen, over the instants that a view keeps."""

    def __init__(self, server: ViserServer, model: Model):
        self._places = {joint.name: joint.iq for joint in model.joints if joint.nv == 1 and joint.iq >= 0}
        if not self._places:
            return
        gui = server.gui
        units = {joint.name: "m" if joint.type == "prismatic" else "rad" for joint in model.joints}
        self._units = units
        self._joint = gui.add_dropdown("joint", (NO_JOINT, *self._places), initial_value=NO_JOINT)
        self._quantity = gui.add_dropdown("shows", (POSITION, VELOCITY), initial_value=POSITION)
        axes: tuple[Axis, ...] = ({"label": "simulated time [s]", "labelSize": 20}, {"size": 60})
        series: tuple[Series, ...] = ({"label": "t [s]"}, {"label": "value", "stroke": COLOURS[0], "width": 2})
        self._plot = gui.add_uplot(
            data=(np.zeros(1), np.zeros(1)), series=series, height=190, axes=axes, scales={"x": {"time": False}},
            legend={"show": False}, visible=False,
        )  # fmt: skip

    def draw(self, instants: Sequence[Instant]) -> None:
        """Show the instants, the oldest first."""
        if not self._places or len(instants) < 2:
            return
        name, quantity = self._joint.value, self._quantity.value
        if name == NO_JOINT:
            self._plot.visible = False
            return
        times = np.array([instant.stamp for instant in instants]) / SECOND
        values = np.array([instant.q[self._places[name]] for instant in instants])
        if quantity == VELOCITY:
            values, times = np.diff(values) / np.maximum(np.diff(times), 1e-9), times[1:]
        unit = self._units[name] + ("/s" if quantity == VELOCITY else "")
        self._plot.title = f"{name} [{unit}]"
        self._plot.data = (times, values)
        self._plot.visible = True
