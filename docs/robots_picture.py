# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The sheet of robots in docs/pictures: `python3 docs/robots_picture.py` draws it anew, by the project's own renderer.

Each of the robots of `mbsim bench robots` stands where a simulation starts it.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mbsim_ros.bench.robot_data import MORE_ROBOTS, OTHER_ROBOTS, ROBOTS, find_robot, package_dirs
from mbsim_ros.bench.suites.robots import own_robots
from mbsim_ros.model.catalogue import FILES, ready_robot
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.viewer.drawing.camera import camera_around
from mbsim_ros.viewer.drawing.render import Renderer
from mbsim_ros.viewer.scene.stage import round_cell

FILE = Path(__file__).parent / "pictures" / "robots.png"
COLUMNS, CELL = 10, (176, 176)  # pictures in a row, pixels of each
COLOURS = 128  # of the file
NONE = np.zeros((0, 3))


def main() -> None:
    """Draw all robots that are installed, side by side."""
    paths = {name: find_robot(name) for name in (*ROBOTS, *MORE_ROBOTS, *OTHER_ROBOTS)}
    found = {name: path for name, path in {**paths, **own_robots()}.items() if path is not None}
    pictures = []
    for name, path in sorted(found.items()):
        print(name, flush=True)
        pictures.append(labelled(picture(name, path), name))
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
    for number, image in enumerate(pictures):
        sheet.paste(image, (number % COLUMNS * CELL[0], number // COLUMNS * CELL[1]))
    sheet.quantize(COLOURS, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(f"{FILE}: {len(pictures)} robots, {FILE.stat().st_size / 1e3:.0f} kB")


def picture(name: str, path: Path) -> Image.Image:
    """A robot on the floor; one that is ready by its name in its posture."""
    is_ready = name in FILES and ready_robot(name).sidecar is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(name if is_ready else path, terrain="flat", package_dirs=package_dirs(path))
    renderer = Renderer(sim.model, sim.scene.ground)
    outline = renderer.outline(sim.q)
    lowest, highest = outline.min(axis=0), outline.max(axis=0)
    renderer.size = max(float(np.linalg.norm(highest - lowest)), 0.05)
    renderer.cell = round_cell(renderer.size)
    camera = camera_around(outline, 0.5 * (lowest + highest), CELL)
    return Image.fromarray(renderer.draw(camera, sim.q, NONE, NONE, NONE))


def labelled(image: Image.Image, name: str) -> Image.Image:
    """The picture with its name."""
    ImageDraw.Draw(image).text((6, 4), name, fill=(60, 64, 72), font=ImageFont.load_default(11))
    return image


if __name__ == "__main__":
    main()
