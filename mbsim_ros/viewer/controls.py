# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The panel of a live view: buttons, a push, what is drawn. What a user asks for waits in a queue to be done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mbsim_ros.viewer.contact_scene import legend
from mbsim_ros.viewer.stage import Stage

if TYPE_CHECKING:
    from viser import ViserServer

DIRECTIONS = {
    "forward +x": (1.0, 0.0, 0.0),
    "back −x": (-1.0, 0.0, 0.0),
    "left +y": (0.0, 1.0, 0.0),
    "right −y": (0.0, -1.0, 0.0),
    "up +z": (0.0, 0.0, 1.0),
    "down −z": (0.0, 0.0, -1.0),
}
MOST_ASKED = 100  # wishes that wait; the newest stay
TRIGGERS = ("pause", "resume", "step", "reset")


@dataclass(frozen=True)
class Push:
    """A force [N] on a link, in a direction (3,) of the world."""

    link: str
    force: float
    direction: tuple[float, float, float]


class Controls:
    """Buttons of a live view. `asked` has the names of services to call and pushes, in the order they were wanted."""

    def __init__(self, server: ViserServer, stage: Stage):
        self.asked: deque[str | Push] = deque(maxlen=MOST_ASKED)
        self._stage = stage
        gui = server.gui
        self._status = gui.add_markdown("waiting for a state")
        for name in TRIGGERS:
            gui.add_button(name).on_click(partial(self._on_button, name))
        self._answer = gui.add_markdown("")
        with gui.add_folder("push"):
            links = stage.model.body_names or stage.model.link_names
            link = gui.add_dropdown("link", tuple(links), initial_value=links[0])
            towards = gui.add_dropdown("towards", tuple(DIRECTIONS), initial_value="left +y")
            most = _round(2.0 * max(9.81 * stage.model.mass, 1.0))
            force = gui.add_slider("force [N]", min=0.0, max=most, step=most / 100, initial_value=most / 4)
            gui.add_button("push").on_click(
                lambda _: self.asked.append(Push(link.value, float(force.value), DIRECTIONS[towards.value]))
            )
        with gui.add_folder("shown", expand_by_default=False):
            if stage.model.is_floating:
                follow = gui.add_checkbox("follow the robot", stage.follow)
                follow.on_update(lambda _: setattr(stage, "follow", follow.value))
            if stage.trail is not None:
                trail = gui.add_checkbox("trail of the base", True)
                trail.on_update(lambda _: setattr(stage.trail, "visible", trail.value))
            gui.add_html(legend())

    def _on_button(self, name: str, _: Any) -> None:
        self.asked.append(name)

    def show_status(self, text: str) -> None:
        """What the simulation does, as Markdown."""
        self._status.content = text

    def show_answer(self, text: str) -> None:
        """What the simulation answered to the last request, as Markdown."""
        self._answer.content = text


class ParameterPanel:
    """Sliders and fields for parameters of nodes that may change while they run."""

    def __init__(self, server: ViserServer) -> None:
        self._server = server
        self.asked: deque[tuple[str, str, Any]] = deque(maxlen=MOST_ASKED)  # node, parameter, value
        self._folders: dict[str, Any] = {}

    def add(self, node: str, name: str, value: float, lower: float, upper: float, about: str, whole: bool) -> Any:
        """A slider where the range is narrow enough to be of use, otherwise a field; returns its handle."""
        if node not in self._folders:
            self._folders[node] = self._server.gui.add_folder(f"parameters of {node}", expand_by_default=False)
        step = 1 if whole else None
        with self._folders[node]:
            if upper - lower <= WIDEST_SLIDER and lower <= value <= upper:
                handle: Any = self._server.gui.add_slider(
                    name, min=lower, max=upper, step=step or (upper - lower) / 200, initial_value=value, hint=about
                )
            else:
                handle = self._server.gui.add_number(
                    name, initial_value=value, min=lower, max=upper, step=step, hint=about
                )
        handle.on_update(lambda event: self.asked.append((node, name, event.target.value)))
        return handle


WIDEST_SLIDER = 200.0


def _round(value: float) -> float:
    """A value to one figure."""
    return float(f"{value:.0e}")
