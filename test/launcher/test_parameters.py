# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parameters as real rclpy nodes receive them: types, and which source wins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.values import parse_parameter

NODE = """\
#!/bin/sh
exec {python} - "$@" <<'EOF'
import json, os, rclpy, sys
from rclpy.node import Node
rclpy.init(args=sys.argv)
node = Node("unnamed", automatically_declare_parameters_from_overrides=True)
values = {{name: p.value if not hasattr(p.value, "tolist") else p.value.tolist() for name, p in node._parameters.items()}}
values = {{k: list(v) if not isinstance(v, (str, bool, int, float, type(None))) else v for k, v in values.items()}}
print("PARAMETERS", json.dumps({{"node": node.get_fully_qualified_name(), **values}}), flush=True)
EOF
"""


@pytest.fixture
def received(launch, prefix: Path):
    """Parameters that the real nodes of a launch file got, in the order of the file."""
    script = prefix / "lib/probe/parameters"
    script.write_text(NODE.format(python=sys.executable))
    script.chmod(0o755)

    def received(body: str) -> list[dict]:
        process: subprocess.Popen[str] = launch(body)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
        lines = sorted(line for line in output.splitlines() if "PARAMETERS" in line)
        return [json.loads(line.partition("PARAMETERS")[2]) for line in lines]

    return received


@pytest.mark.parametrize(
    ("text", "type_name", "value"),
    [
        ("1", None, 1),
        ("1.0", None, 1.0),
        ("1e-3", None, "1e-3"),  # YAML 1.1 wants a dot: 1.0e-3
        ("1.0e-3", None, 1e-3),
        ("true", None, True),
        ("yes", None, True),
        ("abc", None, "abc"),
        ("", None, ""),
        ("'1'", None, "1"),
        ("1 2", None, "1 2"),
        ("[1, 2]", None, [1, 2]),
        ("[1.0, 2.5]", None, [1.0, 2.5]),
        ("[a, b]", None, ["a", "b"]),
        ("[true, false]", None, [True, False]),
        ("1", "str", "1"),
        ("<robot name: x/>", "str", "<robot name: x/>"),
        ("1", "float", 1.0),
        ("1e-3", "float", 1e-3),
        ("1", "bool", True),
        ("1", "int", 1),
    ],
)
def test_values_are_yaml_unless_a_type_is_given(text, type_name, value):
    result = parse_parameter(text, type_name)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(("text", "type_name"), [("{a: 1}", None), ("[]", None), ("[1, a]", None), ("[1.0, 2]", None), ("~", None), ("a: b: c", None),
                                                 ("1.5", "int"), ("x", "float"), ("2", "bool"), ("1", "double")])  # fmt: skip
def test_values_that_no_parameter_can_have(text, type_name):
    with pytest.raises(SubstitutionError):
        parse_parameter(text, type_name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$(var one)", 1),
        ("$(var one)0", 10),
        ("'$(var one)'", 1),  # YAML takes the quotes away before the substitution: write type="str"
        ("'1'", "1"),
        (r"\'1\'", "'1'"),
        ("foo: [", "foo: ["),
        ("[$(var one), $(var one)2]", [1, 12]),
        ("[a$(var one), b]", ["a1", "b"]),
        ("['1', '2']", ["1", "2"]),
        ("$(command 'echo hi')", "hi"),
    ],
)
def test_yaml_is_applied_before_and_after_substitutions(plan, text, value):
    body = f"""<let name="one" value="1"/><node pkg="probe" exec="dump"><param name="p" value="{text}"/></node>"""
    result = plan(body).nodes[0].parameters[0].value
    assert result == value
    assert type(result) is type(value)


def test_types_arrive_at_a_real_node(received):
    (got,) = received("""
        <node pkg="probe" exec="parameters" name="n" output="screen">
          <param name="i" value="1"/><param name="f" value="1.5"/><param name="b" value="false"/>
          <param name="s" value="'7'"/><param name="list" value="[1.0, 2.5]"/><param name="names" value="[a, b]"/>
          <param name="xml" type="str" value="&lt;robot name='a: b'/&gt;"/>
        </node>""")
    expected = {"i": 1, "f": 1.5, "b": False, "s": "7", "list": [1.0, 2.5], "names": ["a", "b"],
                "xml": "<robot name='a: b'/>", "node": "/n"}  # fmt: skip
    assert {name: got[name] for name in expected} == expected


def test_who_wins(received, tmp_path):
    """The precedence of ros2 launch: later beats earlier, but an entry for the node beats any wildcard."""
    (tmp_path / "wild.yaml").write_text("/**: {ros__parameters: {p: wild}}")
    (tmp_path / "named.yaml").write_text("n: {ros__parameters: {p: named}}")
    (tmp_path / "spaced.yaml").write_text("/space/n: {ros__parameters: {p: spaced}}")
    wild, named = '<param from="$(dirname)/wild.yaml"/>', '<param from="$(dirname)/named.yaml"/>'
    spaced, inline = '<param from="$(dirname)/spaced.yaml"/>', '<param name="p" value="inline"/>'
    cases = [
        # name, namespace, sources in order, winner
        ("n", None, [], "global"),
        ("n", None, [wild], "wild"),
        ("n", None, [wild, inline], "inline"),
        ("n", None, [inline, wild], "wild"),
        ("n", None, [named, inline], "named"),
        ("n", "space", [spaced, inline], "inline"),
        ("n", "space", [inline, spaced], "spaced"),
        ("n", "space", [inline, wild], "inline"),
    ]
    body = '<set_parameter name="p" value="global"/>'
    for number, (name, namespace, sources, _) in enumerate(cases):
        space = f'namespace="{namespace}"' if namespace else ""
        index = f'<param name="case" value="{number}"/>'
        body += f'<node pkg="probe" exec="parameters" name="{name}" {space} output="screen">{"".join(sources)}{index}</node>'
    winners = {got["case"]: got["p"] for got in received(body)}
    assert winners == {number: case[3] for number, case in enumerate(cases)}
