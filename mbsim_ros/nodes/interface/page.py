# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The page docs/interface.md, from reports of running nodes and their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mbsim_ros.nodes.interface.checking import check, missing, rows, with_common_part
from mbsim_ros.nodes.interface.graph import read_nodes
from mbsim_ros.nodes.interface.reports import CALLS, OFFERS, PUBLISHES, SUBSCRIBES, NodeReport
from mbsim_ros.nodes.interface.texts import COMMON, CONTROLLERS, NODES, OF_TOOLS, NodeText

COMMAND = "./mbsim interface --out docs/interface.md"
HEAD = f"""\
# ROS interface

Every node of the package with its topics, services and parameters, as the running nodes report them. This page is
written by `{COMMAND}`, which starts them all and asks; a test compares.

Names without a leading slash are in the namespace of the node; the commands show them as they are while the launch
that is named runs. `ros2` is that of a ROS 2 installation. Whoever subscribes a topic that another node publishes finds
the command to look at it with that node.

QoS is reliability and durability, as DDS announces them; *transient local* gives the last message to who comes late.
How many messages wait in a queue is not announced.

Besides these every node has what ROS gives it: the topics `/rosout` and `/parameter_events`, the services of its
parameters (`get_parameters`, `set_parameters`, …) and `get_type_description`, the parameters `use_sim_time` and
`start_type_description_service`. Where `use_sim_time` is true, as it is for controllers unless they are told otherwise,
it subscribes `/clock`, except for a controller with `whole_state`, which takes the time from the states. Parameters of
QoS (`qos_overrides…`) belong to `/parameter_events` and `/clock`.

```text
ros2 node info /walker/physics                        # what this page says of a node
ros2 param describe /walker/physics gravity           # what it says of a parameter
ros2 param get /walker/physics gravity
ros2 param set /walker/physics gravity "[0.0, 0.0, -1.62]"     # where the column live says yes
ros2 run mbsim_ros physics --ros-args -r __ns:=/walker -p sync:=lockstep    # others when the node starts
```
"""
TOOLS = "Nodes of tools, which are no part of the interface: "


def current_page() -> str:
    """The page of the nodes as they are: starts them and asks. InterfaceMismatch, or RuntimeError if a node ends."""
    return page(read_nodes(lambda reports: not missing(with_common_part(reports))))


def page(reports: Mapping[str, NodeReport]) -> str:
    """The page as Markdown. InterfaceMismatch where reports and descriptions disagree."""
    parts = with_common_part(reports)
    check(parts)
    sections = [_section(name, parts[name], text) for name, text in NODES.items()]
    tools = TOOLS + ", ".join(f"`{name}` {what}" for name, what in OF_TOOLS.items()) + ".\n"
    return "\n".join([HEAD, _contents(), *sections, tools])


def _contents() -> str:
    names = [f"[{name}](#{name})" for name in NODES]
    return f"Nodes: {', '.join(names)}.\n"


def _section(name: str, report: NodeReport, text: NodeText) -> str:
    blocks = [f"## {name}", text.words]
    if name in CONTROLLERS:
        blocks[-1] += f" Has what all [{COMMON}](#{COMMON}) have, and:"
    blocks += [_topics(report, text), _services(report, text), _commands(name, report, text), _parameters(report)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _topics(report: NodeReport, text: NodeText) -> str:
    found = [entry for direction in (PUBLISHES, SUBSCRIBES) for entry in rows(report, text, direction)]
    table = [(f"`{e.name}`", e.direction, e.type, e.quality, about.words) for e, about in found]
    return _table(("topic", "the node", "type", "QoS", "what it is for"), table)


def _services(report: NodeReport, text: NodeText) -> str:
    found = [entry for direction in (OFFERS, CALLS) for entry in rows(report, text, direction)]
    return _table(
        ("service", "the node", "type", "what it is for"),
        [(f"`{e.name}`", e.direction, e.type, about.words) for e, about in found],
    )


def _parameters(report: NodeReport) -> str:
    table = [
        (f"`{p.name}`", p.type, f"`{p.default}`", p.limits.rstrip("."), "yes" if p.live else "", p.description)
        for p in report.parameters
    ]
    return _table(("parameter", "type", "default", "range", "live", "what it is"), table)


def _commands(name: str, report: NodeReport, text: NodeText) -> str:
    """A block of commands to paste: what the launch of the node needs first, then those of other launches."""
    lines = list(_lines(report, text))
    if text.live is not None:
        lines.append((text.launch, f"ros2 param set {text.runs_as} {text.live[0]} {text.live[1]}"))
    if not lines:
        return ""
    launches = dict.fromkeys([text.launch, *(launch for launch, _ in lines)])
    blocks = []
    for launch in launches:
        commands = [command for needed, command in lines if needed == launch]
        if commands:
            blocks.append("\n".join([f"# {launch}", *commands]))
    return "```text\n" + "\n\n".join(blocks) + "\n```"


def _lines(report: NodeReport, text: NodeText) -> Iterator[tuple[str, str]]:
    """Launch and command of every topic that is published or has an example, and of every service."""
    space = text.runs_as.rpartition("/")[0]
    for entry, about in rows(report, text, PUBLISHES):
        once = " --once" if "transient" in entry.quality else ""
        topic = _absolute(about.space or space, about.sample or entry.name)
        yield about.launch or text.launch, f"ros2 topic echo{once} {topic}"
    for entry, about in rows(report, text, SUBSCRIBES):
        if about.example:
            how = "--rate 10" if about.again_and_again else "--once"
            topic = _absolute(about.space or space, about.sample or entry.name)
            yield about.launch or text.launch, f'ros2 topic pub {how} {topic} {entry.type} "{about.example}"'
    for entry, about in rows(report, text, OFFERS):
        request = "" if about.example == "{}" else f' "{about.example}"'
        yield text.launch, f"ros2 service call {_absolute(space, about.sample or entry.name)} {entry.type}{request}"


def _absolute(space: str, name: str) -> str:
    return name if name.startswith("/") else f"{space}/{name}"


def _table(head: Sequence[str], table: Iterable[Sequence[str]]) -> str:
    """As Markdown; "" without rows."""
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in table]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])
