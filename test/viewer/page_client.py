# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a browser is to viser, without drawing: connects, decodes the messages of the scene, presses buttons.

Follows viser's own wire format: sizes, compressed msgpack, then the arrays, each at a multiple of eight bytes.
"""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec.msgpack
import numpy as np
import viser
import zstandard
from websockets.sync.client import connect

PATIENCE = 100.0  # s, on a busy machine


def page_of(process: Any) -> Page:
    """The page of a process that says where it is; before that it may say that it compiles kernels."""
    written = ""
    while True:
        line = process.stdout.readline()
        written += line
        found = re.search(r"open http://localhost:(\d+)", line)
        if found:
            return Page(int(found[1]))
        if not line:
            raise AssertionError(f"it did not say where its page is:\n{written}")


class Page:
    """A page that shows a scene: `nodes` and `gui` have the present properties by name and by id."""

    def __init__(self, port: int, host: str = "127.0.0.1"):
        protocol: Any = f"viser-v{viser.__version__}"
        self._socket = connect(f"ws://{host}:{port}", subprotocols=[protocol], max_size=None, open_timeout=PATIENCE)
        self.nodes: dict[str, dict[str, Any]] = {}
        self.gui: dict[str, dict[str, Any]] = {}
        self.updates = 0  # windows of messages that changed the scene
        camera = {
            "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 0.0, 1.0), "fov": 1.0,
            "near": 0.1, "far": 100.0, "image_height": 480, "image_width": 640, "look_at": (0.0, 0.0, 0.0),
            "up_direction": (0.0, 0.0, 1.0),
        }  # fmt: skip
        self._send(camera)

    def until(self, condition: Any, what: str) -> None:
        """Take messages until the condition holds; fails with what was waited for."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
            self.take(0.05)

    def take(self, timeout: float) -> None:
        """Take the messages that come within a time."""
        try:
            data = self._socket.recv(timeout=timeout)
        except TimeoutError:
            return
        for message in decode(data):
            self._apply(message)
        self.updates += 1

    def node(self, name: str) -> dict[str, Any]:
        """Properties of a node of the scene, once it is there."""
        self.until(lambda: name in self.nodes, f"{name} in the scene, which has {sorted(self.nodes)}")
        return self.nodes[name]

    def element(self, label: str) -> str:
        """Id of the element of the panel with this label, once it is there."""
        self.until(lambda: self._labelled(label), f"'{label}' in the panel")
        return self._labelled(label)[0]

    def has(self, label: str) -> bool:
        """Whether an element of the panel has this label now."""
        return bool(self._labelled(label))

    def press(self, label: str) -> None:
        """Press a button."""
        self.set(label, True)

    def set(self, label: str, value: Any) -> None:
        """Give an element of the panel another value."""
        self.change(label, {"value": value})

    def trigger(self, label: str) -> None:
        """Do what the key of a command does."""
        self._send({"type": "CommandTriggerMessage", "uuid": self.element(label)})

    def drag(self, node: str, phase: str, start: Any, end: Any, **more: Any) -> None:
        """Drag the first shape of a node of the scene, by points (3,) of the scene."""
        place = {"start_screen_pos": (0.5, 0.5), "end_screen_pos": (0.5, 0.5), "button": "left", "modifier": None}
        message = {"name": node, "instance_index": 0, "owner": "", "start_position": start, "end_position": end}
        self._send({"type": "SceneNodeDragMessage", "phase": phase, **place, **message, **more})

    def click(self, node: str) -> None:
        """Click the first shape of a node of the scene."""
        ray = {"ray_origin": (0.0, 0.0, 1.0), "ray_direction": (0.0, 0.0, -1.0), "screen_pos": (0.5, 0.5)}
        about = {"name": node, "instance_index": 0, "modifier": None, "owner": ""}
        self._send({"type": "SceneNodeClickMessage", **about, **ray})

    def upload(self, label: str, name: str, content: bytes, size: int | None = None) -> None:
        """Send a file to an upload button; size: what is said of it before it comes."""
        about = {"source_component_uuid": self.element(label), "transfer_uuid": name}
        size = len(content) if size is None else size
        kind = {"filename": name, "mime_type": "", "part_count": 1, "size_bytes": size}
        self._send({"type": "FileTransferStartUpload", **about, **kind})
        self._send({"type": "FileTransferPart", **about, "part_index": 0, "content": content})

    def change(self, label: str, updates: dict[str, Any]) -> None:
        """Send any change of an element, such as no browser would."""
        self._send({"type": "GuiUpdateMessage", "uuid": self.element(label), "updates": updates})

    def words(self) -> str:
        """All Markdown of the panel."""
        texts = (entry["props"].get("content") or entry["props"].get("_markdown") for entry in self.gui.values())
        return "\n".join(text for text in texts if isinstance(text, str))

    def close(self) -> None:
        self._socket.close()

    def _labelled(self, label: str) -> list[str]:
        props = {uuid: entry["props"] for uuid, entry in self.gui.items()}
        return [uuid for uuid, each in props.items() if each.get("label") == label and each.get("visible", True)]

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.send(msgspec.msgpack.encode(message))

    def _apply(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "RemoveSceneNodeMessage":
            for name in [name for name in self.nodes if name == message["name"]]:
                del self.nodes[name]
        elif kind == "SceneNodeUpdateMessage":
            self.nodes[message["name"]].setdefault("props", {}).update(message["updates"])
        elif kind == "GuiUpdateMessage":
            self.gui[message["uuid"]]["props"].update(message["updates"])
        elif kind == "SetPositionMessage" and message["name"] in self.nodes:
            self.nodes[message["name"]]["position"] = message["position"]
        elif kind == "SetSceneNodeVisibilityMessage" and message["name"] in self.nodes:
            self.nodes[message["name"]]["visible"] = message["visible"]
        elif "props" in message and "name" in message:
            self.nodes[message["name"]] = message
        elif "props" in message and "uuid" in message:
            self.gui[message["uuid"]] = message


def decode(data: bytes) -> list[dict[str, Any]]:
    """The messages of one window."""
    size, packed = (int.from_bytes(data[at : at + 8], "little") for at in (0, 8))
    inner = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed], size))
    at, buffers = 16 + packed, []
    for length in inner["binaryBufferLengths"]:
        at += -at % 8
        buffers.append(data[at : at + length])
        at += length
    return [_with_arrays(message, buffers) for message in inner["messages"]]


def _with_arrays(value: Any, buffers: list[bytes]) -> Any:
    if isinstance(value, dict):
        if "__binary_index" in value:
            return np.frombuffer(buffers[value["__binary_index"]], value["dtype"])
        return {key: _with_arrays(each, buffers) for key, each in value.items()}
    return [_with_arrays(each, buffers) for each in value] if isinstance(value, list) else value
