# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Looking at a robot without simulating it: a slider for every joint, the initial states of its sidecar."""

from __future__ import annotations

import threading
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.contact.terrain import ground_of
from mbsim_ros.model.model import Model
from mbsim_ros.sim.initial_states import HOME, named_state, places_base
from mbsim_ros.sim.surroundings.standing import stand_on_floor
from mbsim_ros.viewer.page.markdown import plain
from mbsim_ros.viewer.page.shown_panel import ShownPanel
from mbsim_ros.viewer.scene.stage import Stage

if TYPE_CHECKING:
    from viser import GuiEvent, ViserServer

TURN, WAY = np.pi, 1.0  # ends of the sliders of joints without limits [rad, m]


class Looking:
    """A robot that is moved by hand. `q` (nq,) is where it is."""

    def __init__(self, server: ViserServer, model: Model, state: str = HOME, shown: Collection[str] = ()):
        """shown: names of `OVERLAYS` that are seen at first."""
        self.model, self.q = model, named_state(model, state)[0]
        ground = None if not model.is_floating else ground_of(None if model.sidecar is None else model.sidecar.terrain)
        self.stage = Stage(server, model, ground, self.q)
        if self._lift(state):
            self.stage = Stage(server, model, ground, self.q)
        self._lock = threading.Lock()  # viser calls back from threads of its own
        self._sliders: dict[int, Any] = {}
        server.gui.add_markdown(_words(model, self.stage.robot.problems))
        names = [HOME, *({} if model.sidecar is None else model.sidecar.initial_states)]
        chooser = server.gui.add_dropdown("state", tuple(dict.fromkeys(names)), initial_value=state)
        chooser.on_update(lambda _: self.go_to(chooser.value))
        with server.gui.add_folder("shown", expand_by_default=False):
            ShownPanel(server, self.stage, contacts=False, shown=shown)
        with server.gui.add_folder("joints"):
            for joint in model.joints:
                if joint.nv == 1 and joint.iv >= 0:
                    lower, upper = _ends(model, joint.iv, joint.type)
                    unit = "m" if joint.type == "prismatic" else "rad"
                    value = float(np.clip(self.q[joint.iq], lower, upper))
                    slider = server.gui.add_slider(
                        f"{joint.name} [{unit}]", min=lower, max=upper, step=(upper - lower) / 500, initial_value=value
                    )
                    slider.on_update(partial(self._on_slider, joint.iq))
                    self._sliders[joint.iq] = slider
        self._show()

    def go_to(self, state: str) -> None:
        """Show an initial state by its name."""
        with self._lock:
            self.q = named_state(self.model, state)[0]
            self._lift(state)
            values = self.q.copy()
        for place, slider in self._sliders.items():
            slider.value = float(np.clip(values[place], slider.min, slider.max))
        self._show()

    def _lift(self, state: str) -> bool:
        """Put a robot that nobody said where it stands on the ground; whether it was moved."""
        if not self.model.is_floating or places_base(self.model, state):
            return False
        self.q, scene = stand_on_floor(self.model, self.q)
        if scene.points is None:  # nothing of it can touch: then it stands by what is seen
            self.stage.place(self.q)
            self.q[2] -= self.stage.robot.bounds()[0][2]
        return True

    def _on_slider(self, place: int, event: GuiEvent) -> None:
        with self._lock:
            self.q[place] = event.target.value
        self._show()

    def _show(self) -> None:
        with self._lock:
            self.stage.place(self.q)
            self.stage.show_balance(self.q, np.zeros((0, 3)))


def _ends(model: Model, place: int, kind: str) -> tuple[float, float]:
    way = WAY if kind == "prismatic" else TURN
    lower, upper = float(model.lower[place]), float(model.upper[place])
    lower, upper = (max(lower, -2 * way), min(upper, 2 * way)) if np.isfinite([lower, upper]).all() else (-way, way)
    return (lower, upper) if upper > lower else (-way, way)


def _words(model: Model, problems: list[str]) -> str:
    base = "floating" if model.is_floating else "fixed"
    lines = [f"**{plain(model.name)}**: {model.nv} dofs, {base} base, {model.mass:.4g} kg"]
    return "\n\n".join([*lines, *(f"⚠ {plain(problem)}" for problem in problems)])
