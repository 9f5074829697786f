# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Heights from images: where which pixel is, what is refused and with which words, and what lies on them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mbsim_ros import ModelBuilder, Simulation, load_world
from mbsim_ros.contact.terrain import ground_of, height_field, height_map
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.height_image import heights_of_image
from mbsim_ros.model.sidecar.parser import load_sidecar, parse_sidecar
from mbsim_ros.viewer.scene.ground_scene import surface

CONFIG = Path(__file__).resolve().parents[2] / "config"
BALL = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.1, visual=True, collision=True).build("floating")
# As seen on the picture: the top row is the first one.
STEPS = np.array([[0, 51, 102], [153, 204, 255]], dtype=np.uint8)

FULL = "  image: map.png\n  size: [4, 1]\n  height: 2\n"


def png(values, **options) -> bytes:
    stream = io.BytesIO()
    image = values if isinstance(values, Image.Image) else Image.fromarray(values)
    image.save(stream, "PNG", **options)
    return stream.getvalue()


def written(folder: Path, section: str, content: bytes | None) -> Path:
    if content is not None:
        (folder / "map.png").write_bytes(content)
    (folder / "ground.yaml").write_text(f"terrain:\n  type: heightmap\n{section}")
    return folder / "ground.yaml"


def test_a_pixel_is_where_a_map_has_it(tmp_path):
    """Up on the picture is +y, right is +x, white is highest; first and last pixels are `size` apart."""
    file = written(tmp_path, "  image: map.png\n  size: [4, 1]\n  height: 2\n  offset: [10, 20, 0.5]\n", png(STEPS))
    ground = ground_of(load_sidecar(file).terrain)
    for x, y, value in (
        (8, 20.5, 0),
        (10, 20.5, 51),
        (12, 20.5, 102),
        (8, 19.5, 153),
        (10, 19.5, 204),
        (12, 19.5, 255),
    ):
        assert -ground.gap((x, y, 0.0)) / ground.normal((x, y, 0.0))[2] == pytest.approx(
            0.5 + 2 * value / 255, abs=1e-12
        )
    assert ground.spacings == (2.0, 1.0)
    unmoved = ground_of(load_sidecar(written(tmp_path, FULL, None)).terrain)
    assert unmoved.data[:2].tolist() == [-2.0, -0.5], "the middle is at the origin"


def test_eight_and_sixteen_bits():
    fine = np.array([[0, 1, 257], [65535, 65534, 32768]], dtype=np.uint16)
    np.testing.assert_array_equal(heights_of_image(png(fine)), fine[::-1] / 65535)
    np.testing.assert_array_equal(heights_of_image(png(STEPS)), STEPS[::-1] / 255)
    black_and_white = Image.fromarray(STEPS > 100)
    np.testing.assert_array_equal(heights_of_image(png(black_and_white)), (STEPS > 100)[::-1].astype(float))


def test_distances_that_differ_along_x_and_y():
    """A plane is followed exactly, and so is its slope; one distance for both is what it was."""
    x, y = np.meshgrid(0.5 * np.arange(6), 0.2 * np.arange(7))
    ground = height_field(0.3 * x - 0.7 * y, (0.5, 0.2))
    normal = np.array([-0.3, 0.7, 1.0]) / np.linalg.norm([-0.3, 0.7, 1.0])
    np.testing.assert_allclose(ground.normal((1.1, 0.55, 0.0)), normal, atol=1e-14)
    assert ground.gap((1.1, 0.55, 1.0)) == pytest.approx(normal[2] * (1.0 - 0.33 + 0.385), abs=1e-14)
    vertices, _ = surface(ground)
    inside = (vertices[:, 0] >= 0.5) & (vertices[:, 0] <= 2) & (vertices[:, 1] >= 0.2) & (vertices[:, 1] <= 1)
    np.testing.assert_allclose(vertices[inside, 2], vertices[inside] @ [0.3, -0.7, 0.0], atol=1e-6)
    assert vertices[:, 1].max() == pytest.approx(6 * 0.2 + 1.0)
    table = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert height_field(table, (0.5, 0.5)).data.tolist() == height_field(table, 0.5).data.tolist() == [0, 0, 0.5, 0]


def test_smoothing_is_asked_for():
    rough = np.random.default_rng(1).random((30, 40))
    as_it_is, smooth = height_map(rough, (3.9, 2.9), 2.0), height_map(rough, (3.9, 2.9), 2.0, smoothing=0.15)
    np.testing.assert_array_equal(as_it_is.grid, 2.0 * rough)
    # A Gaussian of 1.5 pixels leaves 1/(2 σ √π) of white noise along each direction.
    left = smooth.grid[6:-6, 6:-6].std() / as_it_is.grid[6:-6, 6:-6].std()
    assert left == pytest.approx(1 / (2 * 1.5 * np.sqrt(np.pi)), rel=0.25)


