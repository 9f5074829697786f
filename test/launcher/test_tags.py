# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Every tag: what it means, and that its scope is the one of ros2 launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.launcher.node_spec import InlineParameter
from mbsim_ros.launcher.plan import list_arguments

SHOW_X = """<node pkg="probe" exec="dump" args="$(var x unset)"/>"""


def first_arguments(plan):
    return [node.arguments[0] for node in plan.nodes]


class TestArg:
    BODY = '<arg name="x" default="$(var y 1)" description="What x is."/>' + SHOW_X

    def test_default_and_given_value(self, plan):
        assert first_arguments(plan(self.BODY)) == ["1"]
        assert first_arguments(plan(self.BODY, x="2")) == ["2"]

    def test_without_default_it_must_be_given(self, plan):
        body = '<arg name="x" description="Which robot."/>' + SHOW_X
        assert first_arguments(plan(body, x="")) == [""]
        with pytest.raises(LaunchError, match=r":2: argument 'x' \(Which robot\.\) must be given: x:=value"):
            plan(body)

    def test_choices(self, plan):
        body = '<arg name="x" default="flat"><choice value="flat"/><choice value="slope"/></arg>' + SHOW_X
        assert first_arguments(plan(body, x="slope")) == ["slope"]
        with pytest.raises(LaunchError, match="argument 'x' is one of flat, slope, not 'moon'"):
            plan(body, x="moon")

    def test_an_argument_nobody_declares_is_refused(self, plan):
        with pytest.raises(LaunchError, match=r"has no argument 'z'.*it has: x"):
            plan(self.BODY, z="1")

    def test_show_args_lists_those_of_includes_too(self, write):
        write('<arg name="inner" description="In the included file."/>', "inner.launch.xml")
        file = write(self.BODY + '<group><include file="$(dirname)/inner.launch.xml"/></group>')
        listed = [(argument.name, argument.default, argument.description) for argument in list_arguments(file)]
        assert listed == [("x", "$(var y 1)", "What x is."), ("inner", None, "In the included file.")]


class TestLetAndGroup:
    def test_a_group_keeps_its_changes_to_itself(self, plan):
        body = f'<let name="x" value="1"/><group><let name="x" value="2"/>{SHOW_X}</group>{SHOW_X}'
        assert first_arguments(plan(body)) == ["2", "1"]

    def test_a_group_that_is_not_scoped_does_not(self, plan):
        body = f'<let name="x" value="1"/><group scoped="false"><let name="x" value="2"/></group>{SHOW_X}'
        assert first_arguments(plan(body)) == ["2"]

    def test_groups_nest(self, plan):
        body = f'<group><let name="x" value="1"/><group><let name="x" value="2"/></group>{SHOW_X}</group>{SHOW_X}'
        assert first_arguments(plan(body)) == ["1", "unset"]

    def test_names_can_be_computed(self, plan):
        assert first_arguments(plan('<let name="$(var n)" value="3"/>' + SHOW_X, n="x")) == ["3"]


class TestInclude:
    def test_arguments_reach_the_included_file_and_stay_set(self, plan, write):
        write('<arg name="x"/>' + SHOW_X + '<let name="y" value="from inside"/>', "inner.launch.xml")
        body = f"""
            <include file="$(dirname)/inner.launch.xml"><arg name="x" value="given"/></include>
            {SHOW_X}<node pkg="probe" exec="dump" args="'$(var y)"/>""".replace("'", "")
        assert first_arguments(plan(body)) == ["given", "given", "from inside"]

    def test_in_a_group_they_do_not(self, plan, write):
        write(SHOW_X, "inner.launch.xml")
        body = f"""<group><include file="$(dirname)/inner.launch.xml"><arg name="x" value="1"/></include></group>{SHOW_X}"""
        assert first_arguments(plan(body)) == ["1", "unset"]

    def test_arguments_of_the_command_line_reach_includes(self, plan, write):
        write('<arg name="x" default="0"/>' + SHOW_X, "inner.launch.xml")
        assert first_arguments(plan('<include file="$(dirname)/inner.launch.xml"/>', x="7")) == ["7"]

    def test_a_required_argument_must_be_given_by_the_include(self, plan, write):
        """A variable of that name is not enough, as under ros2 launch."""
        write('<arg name="x"/>', "inner.launch.xml")
        with pytest.raises(LaunchError, match=r"inner\.launch\.xml:2: argument 'x' must be given by the <include>"):
            plan('<let name="x" value="1"/><include file="$(dirname)/inner.launch.xml"/>')

    def test_dirname_in_its_arguments_is_that_of_the_included_file(self, plan, write, tmp_path):
        (tmp_path / "inner").mkdir()
        write(SHOW_X, "inner/inner.launch.xml")
        body = """<include file="$(dirname)/inner/inner.launch.xml"><arg name="x" value="$(dirname)"/></include>"""
        assert first_arguments(plan(body)) == [f"{tmp_path}/inner"]


