# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a launch shows of what its nodes are doing: one line, and at the end how it went."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from mbsim_ros.launcher import statuses
from mbsim_ros.launcher.statuses import Statuses
from mbsim_ros.status import LISTENER, MARK, read_note

PATIENCE = 100.0  # s
NOTES = """\
import os, sys, time
sys.path.insert(0, {package!r})
from mbsim_ros.status import tell_status, tell_summary
tell_status("compiling 3 of 7 kernels, about 5 s")
print("a word", flush=True)
time.sleep({seconds})
tell_status("")
tell_summary("simulated 2 s")
"""


def test_nodes_that_do_the_same_stand_together_and_a_line_is_printed_once():
    clock = [0.0]
    shown = Statuses(is_terminal=False, clock=lambda: clock[0])
    shown.set("physics", "compiling 1 of 9 kernels, about 10 s")
    shown.set("a", "waiting for /robot_description")
    shown.set("b", "waiting for /robot_description")
    assert shown.due() is None, "most is over in a moment"
    clock[0] = 6.0
    shown.set("physics", "compiling 5 of 9 kernels, about 5 s")
    line = "physics: compiling 5 of 9 kernels, about 5 s | a, b: waiting for /robot_description"
    assert shown.due() == line
    clock[0] = 30.0
    assert shown.due() is None
    clock[0] = 70.0
    assert shown.due() == line, "after a minute it is told that it still goes on"
    clock[0] = 130.0
    assert shown.due() is None, "ever more rarely"
    shown.set("physics", "")
    shown.set("a", "")
    shown.set("b", "")
    assert shown.due() is None


def test_a_terminal_has_one_line_that_ordinary_lines_cover():
    clock = [0.0]
    shown = Statuses(is_terminal=True, clock=lambda: clock[0])
    shown.set("physics", "compiling")
    clock[0] = 1.0
    assert (shown.due(), shown.due()) == ("physics: compiling", None)
    assert shown.covered() and not shown.covered()
    clock[0] = 2.0
    assert shown.due() == "physics: compiling", "it is drawn again"
    shown.set("physics", "")
    clock[0] = 3.0
    assert shown.due() == ""


def test_notes_reach_the_parent_that_listens_and_nobody_else(tmp_path):
    package = str(Path(statuses.__file__).parents[2])
    code = NOTES.format(package=package, seconds=0.0)

    def told(listener: int) -> list[str]:
        environment = {**os.environ, LISTENER: str(listener)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stderr.splitlines()

    assert told(1) == []
    notes = [("status", "compiling 3 of 7 kernels, about 5 s"), ("status", ""), ("summary", "simulated 2 s")]
    assert [read_note(line) for line in told(os.getpid())] == notes
    assert read_note("mbsim status x") is None and read_note(f"{MARK}other x") is None


@pytest.mark.parametrize("on_terminal", [False, True])
def test_a_launch_ends_with_the_summary(prefix, write, on_terminal):
    script = prefix / "lib/probe/noting"
    package = str(Path(statuses.__file__).parents[2])
    script.write_text(f"#!{sys.executable} -IS\n" + NOTES.format(package=package, seconds=0.6))
    script.chmod(0o755)
    file = write('<node pkg="probe" exec="noting" output="screen"/>')
    command = [sys.executable, "-m", "mbsim_ros", "launch", str(file)]
    if on_terminal:
        reader, writer = pty.openpty()
        done = subprocess.run(command, stdout=writer, timeout=PATIENCE, env={**os.environ, "NO_COLOR": "1"})
        os.close(writer)
        output = os.read(reader, 65536).decode().replace("\r\n", "\n")
        os.close(reader)
    else:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        output = done.stdout
    assert done.returncode == 0
    assert MARK not in output
    assert output.endswith("[launch] noting ended\n[launch] noting: simulated 2 s\n")
    assert "[noting] a word\n" in output
    assert ("\r\033[Knoting: compiling 3 of 7 kernels, about 5 s" in output) == on_terminal
