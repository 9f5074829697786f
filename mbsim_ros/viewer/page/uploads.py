# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Files that a page sends: one button takes them, of a size that is known before they come.

viser keeps whatever a client sends until it is complete, however large; without a button of ours it gets nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viser import GuiUploadButtonHandle, ViserServer
    from viser._messages import FileTransferPart, FileTransferStartUpload
    from viser.infra import ClientId

LOG = logging.getLogger("mbsim_ros.viewer")
LARGEST = 4 * 1024 * 1024  # bytes
MOST_PARTS, MOST_AT_ONCE = 64, 4
LONGEST_NAME = 200


def add_upload(
    server: ViserServer, label: str, ending: str, act: Callable[[str, bytes], None]
) -> GuiUploadButtonHandle:
    """A button that takes a file with this ending, and calls with its name and what is in it; returns its handle."""
    from viser import _messages as messages

    gui, interface = server.gui, server._websock_server
    button = gui.add_upload_button(label, mime_type=ending, icon=None)

    async def start(client: ClientId, message: FileTransferStartUpload) -> None:
        problem = problem_of_start(message, ending)
        if message.source_component_uuid != button._impl.uuid:
            problem = "no button asks for it"
        elif len(gui._current_file_upload_states) >= MOST_AT_ONCE:
            problem = "too many at once"
        if problem:
            LOG.warning("refused a file from a page: %s", problem)
        else:
            gui._handle_file_transfer_start(client, message)

    async def part(client: ClientId, message: FileTransferPart) -> None:
        begun = gui._current_file_upload_states.get(message.transfer_uuid)
        if begun is None or not isinstance(message.content, bytes) or not isinstance(message.part_index, int):
            return
        if begun["transferred_bytes"] + len(message.content) > begun["total_bytes"]:
            LOG.warning("refused a file from a page: more than it said")
            gui._current_file_upload_states.pop(message.transfer_uuid, None)
        else:
            gui._handle_file_transfer_part(client, message)

    interface.register_handler(messages.FileTransferStartUpload, start)
    interface.register_handler(messages.FileTransferPart, part)
    button.on_upload(lambda event: act(event.target.value.name, event.target.value.content))
    return button


def problem_of_start(message: FileTransferStartUpload, ending: str) -> str:
    """Why a file that is about to come is not taken, or ""."""
    name, size, parts = message.filename, message.size_bytes, message.part_count
    if not isinstance(name, str) or not name.isprintable() or len(name) > LONGEST_NAME:
        return "a name that is none"
    if not name.lower().endswith(ending):
        return f"expected a file whose name ends with {ending}, got '{name}'"
    if type(size) is not int or not 0 < size <= LARGEST:
        return f"'{name}' is larger than {LARGEST} bytes, or empty"
    if type(parts) is not int or not 0 < parts <= MOST_PARTS:
        return f"'{name}' comes in too many parts"
    return ""
