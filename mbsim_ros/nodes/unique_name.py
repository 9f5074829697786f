# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A node that there may be once under its name: who comes second is refused, and told who is there.

On this host the name is an abstract socket of the kernel's. It is taken at once, in the network that DDS reaches others
by, and free again the moment its process is gone, however that ended: a crashed node is started again without waiting.
Of other hosts the graph tells. A new participant hears of those that live; where a discovery server still tells of the
dead, they do not answer.
"""

from __future__ import annotations

import errno
import hashlib
import platform
import socket
import struct
import time
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

ANSWERS_WITHIN, ASKED = 1.0, 10  # s of wall time in which a node that lives answers, and how often it is asked
LONGEST = 100  # bytes of the name of a socket; Linux takes 107
WAITING = 128  # who asked for the pid and was never let in


class NameTaken(ValueError):
    """Another node has the name; the text says which, and what to do."""


def claim_name(node: Node) -> socket.socket | None:
    """Take the name of a node on this host for as long as what is returned lives; NameTaken if another has it.

    None where there are no such sockets: then the graph alone can tell.
    """
    address = _address(node)
    try:
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        taken.bind(address)
        taken.listen(WAITING)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise NameTaken(_refusal(node, _owner(address))) from None
        return None
    return taken


def refuse_if_in_graph(node: Node) -> None:
    """NameTaken if a node of the same name is known by now, and lives."""
    name = node.get_fully_qualified_name()
    if node.get_fully_qualified_node_names().count(name) > 1 and _answers(node):
        raise NameTaken(_refusal(node, "seen over the network"))


def _address(node: Node) -> bytes:
    name = f"mbsim_ros/{node.context.get_domain_id()}{node.get_fully_qualified_name()}".encode()
    if len(name) > LONGEST:
        name = name[: LONGEST - 65] + b"/" + hashlib.sha256(name).hexdigest().encode()
    return b"\0" + name


def _owner(address: bytes) -> str:
    """Who has a socket, in words."""
    host = f"on {platform.node()}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.setblocking(False)
            asking.connect(address)
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return host
    pid, _, _ = struct.unpack("3i", credentials)
    return f"pid {pid} {host}" if pid else host  # 0: of a container


def _answers(node: Node) -> bool:
    """Whether another node of this name answers. This one has the service, too, but nobody serves it yet."""
    client: Any = node.create_client(GetParameters, f"{node.get_fully_qualified_name()}/get_parameters")
    try:
        for _ in range(ASKED):  # again and again: what is sent before the two have found each other is lost
            client.call_async(GetParameters.Request(names=["use_sim_time"]))
            end = time.monotonic() + ANSWERS_WITHIN / ASKED
            while time.monotonic() < end:
                header, _ = client.handle.take_response(GetParameters.Response)
                if header is not None:
                    return True
                time.sleep(0.01)
        return False
    finally:
        node.destroy_client(client)


def _refusal(node: Node, who: str) -> str:
    name, domain = node.get_fully_qualified_name(), node.context.get_domain_id()
    return (
        f"there is a node named '{name}' in ROS domain {domain} already ({who}): end it, or start this one in another "
        "namespace or with another ROS_DOMAIN_ID"
    )
