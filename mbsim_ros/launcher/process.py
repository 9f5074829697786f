# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One running node: its process group and its output."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import IO

from mbsim_ros.launcher.node_spec import NodeSpec
from mbsim_ros.launcher.output import NodeOutput, Screen
from mbsim_ros.status import LISTENER

LAST_READS = 64  # of a pipe after its node has ended
# The ROS wheels mark their environment as prepared; another venv's Python must prepare its own.
WHEEL_GUARD = "_ROS_WHEELS_BOOTSTRAP_COMPLETE"


class NodeProcess:
    """A started node. It leads a process group of its own, so that signals reach all it starts."""

    def __init__(self, spec: NodeSpec, folder: Path, screen: Screen, announce_fd: int):
        self.spec = spec
        self.output = NodeOutput(spec, screen)
        environment = {"PYTHONUNBUFFERED": "1", **spec.environment, LISTENER: str(os.getpid())}
        environment.pop(WHEEL_GUARD, None)

        def announce() -> None:
            # In the child, before exec: from here on the reaper knows the group, whatever happens to the launcher.
            os.write(announce_fd, f"+{os.getpid()}\n".encode())
            # A shell's background job ignores SIGINT, and what is ignored stays so in children.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)

        self._process = subprocess.Popen(
            spec.command_line(folder),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=announce,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self.streams: list[IO[bytes]] = [self._process.stdout, self._process.stderr]
        for stream in self.streams:
            os.set_blocking(stream.fileno(), False)

    @property
    def pid(self) -> int:
        """Process id, also the id of the process group."""
        return self._process.pid

    @property
    def returncode(self) -> int:
        """Exit code, negative for a signal; only after the end."""
        assert self._process.returncode is not None
        return self._process.returncode

    def ended(self) -> bool:
        """Has the node's main process ended?"""
        return self._process.poll() is not None

    def read(self, stream: IO[bytes]) -> int | None:
        """Take what the node has written and say how much: 0 at the end of the stream, None if nothing is there yet."""
        try:
            data = os.read(stream.fileno(), 65536)
        except BlockingIOError:
            return None
        self.output.write(data, error=stream is self._process.stderr)
        return len(data)

    def finish(self) -> None:
        """After the end: end what the node left behind and show the rest of the output."""
        self.signal(signal.SIGKILL)
        for stream in self.streams:
            for _ in range(LAST_READS):  # what left the group may hold the pipe and write on for ever
                if not self.read(stream):
                    break
            stream.close()
        self.output.close()

    def signal(self, number: int) -> None:
        """Send a signal to the node and all it started."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def wait(self) -> None:
        """Wait for the end of the process."""
        self._process.wait()
