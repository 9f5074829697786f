# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A recorded run in the scene: a slider moves through its time, a button plays it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.bags.history import History
from mbsim_ros.viewer.page.markdown import plain
from mbsim_ros.viewer.page.shown_panel import ShownPanel
from mbsim_ros.viewer.scene.contact_scene import WEIGHT_LENGTH, contacts_at
from mbsim_ros.viewer.scene.stage import Stage

if TYPE_CHECKING:
    from viser import ViserServer

MOST = 20_000  # instants that are kept
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")


class Playback:
    """Shows a run at a time; call `tick` often for it to play."""

    def __init__(self, server: ViserServer, history: History):
        self._server, self._history = server, history
        self._times = history.seconds - history.seconds[0]
        self._start = float(history.seconds[0])
        self.stage = Stage(server, history.model, history.sim.scene.ground, history.q[0])
        self._force_length = WEIGHT_LENGTH / max(9.81 * history.model.mass, 1e-9)
        self._coupling = ""
        self._row = -1
        self._lock = threading.Lock()  # viser calls back from threads of its own
        gui = server.gui
        self._words = gui.add_markdown("")
        end = max(float(self._times[-1]), 1e-3)
        self._slider: Any = gui.add_slider("time [s]", min=0.0, max=end, step=end / 1000, initial_value=0.0)
        self._slider.on_update(lambda _: self._on_slider())
        self._playing: Any = gui.add_checkbox("play", False)
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        with gui.add_folder("shown", expand_by_default=False):
            ShownPanel(server, self.stage)
        for note in (*history.notes, *self.stage.robot.problems):
            gui.add_markdown(f"⚠ {plain(note)}")
        self._now, self._ticked, self._by_hand = 0.0, time.monotonic(), True
        self.go_to(0.0)

    @property
    def row(self) -> int:
        """Place of the instant that is shown among those of the history."""
        return self._row

    def go_to(self, seconds: float) -> None:
        """Show the last instant that is not after a time since the start of the recording [s]."""
        self._now = float(np.clip(seconds, 0.0, self._times[-1]))
        row = int(np.searchsorted(self._times, self._now + 1e-9, side="right")) - 1
        with self._lock, self._server.atomic():
            if row != self._row:
                self._row = row
                self._show(row)

    def tick(self) -> None:
        """Go on by the time that has passed, if it plays."""
        passed, self._ticked = time.monotonic() - self._ticked, time.monotonic()
        if not self._playing.value:
            return
        ahead = self._now + passed * float(self._speed.value)
        if ahead >= self._times[-1]:
            ahead, self._playing.value = self._times[-1], False
        self.go_to(ahead)
        self._by_hand = False
        self._slider.value = self._now
        self._by_hand = True

    def _on_slider(self) -> None:
        if self._by_hand:
            self.go_to(float(self._slider.value))

    def _show(self, row: int) -> None:
        history, q = self._history, self._history.q[row]
        self.stage.place(q)
        touching, colours, tips = contacts_at(history, row, self._force_length)
        if history.contacts is not None:
            self.stage.contacts.show(touching, colours, tips)
        self.stage.show_balance(q, touching)
        if self.stage.trail is not None:
            first = max(0, row - 2000)
            self.stage.trail.show(history.q[first : row + 1 : max(1, (row - first) // 200), :3])
        if history.coupling[row] != self._coupling:
            self._coupling = history.coupling[row]
            self.stage.robot.show_coupling(self._coupling)
        said = f" · coupling **{plain(self._coupling)}**" if self._coupling else ""
        self._words.content = f"**t = {self._start + self._times[row]:.3f} s**{said}"
