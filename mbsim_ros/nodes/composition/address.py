# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the nodes of one launch that share a process find each other. Nothing here knows ROS: a guest starts at once.

All of them are children of the launch, and have the namespace of their robot: these two make the address of a socket
that exists only in this machine's memory (Linux's abstract names), so that nothing is left behind by whoever is killed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath

COMPOSE = "MBSIM_COMPOSE"  # environment: "true" for nodes that are to share the process of their robot's physics
HOST = "physics"  # the executable whose process it is
_NAMESPACE = "__ns:="


def is_composed() -> bool:
    """Whether this process was started to share its nodes' process with others."""
    return os.environ.get(COMPOSE, "") == "true"


def address(arguments: Sequence[str]) -> str:
    """The socket's address, for a host with these arguments of ROS that the launch has started."""
    return f"\0mbsim_ros/{os.getuid()}/{os.getppid()}{_namespace(arguments)}"


def addresses(arguments: Sequence[str]) -> list[str]:
    """Where a guest may find its host: in its own namespace, or in one above it where its robot is one of several."""
    own = PurePosixPath(_namespace(arguments))
    return [address([f"{_NAMESPACE}{each}"]) for each in (own, *own.parents)]


def _namespace(arguments: Sequence[str]) -> str:
    given = [word.partition(_NAMESPACE)[2] for word in arguments if _NAMESPACE in word]
    return f"/{given[-1].strip('/')}" if given else "/"
