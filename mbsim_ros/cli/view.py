"""Look at a robot, a recording or a running simulation in a web browser.

FILE is a .urdf or .xacro (sliders move its joints) or a recording (a slider moves through time). Without FILE the
simulation that runs in the namespace given is shown, with buttons to pause, step, reset and push it.
The page is for this host alone unless --host says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mbsim_ros.launcher.plan import DISCOVERY_RANGE
from mbsim_ros.viewer.web_server import LOOPBACK, PORT, ViewerMissing, address, close_server, open_browser, open_server

FRAME = 1 / 30  # s of wall time between two pictures


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim view``."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=".urdf, .xacro, folder of a recording, or .mcap")
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on (%(default)s)")
    parser.add_argument(
        "--port", type=int, default=PORT, help="port to listen on, or the next that is free (%(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="say the address, and open no browser")
    parser.add_argument("--namespace", default="", metavar="NAME", help="of the robot that runs, or in the recording")
    parser.add_argument("--state", default="home", metavar="NAME", help="initial state of a URDF to show (%(default)s)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a PNG file by a headless Chromium, and end")
    parser.add_argument("--at", type=float, metavar="SECONDS", help="time in a recording to show first (0)")
    parser.add_argument("--size", default="960x600", metavar="WxH", help="pixels of the picture (%(default)s)")
    options = parser.parse_args(arguments)
    if options.file is None:
        if options.picture:
            parser.error("--picture needs a FILE; of a simulation that runs, record it first")
        return _live(options)
    try:
        return _show(options)
    except (ViewerMissing, ValueError, RuntimeError, OSError) as error:
        print(f"mbsim view: {error}", file=sys.stderr)
        return 2


def _show(options: argparse.Namespace) -> int:
    size = _pixels(options.size)
    server = open_server(options.host, options.port, f"mbsim view {Path(options.file).name}")
    try:
        tick = _fill(server, options)
        if options.picture:
            from mbsim_ros.viewer.picture import take_picture

            take_picture(server, options.picture, size)
            print(f"{options.picture}: {size[0]} x {size[1]} pixels")
            return 0
        print(f"open {address(server)} in a browser; Ctrl-C ends it", flush=True)
        if not options.no_browser:
            open_browser(address(server))
        while True:
            tick()
            time.sleep(FRAME)
    finally:
        close_server(server)


def _fill(server: Any, options: argparse.Namespace) -> Callable[[], None]:
    """Put a recording or a robot into the scene; returns what is to be called at every picture."""
    file = Path(options.file)
    if file.is_dir() or file.suffix == ".mcap":
        from mbsim_ros.bags.history import read_history
        from mbsim_ros.viewer.playback import MOST, Playback

        playback = Playback(server, read_history(file, options.namespace, MOST))
        playback.go_to(options.at or 0.0)
        return playback.tick
    from mbsim_ros.model.loading import load_urdf
    from mbsim_ros.viewer.looking import Looking

    Looking(server, load_urdf(file), options.state)
    return lambda: None  # its sliders call back by themselves


def _live(options: argparse.Namespace) -> int:
    """Hand this process over to the viewer node."""
    os.environ.setdefault(DISCOVERY_RANGE, "LOCALHOST")
    given = {"host": options.host, "port": options.port, "open_browser": not options.no_browser}
    words = [part for name, value in given.items() for part in ("-p", f"{name}:={json.dumps(value)}")]
    space = options.namespace.strip("/")
    words += ["-r", f"__ns:=/{space}"] if space else []
    return os.execv(sys.executable, [sys.executable, "-m", "mbsim_ros.nodes.viewer", "--ros-args", *words])


def _pixels(text: str) -> tuple[int, int]:
    try:
        width, height = map(int, text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--size: expected WIDTHxHEIGHT in pixels, such as 960x600, got '{text}'") from None
    if not (16 <= width <= 8000 and 16 <= height <= 8000):
        raise ValueError(f"--size: expected 16 to 8000 pixels each way, got '{text}'")
    return width, height
