# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Look at a robot, a recording or a running simulation in a web browser.

FILE is a .urdf or .xacro, or a name of `mbsim robots` (sliders move its joints), or a recording (a slider moves through
time). Without FILE but with --namespace the simulation that runs there is shown, with buttons to pause, step, reset and
push it. With neither, the page lets you choose a robot and a controller, and starts and ends their simulation.
The page is for this host alone unless --host says otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mbsim_ros.cli.parts.network import add_network_option, become_environment_of_node, open_if_asked
from mbsim_ros.cli.parts.package_option import add_package_option
from mbsim_ros.launcher.errors import LaunchError, SubstitutionError
from mbsim_ros.viewer.page.web_server import (
    LOOPBACK,
    PORT,
    ViewerMissing,
    address,
    close_server,
    open_browser,
    open_server,
)

if TYPE_CHECKING:
    from viser import ViserServer

LONGEST_FILM = 60.0  # s
SHOWN = {
    "collision": "collision shapes", "frames": "link frames", "axes": "joint axes", "inertia": "inertia",
    "points": "points that can touch",
}  # fmt: skip
FRAME = 1 / 30  # s of wall time between two pictures


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim view``."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=".urdf, .xacro, folder of a recording, or .mcap")
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on (%(default)s)")
    parser.add_argument(
        "--host-names", default="", metavar="NAMES",
        help="names, with commas, by which browsers may open the page besides localhost and addresses",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=PORT, help="port to listen on, or the next that is free (%(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="say the address, and open no browser")
    parser.add_argument("--namespace", metavar="NAME", help="of the robot that runs, / for none, or in the recording")
    parser.add_argument("--base", choices=("auto", "floating", "fixed"), default="auto", help="what its root is (auto)")
    parser.add_argument("--state", default="home", metavar="NAME", help="initial state of a URDF to show (%(default)s)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a PNG file by a headless Chromium, and end")
    parser.add_argument("--film", type=Path, metavar="FILE", help="write a recording as a GIF file, and end")
    parser.add_argument("--seconds", type=float, default=3.2, help="of the film (%(default)s)")
    parser.add_argument("--closed", action="store_true", help="end the film where the robot is as at its start")
    parser.add_argument("--at", type=float, metavar="SECONDS", help="time in a recording to show first (0)")
    parser.add_argument("--size", default="960x600", metavar="WxH", help="pixels of the picture (%(default)s)")
    parser.add_argument(
        "--show", nargs="+", choices=tuple(SHOWN), default=[], metavar="WHAT",
        help=f"of a URDF, to lay over it at first: {', '.join(SHOWN)}",
    )  # fmt: skip
    add_package_option(parser)
    add_network_option(parser)
    options = parser.parse_args(arguments)
    open_if_asked(options)
    if options.file is None:
        if options.picture or options.film:
            parser.error("--picture and --film need a FILE; of a simulation that runs, record it first")
        if options.namespace is not None:
            return _live(parser, options)
    try:
        return _film(options) if options.film else _show(options)
    except (ViewerMissing, LaunchError, SubstitutionError, ValueError, RuntimeError, OSError) as error:
        print(f"mbsim view: {error}", file=sys.stderr)
        return 2


def _show(options: argparse.Namespace) -> int:
    size = _pixels(options.size)
    title = f"mbsim view {Path(options.file or '').name}"
    server = open_server(options.host, options.port, title, options.host_names.split(","))
    with contextlib.ExitStack() as at_the_end:
        at_the_end.callback(close_server, server)
        tick = _choose(server, at_the_end) if options.file is None else _fill(server, options)
        if options.picture:
            from mbsim_ros.viewer.drawing.picture import take_picture

            take_picture(server, options.picture, size)
            print(f"{options.picture}: {size[0]} x {size[1]} pixels")
            return 0
        print(f"open {address(server)} in a browser; Ctrl-C ends it", flush=True)
        if not options.no_browser:
            open_browser(address(server))
        while True:
            tick()
            time.sleep(FRAME)


def _film(options: argparse.Namespace) -> int:
    from mbsim_ros.bags.history import read_history
    from mbsim_ros.viewer.drawing.film import write_film

    def progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {of} pictures", end="" if done < of else "\n", file=sys.stderr, flush=True)

    if options.film.suffix != ".gif":
        raise ValueError(f"--film: expected a file that ends with .gif, got '{options.film}'")
    if not 0.0 < options.seconds <= LONGEST_FILM:
        raise ValueError(f"--seconds: expected 0 … {LONGEST_FILM:g}, got {options.seconds:g}")
    size = _pixels(options.size)
    history = read_history(options.file, options.namespace or "", package_dirs=options.package_dir)
    seconds = write_film(
        options.film, history, options.at or 0.0, options.seconds, size, closed=options.closed, progress=progress
    )
    print(f"{options.film}: {seconds:.2f} s, {size[0]} x {size[1]} pixels, {options.film.stat().st_size / 1e6:.1f} MB")
    return 0


def _choose(server: ViserServer, at_the_end: contextlib.ExitStack) -> Callable[[], None]:
    """Let the user choose what runs; it ends with this process."""
    from mbsim_ros.viewer.page.chooser import Chooser

    chooser = Chooser(server)
    at_the_end.callback(chooser.close)
    return chooser.tick


def _fill(server: ViserServer, options: argparse.Namespace) -> Callable[[], None]:
    """Put a recording or a robot into the scene; returns what is to be called at every picture."""
    file = Path(options.file)
    if file.is_dir() or file.suffix == ".mcap":
        from mbsim_ros.bags.history import read_history
        from mbsim_ros.viewer.playback import MOST, Playback

        playback = Playback(server, read_history(file, options.namespace or "", MOST, options.package_dir))
        playback.go_to(options.at or 0.0)
        return playback.tick
    from mbsim_ros.model.loading import load_urdf
    from mbsim_ros.viewer.looking import Looking

    shown = [SHOWN[what] for what in options.show]
    Looking(server, load_urdf(file, options.base, package_dirs=options.package_dir), options.state, shown)
    return lambda: None  # its sliders call back by themselves


def _live(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Hand this process over to the viewer node."""
    become_environment_of_node(parser)
    given = {
        "host": options.host,
        "host_names": options.host_names,
        "port": options.port,
        "open_browser": not options.no_browser,
    }
    words = [part for name, value in given.items() for part in ("-p", f"{name}:={json.dumps(value)}")]
    space = options.namespace.strip("/")
    words += ["-r", f"__ns:=/{space}"] if space else []
    return os.execv(sys.executable, [sys.executable, "-m", "mbsim_ros.nodes.viewer.node", "--ros-args", *words])


def _pixels(text: str) -> tuple[int, int]:
    try:
        width, height = map(int, text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--size: expected WIDTHxHEIGHT in pixels, such as 960x600, got '{text}'") from None
    if not (16 <= width <= 8000 and 16 <= height <= 8000):
        raise ValueError(f"--size: expected 16 to 8000 pixels each way, got '{text}'")
    return width, height
