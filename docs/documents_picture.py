# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The sheet of the documents' robots in docs/pictures: `python3 docs/documents_picture.py` draws it anew."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mbsim_ros.sim.simulation import Simulation

FILE = Path(__file__).parent / "pictures" / "documents.png"
COLUMNS, CELL = 5, (256, 240)  # pictures in a row, pixels of each
FINER = 2  # drawn with so many times the pixels, along each side
WEIGHTLESS = ("floating_chain", "coupled_bodies")
SHOWN = {  # s after the start
    "box": 0.15, "double_spherical_pendulum": 0.3, "biped": 0.0, "block": 0.05, "walker": 0.0,
    "floating_chain": 0.5, "three_link_pendulum": 0.3, "manipulator": 0.5, "body_on_point": 0.015,
    "coupled_bodies": 0.1,
}  # fmt: skip


def main() -> None:
    """Draw all of them side by side."""
    sheet = Image.new("RGB", (COLUMNS * CELL[0], -(-len(SHOWN) // COLUMNS) * CELL[1]))
    for number, (name, seconds) in enumerate(SHOWN.items()):
        image = picture(name, seconds)
        ImageDraw.Draw(image).text((6, 4), name, fill=(60, 64, 72), font=ImageFont.load_default(12))
        sheet.paste(image, (number % COLUMNS * CELL[0], number // COLUMNS * CELL[1]))
    sheet.quantize(192).save(FILE, optimize=True)
    print(f"{FILE}: {FILE.stat().st_size / 1e3:.0f} kB")


def picture(name: str, seconds: float) -> Image.Image:
    """A robot so long after its start, without a controller."""
    sim = Simulation(name, gravity=(0, 0, 0 if name in WEIGHTLESS else -9.81))
    sim.advance(round(seconds / sim.dt))
    size = (FINER * CELL[0], FINER * CELL[1])
    return Image.fromarray(sim.picture(size=size)).resize(CELL, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
