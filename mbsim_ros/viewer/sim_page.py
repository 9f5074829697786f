# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The page of a simulation that a Python program steps: the scene and panel of a live view, and what is asked there.

viser calls back from threads of its own: wishes wait until the program's thread does them, between two steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.viewer.page.controls import (
    PAUSE,
    RESET,
    RESUME,
    STEP,
    Controls,
    Couple,
    Push,
    PushPanel,
    Speed,
)
from mbsim_ros.viewer.page.dragging import Dragging
from mbsim_ros.viewer.page.link_reading import LinkReading
from mbsim_ros.viewer.page.markdown import plain
from mbsim_ros.viewer.page.shown_panel import ShownPanel
from mbsim_ros.viewer.scene.contact_scene import contacts_of
from mbsim_ros.viewer.scene.stage import Stage

if TYPE_CHECKING:
    from viser import ViserServer

    from mbsim_ros.sim.simulation import Simulation

CONTACTS, SLOW = 2, 6  # pictures between two looks at contacts, and at balance and words, which cost more than a robot
PUSH_LASTS = 100_000_000  # ns


class SimPage:
    """Draws a simulation and does to it what its users ask for.

    `factor` is the speed that they want, `is_paused` whether it is to stand still, but for so many `steps`.
    """

    def __init__(self, server: ViserServer, sim: Simulation, factor: float):
        self._sim, self._server = sim, server
        self.factor, self.is_paused, self.steps, self.pictures = factor, False, 0, 0
        self.stage = Stage(server, sim.model, sim.scene.ground, sim.q)
        in_force = sim.coupling.name  # which need not be one of the sidecar's
        self.controls = Controls(server, tuple(dict.fromkeys([in_force, *sim.couplings])) if sim.couplings else ())
        self.controls.show_speed(factor)
        self._clicked = server.gui.add_markdown("", visible=False)
        with server.gui.add_folder("push", expand_by_default=False):
            PushPanel(server, sim.model, self.controls)
        with server.gui.add_folder("shown", expand_by_default=False):
            ShownPanel(server, self.stage)
        for problem in self.stage.robot.problems:
            server.gui.add_markdown(f"⚠ {plain(problem)}")
        self._dragging, self._reading = Dragging(sim.model), LinkReading(sim.model.link_names)
        self.stage.robot.listen(self._on_click, self._dragging.on_event)
        server.on_client_disconnect(self._dragging.on_leave)
        self._rows = self.stage.place(sim.q)
        self._contacts, self._coupling = np.zeros((0, 3)), ""
        self._pushed: dict[str, int] = {}  # by link, until when [ns]
        self._time = sim.time

    def draw(self, speed: float | None, everything: bool) -> None:
        """Show the present state; speed: that it has now, if it moves."""
        sim, q = self._sim, self._sim.q
        self.pictures += 1
        with self._server.atomic():
            if sim.time < self._time and self.stage.trail is not None:
                self.stage.trail.clear()
            self._time = sim.time
            self._rows = self.stage.place(q)
            self.stage.add_to_trail(q)
            if everything or self.pictures % CONTACTS == 0:
                self._contacts, colours, tips = contacts_of(sim)
                self.stage.contacts.show(self._contacts, colours, tips)
            if everything or self.pictures % SLOW == 0:
                self._draw_slowly(q, speed)

    def do_what_is_asked(self, pace: float) -> None:
        """Act on the simulation, if somebody asked for something on a page; pace: simulated over real time."""
        pull = self._dragging.pull(self._sim.q, self._rows, self._sim.time, self.stage.origin, pace)
        if pull is not None:
            is_held = bool(pull.force.any() or pull.torque.any())
            self._sim.push(pull.link, pull.force if is_held else None, pull.torque if is_held else None)
        for link in [link for link, end in self._pushed.items() if self._sim.time >= end or self._sim.time == 0]:
            self._sim.push(link, None)
            del self._pushed[link]
        while self.controls.asked:
            try:
                self._do(self.controls.asked.popleft())
            except ValueError as error:
                self.controls.show_answer(plain(str(error)))

    def _do(self, asked: str | Push | Speed | Couple) -> None:
        if isinstance(asked, Push):
            R_WL = self._rows[self._sim.model.link_names.index(asked.link), :9].reshape(3, 3)
            self._sim.push(asked.link, asked.force * np.array(asked.direction) @ R_WL)
            self._pushed[asked.link] = self._sim.time + PUSH_LASTS
        elif isinstance(asked, Speed):
            self.factor = asked.factor
        elif isinstance(asked, Couple):
            self._sim.couple(asked.name)
        elif asked in (PAUSE, RESUME):
            self.is_paused = asked == PAUSE
            self.controls.show_paused(self.is_paused)
        elif asked == STEP:
            self.steps += 1
        elif asked == RESET:
            self._sim.reset()

    def _draw_slowly(self, q: np.ndarray, speed: float | None) -> None:
        sim = self._sim
        self.stage.show_balance(q, self._contacts)
        if sim.coupling.name != self._coupling and sim.couplings:
            self._coupling = sim.coupling.name
            self.stage.robot.show_coupling(self._coupling)
            self.controls.show_coupling(self._coupling)
        words = "" if speed is None else f" · ×{speed:.2f}"
        self.controls.show_status(f"**t = {sim.seconds:.2f} s**{words}")
        text = self._reading.read(self._rows, sim.time, None)
        if text != self._clicked.content:
            self._clicked.content, self._clicked.visible = text, bool(text)

    def _on_click(self, link: str, _: object) -> None:
        self._reading.link = None if self._reading.link == link else link
