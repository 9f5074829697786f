# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The sheet of robots in docs/pictures: `python3 docs/robots_picture.py` draws it anew, in a headless Chromium.

Each of the robots of `mbsim bench robots` stands where a simulation starts it, as the page of the web view shows it.
`python3 docs/robots_picture.py NAME…` writes pictures of some of them alone, larger, into the present folder.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from mbsim_ros.bench.robot_data import MORE_ROBOTS, OTHER_ROBOTS, ROBOTS, find_robot, package_dirs
from mbsim_ros.bench.suites.robots import own_robots
from mbsim_ros.model.catalogue import FILES, ready_robot
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.viewer.drawing.picture import headless_browser, take_picture
from mbsim_ros.viewer.page.software_rendering import FULL
from mbsim_ros.viewer.page.web_server import close_server, open_server
from mbsim_ros.viewer.scene.stage import Stage

FILE = Path(__file__).parent / "pictures" / "robots.png"
COLUMNS, CELL = 9, (200, 200)  # pictures in a row, pixels of each
ALONE = (640, 480)
FINER = 2  # drawn with so many times the pixels, along each side
PORT = 8480
SMALL = (600, 160)  # pixels of the page itself, which is drawn besides


def main(names: list[str]) -> None:
    """Draw all robots that are installed side by side, or some alone."""
    paths = {name: find_robot(name) for name in (*ROBOTS, *MORE_ROBOTS, *OTHER_ROBOTS)}
    found = {name: path for name, path in {**paths, **own_robots()}.items() if path is not None}
    server = open_server(port=PORT, title="robots")
    try:
        with headless_browser(f"http://127.0.0.1:{server.get_port()}/?{FULL}", SMALL):
            if names:
                for name in names:
                    picture(server, name, found[name], ALONE).save(f"{name}.png")
            else:
                write_sheet([(name, picture(server, name, path, CELL)) for name, path in sorted(found.items())])
    finally:
        close_server(server)


def picture(server: Any, name: str, path: Path, size: tuple[int, int]) -> Image.Image:
    """A robot on the floor; one that is ready by its name in its posture."""
    print(name, flush=True)
    is_ready = name in FILES and ready_robot(name).sidecar is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(name if is_ready else path, terrain="flat", package_dirs=package_dirs(path))
    server.scene.remove_by_name("/world")
    stage = Stage(server, sim.model, sim.scene.ground, sim.q)
    stage.place(sim.q)
    stage.look(aspect=size[0] / size[1])
    if stage.balance is not None:
        stage.balance.visible = False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.png"
        take_picture(server, file, (FINER * size[0], FINER * size[1]))
        return Image.open(file).convert("RGB").resize(size, Image.Resampling.LANCZOS)


def write_sheet(pictures: list[tuple[str, Image.Image]]) -> None:
    """Tile pictures with their names to one file."""
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
    for number, (name, image) in enumerate(pictures):
        ImageDraw.Draw(image).text((6, 4), name, fill=(60, 64, 72), font=ImageFont.load_default(12))
        sheet.paste(image, (number % COLUMNS * CELL[0], number // COLUMNS * CELL[1]))
    sheet.save(FILE, optimize=True)
    print(f"{FILE}: {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
