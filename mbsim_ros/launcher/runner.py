# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Starts the planned processes, shows their output and ends them together."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from mbsim_ros.launcher import reaper
from mbsim_ros.launcher.node_spec import NodeSpec
from mbsim_ros.launcher.output import Screen
from mbsim_ros.launcher.plan import LaunchPlan
from mbsim_ros.launcher.process import NodeProcess

# As ros2 launch: SIGINT first, SIGTERM for what still runs after 5 s, SIGKILL after 5 s more.
ESCALATION = ((signal.SIGINT, 5.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


def run(plan: LaunchPlan, screen: Screen | None = None) -> int:
    """Run a plan until its nodes have ended; 0 if none of them failed."""
    return _Run(plan, screen or Screen()).until_the_end()


class _Run:
    """One launch: the processes and where they are on the way to their end."""

    def __init__(self, plan: LaunchPlan, screen: Screen):
        self.plan = plan
        self.screen = screen
        self.processes: list[NodeProcess] = []
        self.selector = selectors.DefaultSelector()
        self.interrupts = 0  # signals received from outside
        self.escalated = -1  # index into ESCALATION of the last signal sent
        self.next_escalation = float("inf")
        self.failed = False
        self.reason = ""  # why, in the words of the first that failed, where others ended after it
        self.folder = Path(tempfile.mkdtemp(prefix="mbsim_launch_"))
        self.reaper = _start_reaper(self.folder)

    def until_the_end(self) -> int:
        """Start everything, serve output and exits, clean up."""
        restore = self._catch_signals()
        try:
            for warning in self.plan.warnings:
                self.screen.say(f"warning: {warning}")
            for spec in self.plan.nodes:
                self._start(spec)
            if self.processes:
                started = (f"{each.spec.label} (pid {each.pid})" for each in self.processes)
                self.screen.say(f"started {', '.join(started)}")
            while self.processes:
                self._serve_output()
                self.screen.show_status()
                self._collect_ended()
                self._escalate()
            self.screen.sum_up()
            if self.reason:
                self.screen.say(f"ended because {self.reason}")
        finally:
            for process in self.processes:
                process.signal(signal.SIGKILL)
                process.wait()
            self._end_reaper()
            shutil.rmtree(self.folder, ignore_errors=True)
            restore()
        return 1 if self.failed else 0

    def _start(self, spec: NodeSpec) -> None:
        if self.escalated >= 0 or self.interrupts:
            return
        assert self.reaper.stdin is not None
        try:
            process = NodeProcess(spec, self.folder, self.screen, self.reaper.stdin.fileno())
        except OSError as error:
            self.screen.say(f"{spec.label} cannot be started: {error}")
            self.failed = True
            self._shut_down()
            return
        self.processes.append(process)
        for stream in process.streams:
            self.selector.register(stream, selectors.EVENT_READ, process)

    def _serve_output(self) -> None:
        timeout = min(0.2, max(0.0, self.next_escalation - time.monotonic()))
        for key, _ in self.selector.select(timeout):
            if key.fileobj == self.wakeup:
                os.read(self.wakeup, 4096)
            elif key.data.read(key.fileobj) == 0:
                self.selector.unregister(key.fileobj)

    def _collect_ended(self) -> None:
        asked_to = self.escalated >= 0  # before the ends seen here: one may shut the others down
        for process in [p for p in self.processes if p.ended()]:
            for stream in process.streams:
                if stream in self.selector.get_map():
                    self.selector.unregister(stream)
            process.finish()
            self._sign_off(process.pid)
            self.processes.remove(process)
            self._judge(process, asked_to)

    def _judge(self, process: NodeProcess, asked_to: bool) -> None:
        """Decide what the end of a node means for the launch."""
        code, label = process.returncode, process.spec.label
        # When asked to end a node may leave with any code; a crash is a crash, and so is having to be killed.
        expected = [-signal.SIGINT, -signal.SIGTERM] + ([-signal.SIGKILL] if self.interrupts > 1 else [])
        bad = (code < 0 and code not in expected) if asked_to else code != 0
        if bad:
            self.failed = True
        how = "" if code == 0 else f" with signal {-code}" if code < 0 else f" with code {code}"
        last = process.output.last_line if bad else ""
        words = f"; it said last: {last}" if last else ""
        if last and self.processes and not self.reason:
            self.reason = f"{label} failed: {last}"
        self.screen.say(f"{label} {'failed' if bad else 'ended'}{how}{words}")
        if process.spec.shutdown_on_exit and not asked_to:
            self._shut_down()

    def _shut_down(self) -> None:
        if self.escalated < 0:
            self.next_escalation = time.monotonic()
            self._escalate()

    def _escalate(self) -> None:
        if self.interrupts and self.escalated < 0:
            self.screen.say("ending all nodes (once more to kill them at once)")
            self.next_escalation = time.monotonic()
        if self.interrupts > 1 and self.escalated < len(ESCALATION) - 1:
            self.escalated = len(ESCALATION) - 2
            self.next_escalation = time.monotonic()
        if time.monotonic() < self.next_escalation:
            return
        self.escalated = min(self.escalated + 1, len(ESCALATION) - 1)
        number, patience = ESCALATION[self.escalated]
        self.next_escalation = time.monotonic() + patience
        for process in self.processes:
            if number != signal.SIGINT:
                self.screen.say(f"{process.spec.label} still runs, sending {signal.Signals(number).name}")
            process.signal(number)

    def _catch_signals(self):  # type: ignore[no-untyped-def]
        """Count SIGINT, SIGTERM and SIGHUP, and wake up for them and for ended children."""

        def count(number: int, frame: FrameType | None) -> None:
            self.interrupts += 1
            if self.interrupts > 1:  # at once and from here: the main loop may be stuck in writing to a paused terminal
                for process in self.processes:
                    process.signal(signal.SIGKILL)

        self.wakeup, write_end = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(write_end, False)
        previous_fd = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        caught = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup ignores it on purpose
            caught.append(signal.SIGHUP)
        previous = {n: signal.signal(n, count) for n in caught}
        previous[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.selector.register(self.wakeup, selectors.EVENT_READ)

        def restore() -> None:
            for number, handler in previous.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(previous_fd)
            os.close(self.wakeup)
            os.close(write_end)

        return restore

    def _sign_off(self, pid: int) -> None:
        assert self.reaper.stdin is not None
        try:
            os.write(self.reaper.stdin.fileno(), f"-{pid}\n".encode())
        except BrokenPipeError:
            self.screen.say("warning: the process that guards against kill -9 has ended")

    def _end_reaper(self) -> None:
        assert self.reaper.stdin is not None
        self.reaper.stdin.close()
        self.reaper.wait()


def _start_reaper(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", reaper.__file__, str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
