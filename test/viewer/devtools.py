# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A headless Chromium driven over its DevTools protocol: what a person sees and clicks, and what the console says."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imread
from websockets.sync.client import connect

from mbsim_ros.viewer.drawing.picture import headless_browser

PATIENCE = 150.0  # s: software rendering on a busy machine


class Tab:
    """The page of a browser. `errors` are what its console said at the level of an error."""

    def __init__(self, address: str):
        self._socket = connect(address, max_size=None)
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def evaluate(self, script: str) -> Any:
        """Value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def until(self, script: str, what: str) -> Any:
        """Wait until an expression is true; returns its value."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.evaluate(script)
            if value:
                return value
            assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
            time.sleep(0.2)

    def text(self) -> str:
        """All text of the page."""
        return str(self.evaluate("document.body.innerText"))

    def click(self, label: str, last: bool = False) -> None:
        """Click a button as a mouse does; last: the last of several with this label."""
        buttons = f"[...document.querySelectorAll('button')].filter(b => b.innerText.trim() === '{label}')"
        button = f"{buttons}.at({-1 if last else 0})"
        self.until(f"!!{button}", f"the button {label}")
        self.evaluate(f"{button}.scrollIntoView({{block: 'center'}})")
        box = json.loads(self.evaluate(f"JSON.stringify({button}.getBoundingClientRect())"))
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def key(self, key: str, code: str, number: int) -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number)

    def mouse(self, kind: str, place: tuple[float, float], buttons: int = 0) -> None:
        """Move the mouse, or press or release its left button."""
        button = "none" if kind == "mouseMoved" and not buttons else "left"
        x, y = place
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Press the left button at a place and move to another, without letting it go."""
        self.mouse("mouseMoved", start)
        self.mouse("mousePressed", start, 1)
        for k in range(1, steps + 1):
            part = k / steps
            self.mouse("mouseMoved", tuple(a + part * (b - a) for a, b in zip(start, end, strict=True)), 1)
            time.sleep(0.1)

    def release(self, place: tuple[float, float]) -> None:
        """Let the left button go."""
        self.mouse("mouseReleased", place)

    def resize(self, width: int, height: int) -> None:
        """Show the page as on a screen of this size, of a phone where it is narrow."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def screenshot(self, file: Path | None = None) -> np.ndarray:
        """The page as an image (rows, columns, 3) of 0…1."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if file is not None:
            file.write_bytes(data)
        return imread(io.BytesIO(data))[:, :, :3]

    def _note(self, message: dict[str, Any]) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(about["exceptionDetails"].get("exception", about["exceptionDetails"])))
        elif method == "Runtime.consoleAPICalled" and about["type"] == "error":
            self.errors.append(" ".join(str(part.get("value", part.get("description"))) for part in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")


@contextlib.contextmanager
def open_tab(url: str, size: tuple[int, int] = (1280, 800)) -> Iterator[Tab]:
    """A browser that shows a page."""
    flags = ("--remote-debugging-port=0", "--remote-allow-origins=*")
    with headless_browser("about:blank", size, *flags) as profile:
        port_file = profile / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while not port_file.is_file() or not port_file.read_text().strip():
            assert time.monotonic() < end, "Chromium does not start"
            time.sleep(0.1)
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
            tabs = [entry for entry in json.load(answer) if entry["type"] == "page"]
        tab = Tab(tabs[0]["webSocketDebuggerUrl"])
        tab.call("Page.navigate", url=url)
        yield tab