class TestPushRosNamespace:
    @pytest.mark.parametrize(
        ("pushes", "own", "result"),
        [
            ([], None, None),
            ([], "a", "/a"),
            ([], "/", "/"),
            (["robot"], None, "/robot"),
            (["robot"], "arm", "/robot/arm"),
            (["robot"], "/arm", "/arm"),
            (["a", "b"], None, "/a/b"),
            (["a", "/b"], "c", "/b/c"),
            (["/"], "c", "/c"),
        ],
    )
    def test_namespaces_join(self, plan, pushes, own, result):
        body = "".join(f'<push_ros_namespace namespace="{push}"/>' for push in pushes)
        namespace = "" if own is None else f'namespace="{own}"'
        assert plan(f'{body}<node pkg="probe" exec="dump" {namespace}/>').nodes[0].namespace == result

    def test_it_ends_with_the_group(self, plan):
        node = '<node pkg="probe" exec="dump"/>'
        nodes = plan(f'<group><push_ros_namespace namespace="a"/>{node}</group>{node}').nodes
        assert [spec.namespace for spec in nodes] == ["/a", None]

    def test_a_bad_one_is_refused(self, plan):
        with pytest.raises(LaunchError, match="'/a b' is not a valid namespace"):
            plan('<push_ros_namespace namespace="a b"/>')


class TestSetEnv:
    NODE = '<node pkg="probe" exec="dump"/>'

    def test_it_reaches_later_nodes_of_its_scope(self, plan):
        body = f'{self.NODE}<group><set_env name="SPECIAL" value="1"/>{self.NODE}</group>{self.NODE}'
        assert [spec.environment.get("SPECIAL") for spec in plan(body).nodes] == [None, "1", None]

    def test_the_env_of_a_node_wins(self, plan):
        body = """<set_env name="SPECIAL" value="1"/>
            <node pkg="probe" exec="dump"><env name="SPECIAL" value="2"/></node>"""
        assert plan(body).nodes[0].environment["SPECIAL"] == "2"


class TestSetParameter:
    def test_it_reaches_later_nodes_of_its_scope(self, plan):
        node = '<node pkg="probe" exec="dump"/>'
        body = f'<group><set_parameter name="a" value="true"/><set_parameter name="b" value="1.5"/>{node}</group>{node}'
        assert [spec.global_parameters for spec in plan(body).nodes] == [(("a", "True"), ("b", "1.5")), ()]

    @pytest.mark.parametrize("value", ["[1, 2]", ""])
    def test_values_that_ros2_launch_passes_on_wrongly_are_refused(self, plan, value):
        with pytest.raises(LaunchError, match="takes a single value"):
            plan(f'<set_parameter name="a" value="{value}"/>')

    def test_a_group_cannot_add_to_those_outside_of_it(self, plan):
        """Under ros2 launch the group's parameter would reach the nodes after the group."""
        outer, inner = '<set_parameter name="a" value="1"/>', '<group><set_parameter name="b" value="1"/></group>'
        plan(inner + outer)
        with pytest.raises(LaunchError, match="cannot follow one outside"):
            plan(outer + inner)


def test_set_use_sim_time_checks_its_value_and_reaches_no_node(plan):
    node = '<node pkg="probe" exec="dump"/>'
    assert plan(f'<set_use_sim_time value="true"/>{node}').nodes == plan(node).nodes
    with pytest.raises(LaunchError, match="expected a boolean"):
        plan('<set_use_sim_time value="sometimes"/>')


