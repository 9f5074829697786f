# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""docs/interface.md is what the running nodes report, and nothing of it is without a description."""

from __future__ import annotations

import dataclasses
import difflib
from pathlib import Path

import pytest

pytest.importorskip("viser")
pytest.importorskip("simulation_interfaces")

from mbsim_ros.nodes.interface import checking
from mbsim_ros.nodes.interface.checking import InterfaceMismatch, missing, with_common_part
from mbsim_ros.nodes.interface.graph import read_nodes
from mbsim_ros.nodes.interface.page import COMMAND, page
from mbsim_ros.nodes.interface.processes import Start, ended, running
from mbsim_ros.nodes.interface.reports import PUBLISHES, Endpoint, NodeReport, ParameterReport, matches, union
from mbsim_ros.nodes.interface.texts import COMMON, NODES, OF_TOOLS, NodeText, Text

ROOT = Path(__file__).resolve().parents[2]
STRING = "std_msgs/msg/String"


def test_the_page_is_what_the_running_nodes_report(monkeypatch):
    reports = read_nodes(lambda found: not missing(with_common_part(found)))
    written, current = (ROOT / "docs/interface.md").read_text(), page(reports)
    difference = "\n".join(difflib.unified_diff(written.splitlines(), current.splitlines(), "the page", "the nodes"))
    assert written == current, f"{difference}\nrenew docs/interface.md with `{COMMAND}`"

    # The same reports against other texts: what is not described, and what is not there, is named.
    physics = NODES["physics"]
    without = {name: text for name, text in physics.publishes.items() if name != "odom"}
    others = {**without, "odometry": Text("Nobody publishes this.")}
    monkeypatch.setitem(checking.NODES, "physics", dataclasses.replace(physics, publishes=others))
    with pytest.raises(InterfaceMismatch) as error:
        page(reports)
    assert str(error.value).splitlines() == [
        "physics publishes no odometry, which texts.py describes",
        "physics publishes odom: expected one description in texts.py, got 0",
    ]


def test_every_executable_is_on_the_page():
    executables = {path.name for path in (ROOT / "libexec").iterdir()} - {"node_stub"}
    assert executables == (set(NODES) - {COMMON}) | set(OF_TOOLS)
    text = (ROOT / "docs/interface.md").read_text()
    for name in executables:
        assert f"## {name}\n" in text or f"`{name}`" in text


def problems(monkeypatch, text: NodeText, *endpoints: Endpoint, parameters: tuple[ParameterReport, ...] = ()):
    """What is wrong with a node of this text that shows these."""
    monkeypatch.setattr(checking, "NODES", {"talker": text})
    try:
        checking.check({"talker": NodeReport(frozenset(endpoints), parameters)})
    except InterfaceMismatch as error:
        return str(error).splitlines()
    return []


def node_text(words: Text, name: str = "chatter", **more) -> NodeText:
    return NodeText("Talks.", "./mbsim launch arm", "/arm/talker", publishes={name: words}, **more)


def test_names_that_stand_for_many(monkeypatch):
    text = node_text(Text("Of a link.", sample="wrench/foot"), "wrench/<link>")
    foot, hand = (Endpoint(PUBLISHES, f"wrench/{link}", STRING, "reliable, volatile") for link in ("foot", "hand"))
    assert problems(monkeypatch, text, foot, hand) == []
    assert problems(monkeypatch, text, hand) == ["talker publishes wrench/<link>: there is no wrench/foot"]
    other = dataclasses.replace(hand, quality="best effort, volatile")
    assert "expected one type and quality of service" in problems(monkeypatch, text, foot, other)[0]
    assert not matches("wrench/<link>", "wrench/foot/left")
    assert not matches("wrench/<link>", "wrench/")


def test_examples_have_to_fit(monkeypatch):
    chatter = Endpoint(PUBLISHES, "chatter", STRING)
    assert problems(monkeypatch, node_text(Text("Words.", "{data: hello}")), chatter) == []
    for wrong in ("{words: hello}", "{data: 1}", "{data: {x: 1}}"):
        (problem,) = problems(monkeypatch, node_text(Text("Words.", wrong)), chatter)
        assert problem.startswith(f"talker publishes chatter: {wrong} is no {STRING}")


def test_parameters_need_description_and_default(monkeypatch):
    chatter = Endpoint(PUBLISHES, "chatter", STRING)
    nameless = ParameterReport("volume", "double", None, "", False, "")
    found = problems(monkeypatch, node_text(Text("Words."), live=("volume", "1.0")), chatter, parameters=(nameless,))
    assert found == [
        "talker has the parameter volume without a description",
        "talker has the parameter volume, whose default processes.py does not tell",
        "talker has no live parameter volume, which texts.py sets",
    ]


def test_processes_of_one_node_are_one_report():
    given, default = (ParameterReport("file", "string", value, "", False, "A file.") for value in (None, '""'))
    first = NodeReport(frozenset({Endpoint(PUBLISHES, "a", STRING)}), (given,))
    second = NodeReport(frozenset({Endpoint(PUBLISHES, "b", STRING)}), (default,))
    for pair in ((first, second), (second, first)):
        assert union(pair) == NodeReport(first.endpoints | second.endpoints, (default,))


def test_a_node_that_ends_is_named(tmp_path):
    wanted = [Start("joint_hold", "/x", {"rate": "-1.0"})]
    with running(wanted, tmp_path) as processes:
        processes[0].wait(100.0)
        (words,) = ended(wanted, processes, tmp_path)
    assert words.startswith("joint_hold ended with exit code 2: ")
    assert "rate" in words
