# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A recording as a film: an animated GIF, or an MP4 where ffmpeg is there, drawn by our own renderer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbsim_ros.bags.history import History
from mbsim_ros.viewer.drawing.camera import Camera, camera_around, view
from mbsim_ros.viewer.drawing.render import Renderer
from mbsim_ros.viewer.scene.contact_scene import COLOURS, WEIGHT_LENGTH, contacts_at
from mbsim_ros.viewer.scene.stage import LEAST_SIZE, round_cell

PICTURES = 25  # per second, of GIFs: these count in hundredths
LOOKS = 8  # instants at which the camera looks how much room the robot needs
SEARCH = 0.35  # of the length of the film: how far its end may be moved for it to close
COLOURS_OF_A_GIF = 128
RARE = (12, 240)  # rows and columns by which a colour of contacts counts, however few pixels have it


def write_film(
    file: Path, history: History, at: float, seconds: float, size: tuple[int, int], *, closed: bool = False,
    camera: Camera | str | None = None, speed: float = 1.0,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> float:  # fmt: skip
    """Write a GIF or MP4 of a run from a time since its start [s] on, for some seconds; returns how many they became.

    size: pixels (columns, rows). closed: the end is moved to where the robot's joints are as at the start, so that the
    film can go round. The camera goes along with a floating base; the lines on the ground are so far apart that they,
    too, are at the end where they were at the start. camera: a view by its name, or a Camera, which stays where it is
    or on its link. speed: of the film over that of the run.
    """
    write = _writer_of(file)
    times = history.seconds - history.seconds[0]
    if not 0.0 <= at < times[-1]:
        raise ValueError(f"--at: expected a time in the recording, 0 … {times[-1]:.2f} s, got {at:g}")
    end = min(at + seconds, float(times[-1]))
    if closed:
        end = _where_it_closes(history, times, at, seconds)
    count = max(1, round((end - at) * PICTURES / speed))
    rows = np.searchsorted(times, at + (end - at) * np.arange(count) / count)
    film = _Film(history, rows, int(np.searchsorted(times, end)) if end < times[-1] else -1, size, camera)
    images = []
    for number, row in enumerate(rows.tolist()):
        progress(number + 1, count)
        images.append(film.picture(row))
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, images, (end - at) / speed / count)
    return end - at


class _Film:
    """Draws the instants of a run, the camera beside the robot."""

    def __init__(
        self, history: History, rows: np.ndarray, end: int, size: tuple[int, int], camera: Camera | str | None
    ):
        self._history = history
        model, first, last = history.model, history.q[rows[0]], history.q[end]
        self._numbers = {row: number for number, row in enumerate(rows.tolist())}
        # Evenly: the camera does not sway with the robot.
        self._way = (last - first)[:2] / len(rows) if model.is_floating else np.zeros(2)
        self._renderer = Renderer(model, history.sim.scene.ground)
        looks = rows[:: max(1, len(rows) // LOOKS)].tolist()
        outline = np.concatenate([self._renderer.outline(history.q[row]) - self._moved(row) for row in looks])
        lowest, highest = outline.min(axis=0), outline.max(axis=0)
        extent = max(float(np.linalg.norm(highest - lowest)), LEAST_SIZE)
        cell, way = round_cell(extent), float(np.abs(len(rows) * self._way).max())
        self._renderer.cell = way / round(way / cell) if way > 0.5 * cell else cell
        self._renderer.size = extent
        self._is_beside = not isinstance(camera, Camera)
        if isinstance(camera, Camera):
            self._camera = replace(camera, size=size)
        else:
            self._camera = camera_around(outline, 0.5 * (lowest + highest), size, *view(camera))
        self._force_length = WEIGHT_LENGTH / max(9.81 * model.mass, 1e-9)

    def _moved(self, row: int) -> np.ndarray:
        """How far (3,) the camera has gone since the start."""
        return np.append(self._numbers[row] * self._way, 0.0)

    def picture(self, row: int) -> np.ndarray:
        """Image (rows, columns, 3) of the instant in this row of the history."""
        history, camera = self._history, self._camera
        if self._is_beside:
            moved = self._moved(row)
            camera = replace(camera, position=camera.position + moved, look_at=camera.look_at + moved)
        else:
            camera = camera.in_world(history.model, history.q[row])
        return self._renderer.draw(camera, history.q[row], *contacts_at(history, row, self._force_length))


def _where_it_closes(history: History, times: np.ndarray, at: float, seconds: float) -> float:
    """The time within SEARCH of the wanted end at which the joints are and move most as at the start."""
    first = 7 if history.model.is_floating else 0
    rates = np.gradient(history.q[:, first:], times, axis=0)
    begin = int(np.searchsorted(times, at))
    span = (times >= at + (1 - SEARCH) * seconds) & (times <= at + (1 + SEARCH) * seconds)
    if not span.any():
        raise ValueError(f"--film: expected a recording of {at + (1 + SEARCH) * seconds:.1f} s, got {times[-1]:.1f} s")
    scale = np.abs(rates).max() / max(np.ptp(history.q[:, first:], axis=0).max(), 1e-9)
    away = np.linalg.norm(history.q[:, first:] - history.q[begin, first:], axis=1)
    away += np.linalg.norm(rates - rates[begin], axis=1) / max(scale, 1e-9)
    return float(times[np.flatnonzero(span)[np.argmin(away[span])]])


def _write_gif(file: Path, images: list[np.ndarray], period: float) -> None:
    """All images with the colours that suit them together, for ever."""
    from PIL import Image

    rare = [np.full((*RARE, 3), shade * np.array(colour)) for colour in COLOURS.values() for shade in (0.7, 1.0)]
    sample = [*images[:: max(1, len(images) // 8)], np.concatenate(rare)]
    columns = max(part.shape[1] for part in sample)
    whole = np.concatenate([np.resize(part, (len(part), columns, 3)).astype(np.uint8) for part in sample])
    palette = Image.fromarray(whole).quantize(COLOURS_OF_A_GIF, dither=Image.Dither.NONE)
    pictures = [Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    pictures[0].save(
        file, save_all=True, append_images=pictures[1:], duration=round(1000 * period), loop=0, optimize=False
    )


def _write_mp4(file: Path, images: list[np.ndarray], period: float) -> None:
    """By ffmpeg, in the format that every browser and player knows."""
    rows, columns = (length - length % 2 for length in images[0].shape[:2])  # it takes even numbers only
    command = [
        str(_find_ffmpeg()), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{columns}x{rows}", "-r", f"{1.0 / period:.6f}", "-i", "-",
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart", str(file),
    ]  # fmt: skip
    data = b"".join(np.ascontiguousarray(image[:rows, :columns]).tobytes() for image in images)
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode:
        raise ValueError(f"{file}: ffmpeg could not write it: {done.stderr.decode(errors='replace').strip()[-300:]}")


def _find_ffmpeg() -> str | None:
    """Of this machine, or of the Python package that brings one."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe
        except ModuleNotFoundError:
            return None
        found = str(get_ffmpeg_exe())
    return found


def _writer_of(file: Path) -> Callable[[Path, list[np.ndarray], float], None]:
    """What writes such a file. Raises ValueError for another, or where ffmpeg is missing: before anything is drawn."""
    if file.suffix == ".gif":
        return _write_gif
    if file.suffix != ".mp4":
        raise ValueError(f"film: expected a file that ends with .gif or .mp4, got '{file}'")
    if _find_ffmpeg() is None:
        raise ValueError(f"{file}: there is no ffmpeg: install it, pip install imageio-ffmpeg, or write a .gif")
    return _write_mp4
