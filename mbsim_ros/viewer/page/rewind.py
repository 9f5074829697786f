# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""The last seconds of a live view, to look at again: a slider goes back, a button goes on to what happens now.

The simulation goes on meanwhile, and what it does is kept as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.viewer.page.panel_values import when_changed_by_hand

if TYPE_CHECKING:
    from viser import ViserServer

LENGTH = 20.0  # s of simulated time
MOST = 3000  # instants, of a simulation that runs slowly
SECOND = 1e9  # ns
Contacts = tuple[np.ndarray, np.ndarray, np.ndarray]  # as `ContactScene.show` takes them


@dataclass(frozen=True, eq=False)
class Instant:
    """What was to be seen at a stamp [ns]: q (nq,) and the contacts."""

    stamp: int
    q: np.ndarray
    contacts: Contacts


class Rewind:
    """Keeps instants. `shown` is the one that was chosen, None for what happens now."""

    def __init__(self, server: ViserServer):
        self._instants: deque[Instant] = deque(maxlen=MOST)
        self._frozen: Sequence[Instant] = ()  # what the slider goes through: it does not run away under the hand
        self.shown: Instant | None = None
        slider: Any = server.gui.add_slider(
            "look back [s]", min=-LENGTH, max=0.0, step=0.02, initial_value=0.0, hint="the simulation goes on meanwhile"
        )
        when_changed_by_hand(slider, self._go_to)
        self._live = server.gui.add_button("back to now", visible=False)
        self._live.on_click(lambda _: self.go_live())
        self._slider = slider

    def keep(self, instant: Instant) -> None:
        """Keep one more; one that does not follow the last begins anew."""
        if self._instants and not 0 <= instant.stamp - self._instants[-1].stamp < SECOND / 2:
            self._instants.clear()
        self._instants.append(instant)
        while self._instants[-1].stamp - self._instants[0].stamp > LENGTH * SECOND:
            self._instants.popleft()

    @property
    def instants(self) -> list[Instant]:
        """All that is kept, the oldest first."""
        return list(self._instants)

    def go_live(self) -> None:
        """Show what happens now."""
        self.shown, self._frozen = None, ()
        self._slider.value = 0.0
        self._live.visible = False

    def _go_to(self, seconds: float) -> None:
        """Show what was so many seconds before the moment in which one began to look back; 0 is now."""
        if seconds >= 0.0:
            self.go_live()
            return
        self._frozen = self._frozen or self.instants
        if self._frozen:
            wanted = self._frozen[-1].stamp + seconds * SECOND
            self.shown = min(self._frozen, key=lambda instant: abs(instant.stamp - wanted))
            self._live.visible = True
