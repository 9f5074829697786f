# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of a node that runs in that of its robot's physics: says what to run, and ends when it has ended.

A launch file starts every node in a process of its own, with its parameters, its environment and its exit code. Where
nodes are composed, that process hands all of this to the host and waits: whoever launched it sees no difference, and
ending it ends the node.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence

from mbsim_ros.nodes.composition.address import HOST, addresses, is_composed

RETRY = 0.03  # s between two looks for the host
TOLD_AFTER = 30.0  # s without a host after which that is said


def join(executable: str, arguments: Sequence[str]) -> int | None:
    """Run this executable as a node of the host's process until it ends; returns the exit code.

    None where it is to run in this process: nothing is composed, it is the host, or the host does not take it.
    """
    if not is_composed() or executable == HOST:
        return None
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))  # the host sees that the socket is closed
    request = {"executable": executable, "arguments": list(arguments), "environment": dict(os.environ)}
    with _connected(addresses(arguments)) as connection:
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = connection.makefile().readline()
    if not answer:  # the host has ended, and with it all of its nodes
        return 0
    code: int | None = json.loads(answer)["exit_code"]
    if code is None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return code


def _connected(names: Sequence[str]) -> socket.socket:
    """A connection to the host at the first of these addresses that has one; it may not have begun yet."""
    begin, is_told = time.monotonic(), False
    while True:
        for name in names:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(name)
                return connection
            except (ConnectionRefusedError, FileNotFoundError):
                connection.close()
        if time.monotonic() - begin > TOLD_AFTER and not is_told:
            is_told = True
            print("compose: still waiting for the physics node of this launch", file=sys.stderr, flush=True)
        time.sleep(RETRY)