class TestIfAndUnless:
    @pytest.mark.parametrize("text", ["true", "True", "1", " TRUE "])
    def test_true(self, plan, text):
        assert len(plan(f'<node pkg="probe" exec="dump" if="{text}"/>').nodes) == 1
        assert len(plan(f'<node pkg="probe" exec="dump" unless="{text}"/>').nodes) == 0

    @pytest.mark.parametrize("text", ["false", "False", "0"])
    def test_false(self, plan, text):
        assert len(plan(f'<node pkg="probe" exec="dump" if="{text}"/>').nodes) == 0
        assert len(plan(f'<node pkg="probe" exec="dump" unless="{text}"/>').nodes) == 1

    @pytest.mark.parametrize("text", ["yes", "", "2"])
    def test_anything_else_is_refused(self, plan, text):
        with pytest.raises(LaunchError, match="a condition is true, false, 1 or 0"):
            plan(f'<node pkg="probe" exec="dump" if="{text}"/>')

    def test_not_both(self, plan):
        with pytest.raises(LaunchError, match="if or unless, not both"):
            plan('<group if="true" unless="false"/>')

    @pytest.mark.parametrize(
        "element",
        [
            '<arg name="x" {c}/>',
            '<let name="x" value="$(var none)" {c}/>',
            '<group {c}><include file="none"/></group>',
            '<include file="none" {c}/>',
            '<node pkg="none" exec="none" {c}/>',
            '<push_ros_namespace namespace="a b" {c}/>',
            '<set_env name="a" value="$(var none)" {c}/>',
            '<set_parameter name="a" value="[]" {c}/>',
            '<set_use_sim_time value="x" {c}/>',
        ],
    )
    def test_every_tag_has_them(self, plan, element):
        plan(element.format(c='if="false"'))
        plan(element.format(c='unless="$(equals a a)"'))
        with pytest.raises(LaunchError):
            plan(element.format(c='if="true"'))


class TestNode:
    def test_everything_of_a_node(self, plan, prefix, tmp_path):
        (tmp_path / "parameters.yaml").write_text("/**: {ros__parameters: {a: 1}}")
        body = """
            <node pkg="probe" exec="dump" name="n" namespace="robot" args="--speed 2 'two words'" ros_args="--log-level debug"
                  output="both" on_exit="shutdown">
              <param from="$(dirname)/parameters.yaml"/>
              <param name="gain" value="1.5"/>
              <remap from="in" to="$(var t other)"/>
              <env name="A" value="$(var t b)"/>
            </node>"""
        node = plan(body).nodes[0]
        assert node.executable == f"{prefix}/lib/probe/dump"
        assert node.arguments == ("--speed", "2", "two words")
        assert node.ros_arguments == ("--log-level", "debug")
        assert (node.name, node.namespace, node.label) == ("n", "/robot", "n")
        assert node.parameters == (tmp_path / "parameters.yaml", InlineParameter("gain", 1.5))
        assert node.remappings == (("in", "other"),)
        assert node.environment["A"] == "b"
        assert (node.output, node.shutdown_on_exit) == ("both", True)

    def test_command_line_is_that_of_ros2_launch(self, plan, tmp_path):
        body = """
            <set_parameter name="g" value="1"/>
            <node pkg="probe" exec="dump" name="n" namespace="r" args="x" ros_args="--log-level debug">
              <param name="a" value="1"/><remap from="in" to="out"/>
            </node>"""
        command = plan(body).nodes[0].command_line(tmp_path)
        file = str(tmp_path / "n_0.yaml")
        assert command[1:] == [
            "x", "--ros-args", "--log-level", "debug", "--ros-args", "-r", "__node:=n", "-r", "__ns:=/r",
            "-p", "g:=1", "--params-file", file, "-r", "in:=out",
        ]  # fmt: skip
        assert Path(file).read_text().split() == ["/r/n:", "ros__parameters:", "a:", "1"]

    @pytest.mark.parametrize(
        ("args", "result"),
        [
            ("", ("",)),
            ("$(var none '')", ("",)),
            ("  a   b ", ("a", "b")),
            (r"a\ b", ("a", "b")),
            ("$(var x)'q r'", ("one twoq r",)),
            ("a 'b c' d", ("a", "b c", "d")),
            ("$(var x)", ("one two",)),
            ("$(var x) $(var x)", ("one two", "one two")),
            ("--a=$(var x) b", ("--a=one two", "b")),
            ("a$(var x)b c", ("aone twob", "c")),
            ("$(var x)$(var x)", ("one twoone two",)),
        ],
    )
    def test_arguments_split_at_blanks_but_never_inside_a_substitution(self, plan, args, result):
        body = f'<let name="x" value="one two"/><node pkg="probe" exec="dump" args="{args}"/>'
        assert plan(body).nodes[0].arguments == result

    def test_without_pkg_the_executable_is_a_path_or_on_the_path(self, plan):
        assert plan('<node exec="/bin/sh"/>').nodes[0].executable == "/bin/sh"
        assert plan('<node exec="sh"/>').nodes[0].executable.endswith("/sh")
        with pytest.raises(LaunchError, match="no executable 'no-such-thing'"):
            plan('<node exec="no-such-thing"/>')

    def test_nodes_of_the_same_name_get_numbers_in_the_output(self, plan):
        nodes = plan('<node pkg="probe" exec="dump"/>' * 2 + '<node pkg="probe" exec="dump" name="x"/>').nodes
        assert [node.label for node in nodes] == ["dump-1", "dump-2", "x"]
