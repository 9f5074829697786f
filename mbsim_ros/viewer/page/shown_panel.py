# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Which parts of a scene are shown: a box to tick for each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from mbsim_ros.viewer.scene.contact_scene import legend
from mbsim_ros.viewer.scene.overlay_scene import OVERLAYS, SEEN_THROUGH
from mbsim_ros.viewer.scene.stage import Stage

if TYPE_CHECKING:
    from viser import GuiApi, ViserServer


class ShownPanel:
    """Boxes to tick. contacts: whether the view knows of contacts; shown: overlays that are ticked at first."""

    def __init__(self, server: ViserServer, stage: Stage, *, contacts: bool = True, shown: Collection[str] = ()):
        gui = server.gui
        if stage.model.is_floating:
            _box(gui, "follow the robot", stage.follow, stage.set_follow)
        if stage.trail is not None:
            _box(gui, "trail of the base", True, partial(setattr, stage.trail, "visible"))
        if stage.balance is not None:
            _box(gui, "centre of mass, support", True, partial(setattr, stage.balance, "visible"))
        if contacts:
            _box(gui, "contact forces", True, partial(setattr, stage.contacts, "visible"))
        for name in OVERLAYS:
            _box(gui, name, name in shown, partial(stage.show_overlay, name))
        first = SEEN_THROUGH if shown else 1.0  # most of them are inside of the robot
        opacity = gui.add_slider("opacity", min=0.0, max=1.0, step=0.05, initial_value=first, hint="of the robot")
        opacity.on_update(lambda _: stage.robot.show(opacity.value > 0.0, opacity.value))
        for name in shown:
            stage.show_overlay(name, True)
        if shown:
            stage.robot.show(True, first)
        if contacts:
            gui.add_html(legend())


def _box(gui: GuiApi, label: str, initial: bool, act: Callable[[bool], None]) -> None:
    box = gui.add_checkbox(label, initial)
    box.on_update(lambda _: act(box.value))
