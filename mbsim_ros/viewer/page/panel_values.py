# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a page may do to the panel: give an element a value that it could have been given by hand.

viser takes whatever a client sends: a word that is not in the menu, a number beyond its slider, even attributes of its
own objects.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from viser import GuiEvent, GuiInputHandle, ViserServer
    from viser._messages import GuiUpdateMessage
    from viser.infra import ClientId

LOG = logging.getLogger("mbsim_ros.viewer")
LONGEST_TEXT = 4096
ROUNDING = 1e-9  # of a slider's range: browsers add up steps

T = TypeVar("T")


def check_panel_values(server: ViserServer) -> None:
    """Let only such values through, and none of the messages that a view has no use for."""
    from viser import _messages as messages

    interface, take = server._websock_server, server.gui._handle_gui_updates
    # A tunnel that shows the view to the internet, and files: no button here asks for them, a message could.
    for unused in (messages.ShareUrlRequest, messages.FileTransferStartUpload, messages.FileTransferPart):
        interface.unregister_handler(unused)
    interface.unregister_handler(messages.GuiUpdateMessage, take)

    async def take_if_allowed(client: ClientId, message: GuiUpdateMessage) -> None:
        handle = server.gui._gui_input_handle_from_uuid.get(message.uuid)
        problem = "" if handle is None else problem_of(handle, message.updates)
        if problem:
            LOG.warning("refused a value from a page: %s", problem)
        else:
            await take(client, message)

    interface.register_handler(messages.GuiUpdateMessage, take_if_allowed)


def when_changed_by_hand(handle: GuiInputHandle[T], act: Callable[[T], None]) -> None:
    """Call with the value that a page gave an element, and not with those that the view itself gives it."""

    def changed(event: GuiEvent) -> None:
        if event.client_id is not None:
            act(handle.value)

    handle.on_update(changed)


def problem_of(handle: object, updates: object) -> str:
    """Why an element cannot be changed like this, or ""."""
    import viser

    label = repr(getattr(handle, "label", ""))
    if not isinstance(updates, dict) or set(updates) != {"value"}:
        return f"{label}: only its value can be changed"
    value = updates["value"]
    if isinstance(handle, viser.GuiDropdownHandle | viser.GuiButtonGroupHandle):
        allowed = isinstance(value, str) and value in handle.options
    elif isinstance(handle, viser.GuiSliderHandle | viser.GuiNumberHandle):
        allowed = _is_number(value) and _is_between(handle.min, value, handle.max)
    elif isinstance(handle, viser.GuiTextHandle):
        allowed = isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()
    elif isinstance(handle, viser.GuiCheckboxHandle | viser.GuiButtonHandle):
        allowed = isinstance(value, bool)
    else:
        allowed = False
    return "" if allowed else f"{label} cannot be {str(value)[:60]!r}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_between(lower: float | None, value: float, upper: float | None) -> bool:
    slack = 0.0 if lower is None or upper is None else ROUNDING * (upper - lower)
    return (lower is None or value >= lower - slack) and (upper is None or value <= upper + slack)
