# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Launch files with mistakes: one clear error with file and line, and no process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.launcher.plan import plan_launch

MISTAKES = {
    "unknown tag": ("<executable/>", 3, "there is no tag <executable>"),
    "unknown attribute": ('<node pkg="probe" exec="dump" respawn="true"/>', 3, "<node> has no attribute 'respawn'"),
    "unknown child": ('<node pkg="probe" exec="dump">\n<parm/></node>', 4, "<node> has no child <parm>"),
    "attribute missing": ("<let name='a'/>", 3, "<let> needs the attribute 'value'"),
    "include missing": ('<include file="$(dirname)/none.launch.xml"/>', 3, "there is no launch file"),
    "include cyclic": ('<include file="$(dirname)/test.launch.xml"/>', 3, "cyclic: test.launch.xml → test.launch.xml"),
    "parameter file missing": (
        '<node pkg="probe" exec="dump">\n<param from="/none.yaml"/></node>', 4, "there is no parameter file /none.yaml"),
    "parameter file not YAML": (
        '<node pkg="probe" exec="dump">\n<param from="$(dirname)/prefix/lib/probe/dump"/></node>', 4, "is not YAML"),
    "parameter without value": ('<node pkg="probe" exec="dump">\n<param name="a"/></node>', 4, "needs the attribute 'value'"),
    "parameter with both": (
        '<node pkg="probe" exec="dump">\n<param name="a" from="/bin/sh"/></node>', 4, "either name and value or from"),
    "parameter a mapping": ('<node pkg="probe" exec="dump"><param name="a" value="{b: 1}"/></node>', 3, "YAML dict"),
    "parameter list mixed": ('<node pkg="probe" exec="dump"><param name="a" value="[1, b]"/></node>', 3, "of one type"),
    "parameter not of its type": (
        '<node pkg="probe" exec="dump"><param name="a" value="x" type="int"/></node>', 3, "not of the type int"),
    "package unknown": ('<node pkg="no_such_package" exec="dump"/>', 3, "package 'no_such_package' is not installed"),
    "executable unknown": ('<node pkg="probe" exec="dumb"/>', 3, "no executable 'dumb' (it has: dump, sleeper)"),
    "executable elsewhere": ('<node pkg="probe" exec="../probe/dump"/>', 3, "no executable '../probe/dump'"),
    "node name": ('<node pkg="probe" exec="dump" name="a b"/>', 3, "'a b' is not a valid node name"),
    "output": ('<node pkg="probe" exec="dump" output="loud"/>', 3, "output is one of screen, log, both"),
    "on_exit": ('<node pkg="probe" exec="dump" on_exit="restart"/>', 3, "on_exit can only be 'shutdown'"),
    "quotes in args": ("<node pkg='probe' exec='dump' args=\"'a\"/>", 3, "No closing quotation"),
    "unknown tag where a condition is false": ('<group if="false">\n<executable/></group>', 4, "no tag <executable>"),
    "a tag over several lines": ('<node\n  pkg="probe"\n  exec="none"\n/>', 3, "no executable 'none'"),
    "a child's mistake at its own line": ('<node pkg="probe" exec="dump">\n\n<env name="a" value="$(var b)"/></node>', 5, "<env>: there is no variable 'b'"),
    "an impossible date": ('<node pkg="probe" exec="dump"><param name="a" value="$(var b 2001-99-99)"/></node>', 3, "is not YAML"),
    "an empty command": ("""<let name="a" value="$(command '')"/>""", 3, "cannot be run"),
    "too much nesting": ('<let name="a" value="' + "$(not " * 300 + 'true"/>', 3, "more than 100 substitutions"),
    "bad substitution where a condition is false": ('<let name="a" value="$(eval 1)" if="0"/>', 3, "no substitution"),
    "unterminated inside quotes": ("""<let name="a" value="$(var b '$(var c')"/>""", 3, "' is not expected"),
    "comparison with nothing": ("""<let name="a" value="$(equals a '')"/>""", 3, "cannot compare with ''"),
    "bad substitution": ('<let name="a" value="$(eval 1)"/>', 3, "there is no substitution $(eval"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_named_with_file_and_line(plan, mistake, tmp_path):
    body, line, says = MISTAKES[mistake]
    with pytest.raises(LaunchError) as error:
        plan("\n" + f'<node pkg="probe" exec="sleeper"/>\n{body}')
    assert str(error.value).startswith(f"{tmp_path}/test.launch.xml:{line}: ")
    assert says in str(error.value)


def test_a_longer_cycle_is_found(plan, write):
    write('<include file="$(dirname)/c.launch.xml"/>', "b.launch.xml")
    write('<include file="$(dirname)/b.launch.xml"/>', "c.launch.xml")
    with pytest.raises(LaunchError, match=r"c\.launch\.xml:2: .*cyclic: test\..* → b\..* → c\..* → b\."):
        plan('<include file="$(dirname)/b.launch.xml"/>')


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not XML"),
        (b"<launch>\n<node>", ":2: is not XML"),
        (b"\x00\x01\x02", "is not XML"),
        (b"<robot/>", "the root of a launch file is <launch>, not <robot>"),
        (b'<!DOCTYPE l [<!ENTITY a "b">]><launch>&a;</launch>', "no DOCTYPE"),
        (
            b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><launch><arg name="&x;"/></launch>',
            "external entity",
        ),
        (b'<launch version="1"/>', "<launch> has no attribute 'version'"),
        (b"<launch>" + b" " * 5_000_000 + b"</launch>", "bytes"),
    ],
)
def test_files_that_are_no_launch_files(tmp_path, content, says):
    file = tmp_path / "bad.launch.xml"
    file.write_bytes(content)
    with pytest.raises(LaunchError) as error:
        plan_launch(file, {})
    assert says in str(error.value)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no_such_launch_file"], "there is no launch file 'no_such_launch_file'"),
        (["/no/such/file.launch.xml"], "there is no launch file /no/such/file.launch.xml"),
        (["doctr"], "did you mean 'doctor'?"),
        (["doctor", "round_trips=3"], "'round_trips=3' is not of the form name:=value"),
        (["doctor", "round_tips:=3"], "did you mean 'round_trips'?"),
    ],
)
def test_command_line_mistakes(arguments, says):
    command = [sys.executable, "-m", "mbsim_ros", "launch", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_anywhere_starts_no_process(launch, tmp_path):
    process = launch('<node pkg="probe" exec="dump"/><group><nonsense/></group>')
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "test.launch.xml:2: there is no tag <nonsense>" in output
    assert len(output.splitlines()) == 1
    assert not (tmp_path / "dump.jsonl").exists()


@pytest.mark.parametrize(
    "body", ['<arg name="a" default="$(foo bar)"/>', '<arg name="a" default="$(var)"/>', "<nonsense/>"]
)
def test_showing_the_arguments_of_a_broken_file_names_the_mistake(write, body):
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "launch", str(write(body)), "--show-args"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "test.launch.xml:2: " in done.stderr
    assert "Traceback" not in done.stderr


def test_showing_arguments_runs_nothing_and_follows_variables(write, tmp_path):
    write('<arg name="inner"/>', "inner.launch.xml")
    file = write(f"""
        <arg name="a" default="$(command 'touch {tmp_path}/ran')"/>
        <let name="f" value="$(dirname)/inner.launch.xml"/><include file="$(var f)"/>
        <include file="$(dirname)/../{tmp_path.name}/test.launch.xml"/>""")
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "launch", str(file), "--show-args", "a:=1"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "inner:=" in done.stdout
    assert not (tmp_path / "ran").exists()
