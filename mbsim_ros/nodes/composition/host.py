# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The physics node's process as host of controllers: nodes of their own, that run in turns with it, in one thread.

Whoever is launched with `compose:=true` joins by a socket (guest.py). Its node is made here with its own parameters;
what it publishes and hears of the others goes from hand to hand (transport/local_topics.py), and through the
middleware to everybody else.
"""

from __future__ import annotations

import gc
import importlib
import json
import select
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from os import getuid

from mbsim_ros.executables import MODULES, module_of
from mbsim_ros.nodes.composition.address import address
from mbsim_ros.nodes.composition.guest_node import Guest, acting_for
from mbsim_ros.nodes.robust_node import RobustNode
from mbsim_ros.nodes.transport.fast_loop import FastLoop, Handler

LOOK_PERIOD = 0.05  # s of wall time between two looks at who comes and goes
IDLE = 0.02  # s of wall time that is waited for messages of the host's own before the guests have their turn again
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


@dataclass
class _Seat:
    """A guest and the connection to its own process."""

    guest: Guest
    connection: socket.socket


class CompositionHost:
    """A FastLoop of the physics node, in whose waits the guests have their turns."""

    def __init__(self, node: RobustNode, loop: FastLoop):
        self._node, self._loop = node, loop
        self._seats: list[_Seat] = []
        self._coming: dict[socket.socket, bytearray] = {}
        self._look_due = 0.0
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(address(sys.argv))
        self._door.listen()
        self._door.setblocking(False)

    def wait(self, timeout: float | None = None) -> bool:
        """As that of FastLoop, for the host and all guests."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            done = self._turns()
            done = self._loop.wait(0.0) or done
            now = time.monotonic()
            if now >= self._look_due:
                self._look()
                self._look_due = time.monotonic() + LOOK_PERIOD
            if done:
                return True
            left = IDLE if deadline is None else min(IDLE, deadline - now)
            if left <= 0.0:
                return False
            if self._loop.wait(left):
                return True

    def serve(self) -> bool:
        """As that of FastLoop."""
        return self._loop.serve()

    def listen_to(self, handlers: Sequence[Handler], slack: Sequence[Handler] | None = None) -> None:
        """As that of FastLoop."""
        self._loop.listen_to(handlers, slack)

    def close(self) -> None:
        """End all guests, and tell their processes how they ended."""
        self._door.close()
        for seat in list(self._seats):
            self._end(seat)
        for connection in self._coming:
            connection.close()
        self._loop.close()

    def _turns(self) -> bool:
        """Let every guest answer what is there for it; returns whether any did anything."""
        done = False
        for seat in self._seats:
            done = seat.guest.node.turn() or done
        return done

    def _look(self) -> None:
        """Seat who has come, and end those whose processes are gone."""
        watched = [self._door, *self._coming, *(seat.connection for seat in self._seats)]
        ready = set(select.select(watched, [], [], 0.0)[0])
        for seat in [each for each in self._seats if each.connection in ready]:
            self._end(seat)  # it has nothing to say any more: this is its end
        for connection in [each for each in self._coming if each in ready]:
            self._read(connection)
        if self._door in ready:
            connection, _ = self._door.accept()
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            if _CREDENTIALS.unpack(credentials)[1] == getuid():
                self._coming[connection] = bytearray()
            else:
                connection.close()

    def _read(self, connection: socket.socket) -> None:
        data = connection.recv(1 << 16)
        said = self._coming[connection]
        said += data
        if not data:
            del self._coming[connection]
            connection.close()
        elif said.endswith(b"\n"):
            del self._coming[connection]
            self._seat(Guest(**json.loads(said)), connection)

    def _seat(self, guest: Guest, connection: socket.socket) -> None:
        """Make the node of a guest, or say why there is none."""
        if guest.executable not in MODULES:
            _tell(connection, None)
            return
        try:
            with acting_for(guest):
                code: int | None = importlib.import_module(module_of(guest.executable)).main()
        except Exception as error:
            self._node.outlive(f"composing '{guest.executable}'", error)
            code = 1
        if guest.node is None:
            _tell(connection, code)
        elif not hasattr(guest.node, "turn"):  # it has a loop of its own
            guest.node.destroy_node()
            _tell(connection, None)
        else:
            self._seats.append(_Seat(guest, connection))
        gc.collect()
        gc.freeze()

    def _end(self, seat: _Seat) -> None:
        self._seats.remove(seat)
        code = getattr(seat.guest.node, "exit_code", 0)
        seat.guest.node.leave()
        _tell(seat.connection, code)


def _tell(connection: socket.socket, code: int | None) -> None:
    """Tell a guest's process its exit code, None if it is to run its node itself."""
    try:
        connection.sendall(json.dumps({"exit_code": code}).encode() + b"\n")
    except OSError:  # it is gone already
        pass
    connection.close()
