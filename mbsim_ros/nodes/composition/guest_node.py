# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Under whose name a node is being made, where one process has several: that of its own process, or of a guest."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class Guest:
    """What another process has asked to run here: the arguments and the environment of its own node."""

    def __init__(self, executable: str, arguments: Sequence[str], environment: Mapping[str, str]):
        self.executable, self.arguments, self.environment = executable, list(arguments), dict(environment)
        self.node: Any = None  # once it is made

    @property
    def node_options(self) -> dict[str, Any]:
        """For rclpy's Node: its name, namespace, topics and parameters are the guest's, not those of this process."""
        return {"cli_args": self.arguments, "use_global_arguments": False}


_being_made: list[Guest] = []


def guest_being_made() -> Guest | None:
    """The guest whose node is being made, None where it is this process's own."""
    return _being_made[-1] if _being_made else None


@contextlib.contextmanager
def acting_for(guest: Guest) -> Iterator[None]:
    """Be, for a while, in the environment of the guest and with its arguments."""
    environment, arguments, path = dict(os.environ), list(sys.argv), list(sys.path)
    _being_made.append(guest)
    try:
        os.environ.update(guest.environment)
        sys.argv[:] = [guest.executable, *guest.arguments]
        yield
    finally:
        _being_made.pop()
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[:] = arguments
        sys.path[:] = path


def seat(guest: Guest, make_node: Callable[[], Any]) -> int:
    """Make the guest's node, to be run by the host; 0, or what the guest's exit code would be."""
    guest.node = make_node()
    return 0
