# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What the viewer node shows of one robot: the scene, the panel beside it, and what of the messages has been drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.terrain import Ground
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.viewer.contacts import read_contacts
from mbsim_ros.nodes.viewer.states import ViewerStates
from mbsim_ros.nodes.viewer.topics import ViewerTopics
from mbsim_ros.viewer.drawing.shapes import missing_meshes
from mbsim_ros.viewer.page.controls import HELP, Controls, ParameterPanel, Push, PushPanel
from mbsim_ros.viewer.page.dragging import Dragging, Pull
from mbsim_ros.viewer.page.link_reading import LinkReading
from mbsim_ros.viewer.page.live_plots import JointPlot, LedgerPlots, LyapunovPlot
from mbsim_ros.viewer.page.markdown import plain
from mbsim_ros.viewer.page.rewind import Contacts, Instant, Rewind
from mbsim_ros.viewer.page.shown_panel import ShownPanel
from mbsim_ros.viewer.scene.stage import Stage

if TYPE_CHECKING:
    from viser import ViserServer

CONTACTS = 2  # pictures between two looks at contacts
SLOW = 6  # pictures between two looks at slow topics, balance and words, which cost more than all the others
RESET_GAP = SECOND // 2  # ns that a stamp jumps at a reset
FIRST_STATE = 1.0  # s of wall time: the last state is kept for those who come later
# s of wall time. States come as often as pictures are drawn, by another clock: where one is a little late, a picture
# would go without any, and the next find two.
LATE = 0.01
NONE: Contacts = (np.zeros((0, 3)), np.zeros((0, 3), np.uint8), np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class ShownRobot:
    """What is shown: robot, ground, q (nq,) at first, prefix of its frames' names, and the friction of what touches.

    friction is None for a robot that touches nothing.
    """

    model: Model
    ground: Ground | None
    q: np.ndarray
    frame_prefix: str = ""
    friction: float | None = None


class Show:
    """The scene of one robot, and what of it has been drawn."""

    def __init__(self, server: ViserServer, topics: ViewerTopics, robot: ShownRobot):
        model, q = robot.model, robot.q
        self._topics, self.frame_prefix = topics, robot.frame_prefix
        self.states = ViewerStates(model, q, topics)
        self.states.wait(FIRST_STATE)  # for the camera to look where the robot is
        q = self.states.q
        self.stage = Stage(server, model, robot.ground, q)
        self.dragging = Dragging(model)
        server.on_client_disconnect(self.dragging.on_leave)
        self._reading = LinkReading(model.link_names)
        # Without couplings of its own a robot has one all the same, in which every joint is by itself.
        self._couplings = () if model.sidecar is None else tuple(model.sidecar.couplings)
        self.controls = Controls(server, self._couplings)
        self._rewind = Rewind(server)
        for problem in (missing_meshes(model), *self.stage.robot.problems):
            if problem:
                server.gui.add_markdown(f"⚠ {plain(problem)}")
        self._clicked = server.gui.add_markdown("", visible=False)
        with server.gui.add_folder("push", expand_by_default=False):
            PushPanel(server, model, self.controls)
        with server.gui.add_folder("shown", expand_by_default=False):
            ShownPanel(server, self.stage)
        with server.gui.add_folder("joints", expand_by_default=False):
            self._joints = JointPlot(server, model)
        with server.gui.add_folder("measured", expand_by_default=False):
            self._plots = LedgerPlots(server)
            self._lyapunov = LyapunovPlot(server)
        with server.gui.add_folder("keys and mouse", expand_by_default=False):
            server.gui.add_markdown(HELP)
        self.panel = ParameterPanel(server)
        is_simulated = topics.setup is not None
        self.stage.robot.listen(self._on_click, self.dragging.on_event if is_simulated else None)
        self._rows = self.stage.place(q)
        self._count = 0
        self._has_state = self._has_contacts = False  # since the last picture
        self._contacts = NONE
        self._drawn: Instant | None = None  # of those looked back at
        self._coupling: str | None = None
        self._pace = 1.0
        self._words = ""

    def take(self) -> None:
        """Take what has come; while states come one after the other, one that is late is waited for."""
        self._count += 1
        contacts = self._topics.take("contacts") if self._count % CONTACTS == 0 else None
        self._has_contacts = contacts is not None
        if contacts is not None:
            self._contacts = read_contacts(contacts)
        last = self.states.stamp
        self._has_state = self.states.wait(LATE if self._has_state else 0.0)
        if self._has_state:
            if not last <= self.states.stamp < last + RESET_GAP:
                self._restart()
            self._rewind.keep(Instant(self.states.stamp, self.states.q.copy(), self._contacts))

    def draw(self) -> None:
        """Show what was taken, or what is looked back at."""
        looked_back = self._rewind.shown
        if looked_back is not None:
            if looked_back is not self._drawn:
                self._rows = self.stage.place(looked_back.q)
                self.stage.contacts.show(*looked_back.contacts)
        else:
            is_back = self._drawn is not None
            if self._has_state or is_back:
                self._rows = self.stage.place(self.states.q)
                self.stage.add_to_trail(self.states.q)
            if self._has_contacts or is_back:
                self.stage.contacts.show(*self._contacts)
        self._drawn = looked_back
        if self._count % SLOW == 0:
            self._draw_slowly(self._topics)

    def pull(self) -> Pull | None:
        """What the mouse does to a link from now on, if that is anything else than before."""
        if self._rewind.shown is not None:
            return None
        return self.dragging.pull(self.states.q, self._rows, self.states.stamp, self.stage.origin, self._pace)

    def in_link(self, push: Push) -> np.ndarray:
        """The force (3,) of a push in the axes of its link."""
        R_WL = self._rows[self.stage.model.link_names.index(push.link), :9].reshape(3, 3)
        return push.force * np.array(push.direction) @ R_WL  # type: ignore[no-any-return]

    def _draw_slowly(self, topics: ViewerTopics) -> None:
        instant = self._rewind.shown or Instant(self.states.stamp, self.states.q, self._contacts)
        self.stage.show_balance(instant.q, instant.contacts[0])
        self._joints.draw(self._rewind.instants)
        if self._couplings and topics.coupling is not None and topics.coupling != self._coupling:
            self._coupling = topics.coupling
            self.stage.robot.show_coupling(self._coupling)
            self.controls.show_coupling(self._coupling)
        found = topics.diagnostics
        if found is not None:
            topics.diagnostics = None
            self._take_diagnostics(found)
        if topics.lyapunov is not None:
            self._lyapunov.add(self.states.stamp / SECOND, topics.lyapunov)
            topics.lyapunov = None
        coupling = f"\n\ncoupling **{plain(self._coupling)}** · red: braked, light blue: free" if self._coupling else ""
        back = "" if self._rewind.shown is None else " · **looking back**"
        self.controls.show_status(f"**t = {instant.stamp / SECOND:.2f} s**{self._words}{back}{coupling}")
        self._read_link(instant.stamp)

    def _take_diagnostics(self, found: dict[str, str]) -> None:
        factor = _number(found, "real time factor")
        self._pace = factor if np.isfinite(factor) else 1.0
        self._words = f" · ×{factor:.2f} · {plain(found[''])}"
        if "paused" in found:
            self.controls.show_paused(found["paused"] == "True")
        prefix = "ledger "
        ledger = {
            key.removeprefix(prefix).removesuffix(" [J]"): _number(found, key)
            for key in found if key.startswith(prefix)
        }  # fmt: skip
        self._plots.add(_number(found, "time [s]"), factor, ledger)

    def _on_click(self, link: str, _: object) -> None:
        self._reading.link = None if self._reading.link == link else link

    def _read_link(self, stamp: int) -> None:
        link = self._reading.link
        self._topics.watch_wrench(link)
        text = self._reading.read(self._rows, stamp, None if self._rewind.shown else self._topics.wrench)
        if text != self._clicked.content:
            self._clicked.content, self._clicked.visible = text, bool(text)

    def _restart(self) -> None:
        self._plots.restart()
        if self.stage.trail is not None:
            self.stage.trail.clear()


def _number(found: dict[str, str], key: str) -> float:
    try:
        return float(found[key])
    except (KeyError, ValueError):
        return float("nan")
