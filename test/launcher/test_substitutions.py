# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Every substitution, and the grammar of quotes and escapes."""

from __future__ import annotations

import pytest

from mbsim_ros.launcher.errors import LaunchError

LET = '<let name="a" value="b"/><let name="b" value="two words"/>'


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("$(var a)", "b"),
        ("$(var b)", "two words"),
        ("$(var a)_suffix", "b_suffix"),
        ("pre-$(var a)$(var a)", "pre-bb"),
        ("$(var $(var a))", "two words"),
        ("$(var none default)", "default"),
        ("$(var none '')", ""),
        ("$(var none 'a b (c)')", "a b (c)"),
        ('$(var none "it\'s")', "it's"),
        ("$(var none pre$(var a)post)", "prebpost"),
        ("$(var none '$(var b) too')", "two words too"),
        (r"\$(var a)", "$(var a)"),
        (r"a\\b", r"a\b"),
        (r"a\b", "ab"),
        ("a\\", "a\\"),
        (r"\\$(var a)", r"\$(var a)"),
        ("costs $5", "costs $5"),
        ("$$(var a)", "$b"),
        ("a (b) 'c'", "a (b) 'c'"),
        (r"$(var none a\)b)", "a)b"),
    ],
)
def test_grammar(expand, text, result):
    assert expand(text, LET) == result


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$(var a", "not closed"),
        ("$( var a)", "must follow"),
        ("$(var a )", "argument is missing"),
        ("$(var  a)", "argument is missing"),
        ("$(var 'a)", "quote ' is not closed"),
        ("$(var none a'b)", "not expected"),
        ("$()", "must follow"),
        ("$(nothing x)", "there is no substitution $(nothing"),
        ("$(var)", "takes a name"),
        ("$(var a b c)", "3 given"),
        ("$(dirname x)", "takes no argument"),
        ("$(var missing)", "no variable 'missing'"),
    ],
)
def test_mistakes_in_the_grammar_name_file_and_line(expand, text, says):
    with pytest.raises(LaunchError, match=r"test\.launch\.xml:2: <let>: ") as error:
        expand(text, LET)
    assert says in str(error.value)


def test_env_reads_the_environment_with_the_changes_of_set_env(expand, monkeypatch):
    monkeypatch.setenv("FROM_OUTSIDE", "out")
    assert expand("$(env FROM_OUTSIDE)") == "out"
    assert expand("$(env FROM_OUTSIDE)", '<set_env name="FROM_OUTSIDE" value="in"/>') == "in"
    assert expand("$(env NOT_SET_ANYWHERE default)") == "default"
    with pytest.raises(LaunchError, match="'NOT_SET_ANYWHERE' is not set"):
        expand("$(env NOT_SET_ANYWHERE)")


def test_find_pkg_share(expand, prefix):
    assert expand("$(find-pkg-share probe)/launch") == f"{prefix}/share/probe/launch"
    with pytest.raises(LaunchError, match="package 'prob' is not installed; did you mean 'probe'"):
        expand("$(find-pkg-share prob)")


def test_dirname_is_the_folder_of_the_file_it_stands_in(expand, plan, write, tmp_path):
    assert expand("$(dirname)") == str(tmp_path)
    (tmp_path / "inner").mkdir()
    node = '<node pkg="probe" exec="dump" args="$(dirname)"/>'
    write(node, "inner/inner.launch.xml")
    write(node, "beside.launch.xml")
    nodes = plan(
        f'<include file="$(dirname)/beside.launch.xml"/>{node}<include file="$(dirname)/inner/inner.launch.xml"/>'
    ).nodes
    assert [spec.arguments[0] for spec in nodes] == [str(tmp_path), str(tmp_path), f"{tmp_path}/inner"]


def test_dirname_after_an_include_from_another_folder_is_refused(plan, write, tmp_path):
    """Versions of ros2 launch differ there: some give the folder of the included file."""
    (tmp_path / "inner").mkdir()
    write("", "inner/inner.launch.xml")
    with pytest.raises(LaunchError, match=r"not the same in all versions.*\$\(var here\)"):
        plan('<include file="$(dirname)/inner/inner.launch.xml"/><let name="a" value="$(dirname)"/>')


def test_command_gives_its_output_as_it_is(expand):
    assert expand("$(command 'echo hello world')") == "hello world\n"
    assert expand("$(command 'printf $(var a)')", LET) == "b"
    assert expand("""$(command 'printf "a  b"')""") == "a  b"


@pytest.mark.parametrize("on_stderr", ["", " fail"])
def test_command_that_complains_is_refused_unless_told_otherwise(expand, on_stderr):
    complain = "sh -c \\'printf out; echo bad >&2\\'"
    with pytest.raises(LaunchError, match="wrote to stderr: bad"):
        expand(f"$(command '{complain}'{on_stderr})")
    assert expand(f"$(command '{complain}' ignore)") == "out"
    assert expand(f"$(command '{complain}' warn)") == "out"
    assert expand(f"$(command '{complain}' capture)").strip() == "outbad"
    with pytest.raises(LaunchError, match="takes fail, ignore, warn or capture"):
        expand(f"$(command '{complain}' perhaps)")


def test_command_that_fails_says_how(expand):
    with pytest.raises(LaunchError, match=r"ended with code 3: no"):
        expand("$(command \"sh -c 'echo no >&2; exit 3'\")")
    with pytest.raises(LaunchError, match="cannot be run"):
        expand("$(command no-such-program-at-all)")


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("a", "a", True),
        ("a", "A", False),
        ("1", "true", True),
        ("False", "0", True),
        ("1", "1.0", True),
        ("0.1", "1e-1", True),
        ("2", "3", False),
        ("inf", "Infinity", True),
        ("1.0", "true", False),
    ],
)
def test_equals_compares_by_meaning(expand, left, right, equal):
    assert expand(f"$(equals {left} {right})") == str(equal).lower()
    assert expand(f"$(not-equals {left} {right})") == str(not equal).lower()


def test_not(expand):
    assert expand("$(not true)") == "false"
    assert expand("$(not 0)") == "true"
    assert expand("$(not $(equals a b))") == "true"
    with pytest.raises(LaunchError, match="expected a boolean, not 'maybe'"):
        expand("$(not maybe)")
