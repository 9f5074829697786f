# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Running: real processes, their output, their end in every way a launch can end."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 100.0  # s, on a busy machine
SLEEPER = '<node pkg="probe" exec="sleeper" output="screen" {more}/>'


def wait_for_pids(process: subprocess.Popen[str], count: int = 1) -> tuple[list[int], list[str]]:
    """Read the output until so many sleepers have told their pids."""
    pids: list[int] = []
    lines: list[str] = []
    assert process.stdout is not None
    while count > 0:
        line = process.stdout.readline()
        assert line, f"the launch ended early: {lines}"
        lines.append(line)
        if "pids" in line:
            pids += [int(word) for word in line.partition("pids")[2].split()]
            count -= 1
    return pids, lines


def runs(pid: int) -> bool:
    """Is there such a process, other than as a zombie that its new parent has not collected yet?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids: list[int]) -> bool:
    """Do all processes end?"""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(runs(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def test_a_node_gets_arguments_and_environment(launch, dumped):
    process = launch(
        """<arg name="who" default="you"/>
        <node pkg="probe" exec="dump" args="hello $(var who)" output="screen"><env name="A" value="b c"/></node>""",
        "who:=world",
    )
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    (started,) = dumped()
    assert started["argv"] == ["hello", "world", "--ros-args"]
    assert started["env"]["A"] == "b c"
    assert "_ROS_WHEELS_BOOTSTRAP_COMPLETE" not in started["env"]
    assert "[dump] dumped\n" in output
    assert "[dump] to stderr\n" in output


@pytest.mark.parametrize(
    ("output", "on_screen", "in_log"), [("screen", "oe", ""), ("log", "e", "oe"), ("both", "oe", "oe")]
)
def test_output_goes_where_it_is_sent(launch, tmp_path, output, on_screen, in_log):
    process = launch(f'<node pkg="probe" exec="dump" output="{output}"/>')
    screen, _ = process.communicate(timeout=PATIENCE)
    log = "".join(Path(file).read_text() for file in glob.glob(f"{tmp_path}/log/dump*.log"))
    assert ("dumped" in screen, "to stderr" in screen) == ("o" in on_screen, "e" in on_screen)
    assert ("dumped" in log, "to stderr" in log) == ("o" in in_log, "e" in in_log)


def test_exit_code_tells_whether_a_node_failed(launch):
    dump = '<node pkg="probe" exec="dump">{env}</node>'
    good, bad = dump.format(env=""), dump.format(env='<env name="CODE" value="3"/>')
    process = launch(good + good)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    process = launch(good + bad)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "dump-2 failed with code 3" in output


@pytest.mark.parametrize(("code", "expected"), [("3", 1), ("0", 0)])
def test_on_exit_shutdown_ends_the_others(launch, code, expected):
    process = launch(
        SLEEPER.format(more="")
        + f'<node pkg="probe" exec="dump" on_exit="shutdown"><env name="CODE" value="{code}"/></node>'
    )
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == expected, output
    assert "sleeper ended" in output


def test_a_node_killed_from_outside_is_a_failure(launch):
    process = launch(SLEEPER.format(more='on_exit="shutdown"'))
    (pid,), _ = wait_for_pids(process)
    os.kill(pid, signal.SIGKILL)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "sleeper failed with signal 9" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_ends_all_nodes_cleanly(launch, number):
    process = launch(SLEEPER.format(more="") + SLEEPER.format(more=""))
    pids, _ = wait_for_pids(process, 2)
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert output.count("interrupted") == 2  # the nodes had the time to end by themselves
    assert not any(runs(pid) for pid in pids)


def test_a_second_ctrl_c_kills_at_once(launch):
    process = launch(SLEEPER.format(more='args="stubborn"'))
    pids, _ = wait_for_pids(process)
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline()  # that it has heard the first
    assert runs(pids[0]), said
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "sending SIGTERM" not in output, "it did not wait for the escalation"
    assert not runs(pids[0])


def test_a_stubborn_node_is_killed_in_the_end_and_that_is_a_failure(launch):
    process = launch(SLEEPER.format(more='args="stubborn"'))
    pids, _ = wait_for_pids(process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "sending SIGTERM" in output
    assert "sending SIGKILL" in output
    assert process.returncode == 1
    assert not runs(pids[0])


def test_what_a_node_started_ends_with_it(launch):
    process = launch(SLEEPER.format(more='args="parent"'))
    pids, _ = wait_for_pids(process)
    assert len(pids) == 2
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert gone(pids)


@pytest.mark.parametrize("kind", ["", "stubborn", "parent"])
def test_kill_9_of_the_launcher_leaves_nothing_behind(launch, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # other launches of this machine have their folders elsewhere
    process = launch(f"""
        <node pkg="probe" exec="sleeper" output="screen" args="{kind}"><param name="a" value="1"/></node>
        <node pkg="probe" exec="sleeper" output="screen"/>""")
    pids, _ = wait_for_pids(process, 2)
    assert list(tmp_path.glob("mbsim_launch_*"))
    process.kill()
    process.wait()
    assert gone(pids)
    deadline = time.monotonic() + PATIENCE
    while list(tmp_path.glob("mbsim_launch_*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.glob("mbsim_launch_*"))


def test_an_executable_that_cannot_start_ends_the_launch(launch, prefix):
    (prefix / "lib/probe/broken").write_text("#!/no/such/interpreter\n")
    (prefix / "lib/probe/broken").chmod(0o755)
    process = launch(SLEEPER.format(more="") + '<node pkg="probe" exec="broken"/>')
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "broken cannot be started" in output


def shell_node(prefix: Path, name: str, script: str) -> str:
    """An executable of the test package that is a shell script; returns the <node> that runs it."""
    path = prefix / "lib/probe" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f'<node pkg="probe" exec="{name}" output="screen" {{more}}/>'


def test_a_failure_beside_a_regular_end_is_still_a_failure(launch, prefix):
    """The launcher is stopped while both nodes end, so it sees both at once; that one shuts down excuses nothing."""
    wait = f"echo pids $$; while ! [ -e {prefix}/end ]; do sleep 0.05; done"
    good = shell_node(prefix, "good", wait).format(more='on_exit="shutdown"')
    bad = shell_node(prefix, "bad", f"{wait}; exit 3").format(more="")
    process = launch(good + bad)
    pids, _ = wait_for_pids(process, 2)
    process.send_signal(signal.SIGSTOP)
    (prefix / "end").touch()
    assert gone(pids)
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "bad failed with code 3" in output
    assert process.returncode == 1


def test_started_in_the_background_nodes_still_hear_sigint(prefix, tmp_path):
    """A shell makes its background jobs ignore SIGINT, and children inherit that."""
    file = tmp_path / "background.launch.xml"
    file.write_text(f"<launch>{SLEEPER.format(more='')}</launch>")
    command = f"trap '' INT; exec {sys.executable} -m mbsim_ros launch {file}"
    process = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for_pids(process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "interrupted" in output


def test_a_crash_while_ending_is_a_failure(launch, prefix):
    node = shell_node(prefix, "crash", "trap 'kill -SEGV $$' INT; echo pids $$; while :; do sleep 0.1; done")
    process = launch(node.format(more=""))
    wait_for_pids(process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "crash failed with signal 11" in output
    assert process.returncode == 1


def test_a_child_that_writes_for_ever_does_not_hold_the_launch(launch, prefix):
    node = shell_node(prefix, "flood", "yes & sleep 0.3; exit 0")
    process = launch(node.format(more="").replace("screen", "log"))
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_a_line_without_end_is_shown_in_pieces(launch, prefix, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # with which Python's own stdout drops what a signal interrupts
    node = shell_node(prefix, "long", "head -c 3000000 /dev/zero | tr '\\0' x")
    process = launch(node.format(more=""))
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert output.count("x") == 3_000_000


def test_a_log_that_cannot_be_written_is_a_warning(launch, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", "/proc/nowhere")
    process = launch('<node pkg="probe" exec="dump" output="log"/>')
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "warning: no log of dump" in output


def test_nohup_is_respected(launch, prefix, tmp_path):
    file = tmp_path / "nohup.launch.xml"
    file.write_text(f"<launch>{SLEEPER.format(more='')}</launch>")
    process = subprocess.Popen(
        ["nohup", sys.executable, "-m", "mbsim_ros", "launch", str(file)], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        wait_for_pids(process)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    finally:
        process.kill()


@pytest.mark.parametrize("closing", [">&-", ">/dev/full", "| head -c 1"])
def test_nobody_reading_does_not_end_the_nodes_badly(prefix, tmp_path, closing):
    """The node gets its SIGINT and its time to end, also when the screen is gone."""
    trace = tmp_path / "trace"
    node = shell_node(
        prefix,
        "traced",
        f"trap 'echo interrupted >> {trace}; exit 0' INT; echo $$ > {trace}; while :; do sleep 0.05; done",
    )
    file = tmp_path / "closed.launch.xml"
    file.write_text(f"<launch>{node.format(more='')}</launch>")
    command = f"exec {sys.executable} -m mbsim_ros launch {file} {closing}"
    shell = subprocess.Popen(
        ["bash", "-c", command if "|" not in closing else command.removeprefix("exec ")], start_new_session=True
    )
    deadline = time.monotonic() + PATIENCE
    while not (trace.exists() and trace.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(shell.pid, signal.SIGTERM)
    while "interrupted" not in trace.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "interrupted" in trace.read_text()
    shell.wait(timeout=PATIENCE)
