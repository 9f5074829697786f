# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The web server that a browser connects to: viser on an address of this host."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import webbrowser
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mbsim_ros.viewer.page.panel_values import check_panel_values
from mbsim_ros.viewer.page.web_guard import WebGuard

if TYPE_CHECKING:
    from viser import ViserServer

LOOPBACK = "127.0.0.1"
PORT = 8080
WORLD = "/world/around"  # ground and trail are below this node of the scene: moving it follows a robot
# What is on the robot is not, as the robot is not: a browser may draw a node's new place before new arrays, and marks
# would be left behind by the way that the robot goes meanwhile.
MARKS = "/world/marks"
AMBIENT, SUN = 1.2, 2.7  # intensities in viser
SUN_FROM = (3.5, -4.5, 8.2)


class ViewerMissing(ModuleNotFoundError):
    """viser is not installed; the text says what to do."""


class ViewerNotGuarded(RuntimeError):
    """This viser works in another way than those known here, so that other sites could use the view."""


def open_server(
    host: str = LOOPBACK, port: int = PORT, title: str = "mbsim", host_names: Iterable[str] = ()
) -> ViserServer:
    """A server with an empty scene, z up; another port is taken where this one is in use. Raises ViewerMissing.

    host: the address to listen on. Anybody who can reach it can press the buttons, so it is loopback unless told
    otherwise. host_names: further names under which browsers may open it.
    """
    try:
        import viser
    except ModuleNotFoundError:
        raise ViewerMissing(
            "the web view needs the Python packages viser and trimesh: pip install viser trimesh"
        ) from None
    # A browser opens connections that it never uses; that is no error worth a traceback.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    guard = WebGuard(host, host_names)
    # its banner is not shown; who opens a server says so in one line
    with contextlib.redirect_stdout(io.StringIO()), guard.watching():
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    _guard_or_close(server, guard)
    server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
    server.gui.main_panel.dock_right()
    server.scene.add_frame(WORLD, show_axes=False)
    _light(server)
    return server


def _light(server: ViserServer) -> None:
    """Light from where it comes in our films, and from all around.

    Nothing else: viser's own surroundings are a picture that arrives later, or after a picture was taken.
    """
    scene = server.scene
    scene.configure_environment_map(None)
    scene.configure_default_lights(enabled=False)
    scene.add_light_ambient("/light/all_around", intensity=AMBIENT)
    scene.add_light_directional("/light/sun", intensity=SUN, cast_shadow=True, position=SUN_FROM)


def _guard_or_close(server: ViserServer, guard: WebGuard) -> None:
    """Use of viser's inside: where that has changed there is no view, rather than one that is open to other sites."""
    import viser

    try:
        check_panel_values(server)
        found = guard.is_in_place
    except (ImportError, AttributeError, AssertionError, ValueError):
        found = False
    if not found:
        close_server(server)
        raise ViewerNotGuarded(
            f"viser {viser.__version__} cannot be kept from other sites as 1.1 can: pip install 'viser>=1.1,<1.2'"
        )


def close_server(server: ViserServer) -> None:
    """End a server without its words about it."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def address(server: ViserServer) -> str:
    """What to type into a browser on this host."""
    host = server.get_host()
    return f"http://{'localhost' if host in ('0.0.0.0', '::', LOOPBACK) else host}:{server.get_port()}"


def open_browser(url: str) -> bool:
    """Open a page in the user's browser where there is a screen; returns whether one was asked to."""
    has_screen = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return bool(has_screen and webbrowser.open(url))
