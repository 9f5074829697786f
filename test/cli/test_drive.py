# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim drive`: keys become velocities that change smoothly, and the terminal is as it was afterwards."""

from __future__ import annotations

import itertools
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from mbsim_ros.nodes.drive.keys import BACK, FORWARD, LEFT, QUIT, RIGHT, SIT, STAND, STOP, KeyDrive, read_keys

sys.path.append(str(Path(__file__).parents[1] / "nodes"))
PATIENCE = 100.0  # s


class OnTerminal:
    """A program whose standard input and output are a terminal that the test holds the other end of."""

    def __init__(self, *command: str):
        self._master, slave = pty.openpty()
        self._slave = slave  # stays open: its mode can be read while and after the program runs
        self.before = termios.tcgetattr(slave)
        self.shown = ""
        # A session of its own, with the terminal as the one that controls it: so Ctrl-C becomes a signal.
        take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", take, *command], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )

    @property
    def mode(self):
        return termios.tcgetattr(self._slave)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read(self) -> None:
        while select.select([self._master], [], [], 0.02)[0]:
            self.shown += os.read(self._master, 4096).decode(errors="replace")

    def wait_for(self, condition, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            self.read()
            assert time.monotonic() < end, f"waited {PATIENCE:g} s for {what}; shown: {self.shown[-2000:]}"

    def wait(self) -> int:
        self.wait_for(lambda: self.process.poll() is not None, "the end of the program")
        self.read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def on_terminal():
    started = []

    def start(*command: str) -> OnTerminal:
        started.append(OnTerminal(*command))
        return started[-1]

    yield start
    for program in started:
        program.close()


def test_keys_in_pieces():
    assert read_keys("ws q") == ([FORWARD, BACK, STOP, QUIT], "")
    assert read_keys("\x1b[A\x1bOB\x1b[1;5D") == ([FORWARD, BACK, LEFT], "")
    found, rest = read_keys("a\x1b[")
    assert (found, rest) == ([LEFT], "\x1b[")
    assert read_keys(rest + "C") == ([RIGHT], "")
    assert read_keys("zZ\x00é\x1bx~") == (["straight"], "")  # x after an escape that begins no arrow


def test_velocities_change_smoothly_and_stay_within_limits():
    drive = KeyDrive()
    for _ in range(50):
        drive.press(FORWARD)
        drive.press(RIGHT)
    assert drive.wanted == (drive.limits.forward, -drive.limits.turn)
    sent = [velocity for velocity in (drive.advance(0.05) for _ in range(40)) if velocity is not None]
    assert sent[-1] == (drive.limits.forward, -drive.limits.turn, 0.0)
    steps = [b[0] - a[0] for a, b in itertools.pairwise(sent)]
    assert max(steps) <= 0.05 * drive.limits.forward / drive.limits.ramp + 1e-12
    assert drive.advance(0.05) is None  # it keeps that: nothing to say


def test_back_to_zero_is_exactly_zero():
    drive = KeyDrive()
    for key in (FORWARD, FORWARD, FORWARD, BACK, BACK, BACK):
        drive.press(key)
    assert drive.wanted == (0.0, 0.0)


def test_it_stops_before_it_sits():
    drive = KeyDrive()
    drive.press(FORWARD)
    while drive.advance(0.05):
        pass
    drive.press(SIT)
    sent = [velocity for velocity in (drive.advance(0.05) for _ in range(40)) if velocity is not None]
    assert sent[-1] == (0.0, 0.0, -1.0)
    assert all(rise == 0.0 for *_, rise in sent[:-1])
    drive.press(STAND)
    assert drive.advance(0.05) == (0.0, 0.0, 1.0)


ENDS = {
    "quits": ("pass", None),
    "exception": ("raise RuntimeError", None),
    "exit": ("sys.exit(3)", None),
    "exit without leaving": ("atexit._run_exitfuncs(); os._exit(0)", None),
    "SIGINT": ("wait()", signal.SIGINT),
    "SIGTERM": ("wait()", signal.SIGTERM),
    "SIGHUP": ("wait()", signal.SIGHUP),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_terminal_is_restored_whatever_happens(end, on_terminal):
    does, number = ENDS[end]
    script = f"""
import atexit, os, sys
from mbsim_ros.nodes.drive.terminal import Terminal
def wait():
    while not terminal.ended:
        terminal.read(0.05)
with Terminal() as terminal:
    terminal.write("taken")
    while "g" not in terminal.read(0.05):
        pass
    {does}
"""
    program = on_terminal("-c", script)
    program.wait_for(lambda: "taken" in program.shown, "the terminal to be taken")
    assert not program.mode[3] & (termios.ECHO | termios.ICANON)
    program.type("g")
    if number is not None:
        program.process.send_signal(number)
    program.wait()
    assert program.mode == program.before


def test_suspended_and_continued(on_terminal):
    """As under a shell: the program is a job of its own in the foreground, for others cannot be suspended."""
    script = """
import os, time
from mbsim_ros.nodes.drive.terminal import Terminal
job = os.fork()
if job:
    os.setpgid(job, job)
    os.tcsetpgrp(0, job)
    os.waitpid(job, 0)
else:
    while os.tcgetpgrp(0) != os.getpid():
        time.sleep(0.01)
    with Terminal() as terminal:
        terminal.write(f"job {os.getpid()} has it")
        while not terminal.ended:
            terminal.read(0.05)
"""
    program = on_terminal("-c", script)
    program.wait_for(lambda: "has it" in program.shown, "the terminal to be taken")
    job = int(re.search(r"job (\d+)", program.shown)[1])
    program.type("\x1a")  # Ctrl-Z
    program.wait_for(lambda: program.mode == program.before, "the terminal to be given back")
    os.kill(job, signal.SIGCONT)
    program.wait_for(lambda: program.mode != program.before, "the terminal to be taken again")
    os.kill(job, signal.SIGTERM)
    program.wait()
    assert program.mode == program.before


@pytest.mark.ros
def test_driving_over_ros(on_terminal, monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    from drive_listener import DriveListener

    listener = DriveListener("walker")
    try:
        program = on_terminal("-m", "mbsim_ros", "drive")
        listener.wait_until(lambda: program.read() or listener.is_matched(), "mbsim drive to be there", PATIENCE)
        assert "faster forward" in program.shown  # the help
        listener.publish_odometry(stamp=3.25, forward=0.123)
        program.wait_for(lambda: listener.publish_odometry(3.25, 0.123) or "+0.12 m/s" in program.shown, "its odometry")
        program.type("ww\x1b[A")  # three notches ahead
        listener.wait_until(lambda: listener.last[0] == pytest.approx(0.15), "0.15 m/s", PATIENCE)
        forward = [velocity[0] for velocity in listener.velocities]
        assert forward == sorted(forward) and len(forward) > 2  # it comes smoothly
        assert listener.stamps[-1] == pytest.approx(3.25)
        asked = len(listener.velocities)  # what is not asked for again ends
        listener.wait_until(lambda: len(listener.velocities) > asked + 2, "it to be asked for again", PATIENCE)
        assert set(listener.velocities[asked:]) == {listener.last}
        program.type("\x1b[D")
        listener.wait_until(lambda: listener.last[1] > 0.01, "a turn to the left", PATIENCE)
        program.type("f")
        listener.wait_until(lambda: listener.last[2] == -1.0, "it to sit down", PATIENCE)
        program.type("w")
        listener.wait_until(lambda: listener.last[0] > 0.0, "it to go on", PATIENCE)
        program.type("\x03")  # Ctrl-C
        assert program.wait() == 0
        listener.wait_until(lambda: listener.last == (0.0, 0.0, 0.0), "the stop at the end", PATIENCE)
    finally:
        listener.close()
    assert program.mode == program.before
    assert re.search(r"stopped\s*$", program.shown)
    assert "Traceback" not in program.shown


def test_without_a_terminal_it_says_so():
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "drive"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "not a terminal" in done.stderr and "Traceback" not in done.stderr


def test_bad_limits_are_refused():
    done = subprocess.run([sys.executable, "-m", "mbsim_ros", "drive", "--turn", "-1"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--turn: expected a number above 0, got -1" in done.stderr