PROBLEMS = {
    "no such image": (FULL, None, [(3, "image not found, 'map.png'")]),
    "outside": (FULL.replace("map", "../map"), None, [(3, "image outside the folder, '../map.png'")]),
    "another format": (FULL.replace("png", "jpg"), None, [(3, "unknown image format, 'map.jpg', use a .png file")]),
    "no PNG": (FULL, b"GIF89a", [(3, "unusable image, 'map.png', not a PNG file")]),
    "cut off": (FULL, png(np.zeros((50, 50), np.uint16))[:60], [(3, "unusable image, 'map.png', a broken PNG file")]),
    "colours": (FULL, png(np.zeros((4, 4, 3), np.uint8)), [(3, "not grayscale, RGB: save it with one channel")]),
    "one pixel high": (FULL, png(np.zeros((1, 9), np.uint8)), [(3, "too few pixels, 9 x 1")]),
    "huge": (FULL, png(np.zeros((2050, 2050), np.uint8)), [(3, "too many pixels, 2050 x 2050, at most 4198401")]),
    "a bomb": (FULL, png(Image.new("1", (20000, 20000))), [(3, "too many pixels, more than 4198401")]),
    "missing keys": ("  offset: [0, 0, 0]\n", None, [
        (2, "missing key, 'image'"), (2, "missing key, 'size'"), (2, "missing key, 'height'"),
    ]),
    "bad numbers": ("  image: map.png\n  size: [4]\n  height: 0\n  offset: [1, 2]\n  smoothing: -1\n", png(STEPS), [
        (4, "wrong count of numbers, size: 1"), (5, "number out of range, height: 0"),
        (6, "wrong count of numbers, offset: 2"), (7, "number out of range, smoothing: -1"),
    ]),
    "unknown key": (FULL + "  spacing: 1\n", png(STEPS), [(6, "unknown key, 'spacing'")]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_wrong_is_told_with_its_line(name, tmp_path):
    section, content, expected = PROBLEMS[name]
    with pytest.raises(SidecarError) as caught:
        load_sidecar(written(tmp_path, section, content))
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(expected), found
    for text, (line, words) in zip(found, expected, strict=True):
        assert f"ground.yaml:{line}: terrain: " in text and words in text


def test_a_text_has_no_folder_but_may_come_with_its_image():
    text = "terrain: {type: heightmap, image: map.png, size: [4, 1], height: 2}"
    with pytest.raises(SidecarError, match="text has no folder"):
        parse_sidecar(text)
    assert ground_of(parse_sidecar(text, files={"map.png": png(STEPS)}).terrain).grid.max() == 2.0


def test_broken_bytes_are_an_error_that_says_so():
    whole, random, refused = (
        png(np.random.default_rng(0).integers(0, 60000, (20, 20), np.uint16)),
        np.random.default_rng(3),
        0,
    )
    for _ in range(400):
        broken = bytearray(whole[: random.integers(1, len(whole) + 1)])
        for _ in range(random.integers(0, 4)):
            broken[random.integers(len(broken))] = random.integers(256)
        try:
            assert heights_of_image(bytes(broken)).ndim == 2
        except ValueError:
            refused += 1
    assert refused > 300


def test_a_ball_swings_in_the_hollow_of_a_map():
    """A bowl h = r²/4 has a radius of 2 m at its lowest point: without friction a small ball is a pendulum of 2 m."""
    small = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.01, collision=True).build("floating")
    x, y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))
    bowl = height_map((x**2 + y**2) / 2, (2.0, 2.0), 0.5, offset=(0.3, -0.2, 0.1))
    sim = Simulation(small, terrain=bowl, contact={"friction": 0.0})
    sim.reset(q=[0.4, -0.2, 0.1125, 0, 0, 0, 1])
    record = sim.run(9.0, record=("q",))
    away = record.q[:, 0] - 0.3
    crossings = 1e-9 * record.time_ns[np.flatnonzero(np.diff(np.sign(away)))]
    assert np.diff(crossings).mean() == pytest.approx(np.pi * np.sqrt(2.0 / 9.81), rel=0.005)
    assert np.abs(record.q[:, 1] + 0.2).max() < 1e-12


def test_a_world_and_a_terrain_file_have_the_same_hills(tmp_path):
    (tmp_path / "hills.png").write_bytes((CONFIG / "hills.png").read_bytes())
    section = (CONFIG / "terrain_hills.yaml").read_text()
    (tmp_path / "a.world.yaml").write_text(
        section + "entities: {ball: {sphere: 0.1, mass: 1, xyz: [3, 2, 1.2]}, other: {sphere: 0.1, mass: 1}}\n"
    )
    sim = Simulation(load_world(tmp_path / "a.world.yaml"))
    ground = ground_of(load_sidecar(CONFIG / "terrain_hills.yaml").terrain)
    np.testing.assert_array_equal(sim.scene.ground.grid, ground.grid)
    sim.run(0.5)
    place = sim.entity("ball").q[:3]
    assert abs(ground.gap(place) - 0.1) < 0.01, "it rolls on them"
    image = sim.picture(size=(120, 80))
    assert image.shape == (80, 120, 3)
