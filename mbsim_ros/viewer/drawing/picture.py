# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Pictures of a scene: rendered by a browser that is connected, or by a headless Chromium started for it."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from mbsim_ros.viewer.page.software_rendering import FULL

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SETTLES = 3  # pictures that nobody sees: what has come to a page is in its scene a picture or two later
PATIENCE = 120.0  # s: without a graphics card the first frame takes many seconds
# WebGL in software, and nothing that talks to anybody but us.
FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-quic", "--disable-sync", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-background-timer-throttling",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
)  # fmt: skip


class NoPicture(RuntimeError):
    """No picture could be made; the text says why."""


def find_browser() -> str | None:
    """Path of a Chromium on this machine, None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def headless_browser(url: str, size: tuple[int, int], *flags: str) -> Iterator[Path]:
    """A headless Chromium that shows a page, until the block ends; gives the folder of its profile.

    Raises NoPicture where there is none on this machine.
    """
    browser = find_browser()
    if browser is None:
        raise NoPicture("there is no Chromium on this machine: install it, or make the picture in your own browser")
    with tempfile.TemporaryDirectory(prefix="mbsim_browser_", ignore_cleanup_errors=True) as folder:
        command = [browser, *FLAGS, *flags, f"--window-size={size[0]},{size[1]}", f"--user-data-dir={folder}", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Path(folder)
        finally:
            process.terminate()
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def take_picture(server: ViserServer, file: Path, size: tuple[int, int] = (960, 600)) -> None:
    """Write the scene as a PNG file of this many pixels; the panel beside it is not on it. Raises NoPicture."""
    from matplotlib.image import imsave

    with contextlib.ExitStack() as stack:
        if not server.get_clients():
            url = (
                f"http://{server.get_host()}:{server.get_port()}/?{FULL}"  # as good as it can be, however long it takes
            )
            stack.enter_context(headless_browser(url, (size[0] + 400, size[1] + 100)))
        client = _first_client(server)
        _wait_until_sent(server, client)
        camera = server.initial_camera
        view: dict[str, Any] = {
            "position": camera.position,
            "fov": camera.fov,
            "wxyz": towards(camera.position, camera.look_at),
        }
        try:
            for _ in range(SETTLES):
                client.get_render(16, 16, transport_format="jpeg", timeout=PATIENCE, **view)
            image = client.get_render(size[1], size[0], transport_format="jpeg", timeout=PATIENCE, **view)
        except (TimeoutError, RuntimeError) as error:
            raise NoPicture(f"the browser did not render the scene: {error}") from None
    file.parent.mkdir(parents=True, exist_ok=True)
    imsave(file, image)


def towards(position: np.ndarray, look_at: np.ndarray) -> np.ndarray:
    """Quaternion (w, x, y, z) of a camera at a position (3,) that looks at another; its axes: right, down, ahead."""
    ahead = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    R = np.column_stack([right, np.cross(ahead, right), ahead])
    return Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]  # type: ignore[no-any-return]


def _first_client(server: ViserServer) -> ClientHandle:
    end = time.monotonic() + PATIENCE
    while not server.get_clients():
        if time.monotonic() > end:
            raise NoPicture(f"no browser connected within {PATIENCE:g} s")
        time.sleep(0.1)
    client = next(iter(server.get_clients().values()))
    while time.monotonic() < end:  # until it has told where its camera is
        with contextlib.suppress(AttributeError, AssertionError):
            if client.camera.update_timestamp > 0.0:
                return client
        time.sleep(0.1)
    raise NoPicture("the browser connected, but did not show the scene")


def _wait_until_sent(server: ViserServer, client: ClientHandle) -> None:
    """Until a page was sent the whole scene: viser sends what is asked of one page past what is on its way to all.

    Where viser has changed inside, nothing is waited for.
    """
    buffer = getattr(getattr(server, "_websock_server", None), "_broadcast_buffer", None)
    sent, count = getattr(buffer, "generator_cursors", None), getattr(buffer, "message_counter", None)
    if sent is None or count is None:
        return
    end = time.monotonic() + PATIENCE
    while sent.get(client.client_id, -1) < count - 1:
        if time.monotonic() > end:
            raise NoPicture("the browser did not take the scene")
        time.sleep(0.01)
