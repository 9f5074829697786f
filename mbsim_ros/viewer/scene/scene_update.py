# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""New values for a node of the scene, all in one message.

To set properties of a node one by one costs viser 0.1 ms each: it compares every array with the last, copies it twice
and queues a message. A robot that moves has new arrays at every picture, so they are queued together as they are.
Where viser has changed inside, its properties are set one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from viser import SceneNodeHandle

try:
    from viser._messages import SceneNodeUpdateMessage, SetPositionMessage
except ImportError:
    SceneNodeUpdateMessage = SetPositionMessage = None  # type: ignore[assignment,misc]

_CODES = np.arange(256) / 255.0
_LINEAR = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4)  # IEC 61966-2-1
_LINEAR_CODES = np.rint(255.0 * _LINEAR).astype(np.uint8)


def instance_colours(colours: ArrayLike) -> np.ndarray:
    """Colours (n, 3) as `batched_colors` has them, to be seen as these, which are of a screen (sRGB).

    viser takes the colours of instances for amounts of light, other than those of single nodes: they would be pale.
    """
    return _LINEAR_CODES[np.asarray(colours, dtype=np.uint8)]  # type: ignore[no-any-return]


def update_node(handle: SceneNodeHandle, **values: np.ndarray) -> None:
    """Give a node new arrays, by the names of its properties and of the dtype they have there.

    The arrays are sent later: who calls does not write to them any more.
    """
    queue = _queue_of(handle)
    if queue is not None:
        queue(SceneNodeUpdateMessage(handle.name, values))
        return
    for name, value in values.items():
        setattr(handle, name, value)


def move_node(handle: SceneNodeHandle, x: float, y: float, z: float) -> None:
    """Give a node another position."""
    queue = _queue_of(handle)
    if queue is not None:
        queue(SetPositionMessage(handle.name, (x, y, z)))
    else:
        handle.position = (x, y, z)


def _queue_of(handle: SceneNodeHandle) -> Callable[[object], None] | None:
    """What takes messages to the pages that show a node, None where viser has no such thing."""
    if SceneNodeUpdateMessage is None:
        return None
    return getattr(getattr(getattr(handle, "_impl", None), "api", None), "_queue_scene_message", None)
