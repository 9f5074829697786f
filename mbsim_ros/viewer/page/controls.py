# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The panel of a live view: what runs it, and a push. What a user asks for waits in a queue to be done."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mbsim_ros.model.model import Model
from mbsim_ros.viewer.page.panel_values import when_changed_by_hand

if TYPE_CHECKING:
    from viser import GuiFolderHandle, GuiNumberHandle, GuiSliderHandle

    NumberHandle = GuiSliderHandle[float] | GuiNumberHandle[float]
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
PAUSE, RESUME, STEP, RESET = TRIGGERS = ("pause", "resume", "step", "reset")
PLAY = "play"  # on the button that resumes
FULL_SPEED = "full"
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5", FULL_SPEED)
WIDEST_SLIDER = 200.0
HELP = """**space** pause, play · **→** step · **backspace** reset

drag a link to pull it · click one to read it

drag beside the robot to turn the view, with the right button to move it, wheel to come nearer"""


@dataclass(frozen=True)
class Push:
    """A force [N] on a link, in a direction (3,) of the world."""

    link: str
    force: float
    direction: tuple[float, float, float]


@dataclass(frozen=True)
class Speed:
    """Simulated over real time; 0: as fast as possible."""

    factor: float


@dataclass(frozen=True)
class Couple:
    """Another coupling of the sidecar."""

    name: str


class Controls:
    """Buttons and keys of a live view. `asked` has what was wanted, in that order: names of services, and the classes
    above."""

    def __init__(self, server: ViserServer, couplings: Sequence[str] = ()):
        self.asked: deque[str | Push | Speed | Couple] = deque(maxlen=MOST_ASKED)
        self.is_paused = False
        gui: Any = server.gui
        self._status = gui.add_markdown("waiting for a state")
        self._play: Any = gui.add_button(PAUSE, icon="player-pause", hint="space")
        self._play.on_click(lambda _: self.toggle())
        self._speed: Any = gui.add_dropdown("speed", SPEEDS, initial_value="1", hint="simulated over real time")
        when_changed_by_hand(self._speed, self._ask_speed)
        others = gui.add_button_group("time", (STEP, RESET), hint="→ and backspace")
        others.on_click(lambda event: self.ask(event.target.value))
        self._coupling: Any = None
        if couplings:
            self._coupling = gui.add_dropdown("coupling", tuple(couplings), initial_value=couplings[0])
            when_changed_by_hand(self._coupling, lambda name: self.asked.append(Couple(name)))
        self._answer = gui.add_markdown("")
        self._add_keys(gui)

    def toggle(self) -> None:
        """Pause, or go on."""
        self.ask(RESUME if self.is_paused else PAUSE)

    def ask(self, what: str) -> None:
        """Ask for a service. A step of what runs is a pause: then one sees where it is."""
        self.asked.append(PAUSE if what == STEP and not self.is_paused else what)

    def show_paused(self, is_paused: bool) -> None:
        """Whether time stands still: the button then says how to go on."""
        if is_paused != self.is_paused:
            self.is_paused = is_paused
            self._play.label = PLAY if is_paused else PAUSE
            self._play.icon = "player-play" if is_paused else "player-pause"

    def show_speed(self, factor: float) -> None:
        """The speed that is wanted of the simulation; 0: as fast as possible."""
        word = FULL_SPEED if factor == 0.0 else f"{factor:g}"
        if word not in self._speed.options:
            self._speed.options = (*self._speed.options, word)
        self._speed.value = word

    def show_coupling(self, name: str) -> None:
        """The coupling in force."""
        if self._coupling is not None and name in self._coupling.options and name != self._coupling.value:
            self._coupling.value = name

    def show_status(self, text: str) -> None:
        """What the simulation does, as Markdown."""
        if text != self._status.content:
            self._status.content = text

    def show_answer(self, text: str) -> None:
        """What the simulation answered to the last request, as Markdown."""
        self._answer.content = text

    def _ask_speed(self, word: str) -> None:
        self.asked.append(Speed(0.0 if word == FULL_SPEED else float(word)))

    def _add_keys(self, gui: Any) -> None:
        for label, key, act in (
            ("pause / play", "space", self.toggle),
            ("step", "arrowright", lambda: self.ask(STEP)),
            ("reset", "backspace", lambda: self.ask(RESET)),
        ):
            gui.add_command(label, hotkey=key).on_trigger(lambda _, act=act: act())


class PushPanel:
    """A push of a link that is chosen by name, in an axis of the world."""

    def __init__(self, server: ViserServer, model: Model, controls: Controls):
        gui = server.gui
        links = model.body_names or model.link_names
        link = gui.add_dropdown("link", tuple(links), initial_value=links[0])
        towards = gui.add_dropdown("towards", tuple(DIRECTIONS), initial_value="left +y")
        most = _round(2.0 * max(9.81 * model.mass, 1.0))
        force = gui.add_slider("force [N]", min=0.0, max=most, step=most / 100, initial_value=most / 4)
        gui.add_button("push").on_click(
            lambda _: controls.asked.append(Push(link.value, float(force.value), DIRECTIONS[towards.value]))
        )


class ParameterPanel:
    """Sliders and fields for parameters of nodes that may change while they run."""

    def __init__(self, server: ViserServer) -> None:
        self._server = server
        self.asked: deque[tuple[str, str, float]] = deque(maxlen=MOST_ASKED)  # node, parameter, value
        self._folders: dict[str, GuiFolderHandle] = {}

    def add(
        self, node: str, name: str, value: float, lower: float, upper: float, about: str, whole: bool
    ) -> NumberHandle:
        """A slider where the range is narrow enough to be of use, otherwise a field; returns its handle."""
        if node not in self._folders:
            self._folders[node] = self._server.gui.add_folder(f"parameters of {node}", expand_by_default=False)
        step = 1 if whole else None
        with self._folders[node]:
            if upper - lower <= WIDEST_SLIDER and lower <= value <= upper:
                handle: NumberHandle = self._server.gui.add_slider(
                    name, min=lower, max=upper, step=step or (upper - lower) / 200, initial_value=value, hint=about
                )
            else:
                handle = self._server.gui.add_number(
                    name, initial_value=value, min=lower, max=upper, step=step, hint=about
                )
        handle.on_update(lambda event: self.asked.append((node, name, event.target.value)))
        return handle


def _round(value: float) -> float:
    """A value to one figure."""
    return float(f"{value:.0e}")
