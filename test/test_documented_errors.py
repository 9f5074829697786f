# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""docs/errors.md: its messages are those of the code, each provoked here. Those of commands over ROS are in test/nodes."""

from __future__ import annotations

import re
import struct
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation, SimulationDiverged, load_urdf
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.formats.mcap_file import MAGIC
from mbsim_ros.cli.main import main
from mbsim_ros.sim.snapshots.snapshot import Snapshot, make_snapshot

ROOT = Path(__file__).resolve().parents[1]
PENDULUM = str(ROOT / "urdf/double_pendulum.urdf")
BLOCKS = re.findall(r"```text\n(.*?)```", (ROOT / "docs/errors.md").read_text(), flags=re.DOTALL)
BROKEN = """<robot name="leg">
  <link name="world"/>
  <link name="thigh"><inertial><mass value="-1.5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="hip" type="continuous"><parent link="world"/><child link="thigh"/><axis xyz="0 0 0"/></joint>
  <joint name="knee" type="hinge"><parent link="thigh"/><child link="thigh"/></joint>
</robot>
"""
MASSLESS = """<robot name="leg"><link name="world"/><link name="a"/>
<joint name="hip" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint></robot>"""
SIDECAR = "contact: {friction: 0.5}\ngains: {elbo: {kp: 80, kd: 2}}\ngravty: 3\n"
LAUNCH = '<launch>\n  <arg name="speed" default="1.0"/>\n  <nod pkg="mbsim_ros" exec="physics"/>\n</launch>\n'


def squeezed(text: str) -> str:
    """In one line; what is left of a velocity may be another on another machine."""
    text = re.sub(r"'\w+' turns [\de.+-]+ rad", "'…' turns … rad", " ".join(text.split()))
    return re.sub(r"((?:walker|simulate)\.launch\.xml):\d+", r"\1:…", text)  # which line it is changes with the file


def shortened(text: str) -> str:
    """What the launcher says, without folders and without lists of names."""
    return re.sub(r" \((?:there are|it has): .*", "", re.sub(r"^mbsim launch: (/\S+/)?", "", text))


PAGE = [squeezed(block) for block in BLOCKS]


def raised(call, kind=ValueError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def warned(call) -> str:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    return str(said[0].message)


def box(dt, **contact):
    model = ModelBuilder("box").link("box", mass=2.0, box=(0.3, 0.2, 0.1), collision=True).build("floating")
    return Simulation(model, dt=dt, terrain="flat", contact=contact or None)


def lines_of(name, capsys, *words) -> list[str]:
    """What a verb says of a file that is wrong."""
    assert main([name, *words]) != 0
    said = capsys.readouterr()
    return [line.partition("error: ")[2] or line for line in (said.out + said.err).splitlines()]


@pytest.fixture
def messages(tmp_path, monkeypatch, capsys) -> list[list[str]]:
    """What the code says, block by block of the page; the page leaves out folders and lists of names at the end."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("broken.urdf", BROKEN), ("leg.mbsim.yaml", SIDECAR), ("my.launch.xml", LAUNCH)):
        Path(name).write_text(text)
    sim = Simulation(PENDULUM)
    walker = str(ROOT / "urdf/walker.urdf.xacro")
    pushed = Simulation(walker, coupling="normal")
    pushed.run(0.5)
    pushed.push("top", torque=(0, 1e12, 0))
    with pytest.warns(UserWarning, match="no mass"):
        massless = load_urdf(MASSLESS)
    twins = {"motors": {"a": {"shoulder": 1}, "b": {"shoulder": 2}}}
    launches = [("wlker",), ("walker", "terrain:=moon"), ("simulate",), ("arm", "colour:=red"), ("my.launch.xml",)]
    return [
        [raised(lambda: pushed.run(1.0), SimulationDiverged)],
        lines_of("check", capsys, "broken.urdf", "--brief"),
        [raised(lambda: Simulation(massless))],
        lines_of("check", capsys, PENDULUM, "--sidecar", "leg.mbsim.yaml", "--brief"),
        [
            raised(lambda: sim.reset(q=[0.1])),
            raised(lambda: sim.step([float("nan"), 0.0])),
            raised(lambda: sim.drive(position={"elbo": 0.3})),
            raised(lambda: sim.drive(position={"elbow": 0.3}, kp={"elbow": 0.0})),
            raised(lambda: Simulation(walker, order=4)),
            raised(lambda: sim.couple(twins)),
            raised(lambda: Simulation(PENDULUM, dt=2e-3).restore(sim.snapshot())),
        ],
        [
            warned(lambda: box(0.01)),
            raised(lambda: box(0.005, stiffness=1e6)),
            warned(lambda: Simulation(PENDULUM, terrain="flat")),
        ],
        [shortened(lines_of("launch", capsys, *words)[0]) for words in launches],
        [*bag_messages(), raised(lambda: sim.restore(nan_in(sim.snapshot())))],
        set_up_messages(monkeypatch, tmp_path),
    ]  # fmt: skip


def bag_messages() -> list[str]:
    """Of a bag whose chunk says to be large, and of one with another byte in it."""
    with BagWriter("run", compression="none") as writer:
        writer.add_topic("/a", "std_msgs/msg/String", text="string data")
        writer.write("/a", 0, b"some bytes")
    bag, whole = Path("run_0.mcap"), writer.file.read_bytes()
    chunk = struct.pack("<QQQII", 0, 0, 3000 << 20, 0, 0) + bytes(8)
    said = []
    for content in (
        MAGIC + b"\x06" + struct.pack("<Q", len(chunk)) + chunk,
        whole.replace(b"some bytes", b"same bytes"),
    ):
        bag.write_bytes(content)
        said.append(raised(lambda: list(BagReader(bag).messages())))
    return said


def nan_in(snapshot: Snapshot) -> Snapshot:
    arrays = {name: np.array(array) for name, array in snapshot.arrays.items()}
    arrays["engine.state.q"][0] = np.nan
    return make_snapshot(snapshot.read_facts(), arrays)


def set_up_messages(monkeypatch, empty) -> list[str]:
    """On a machine without a compiler, then without cmake."""
    sys.path.append(str(ROOT / "scripts"))
    import set_up

    tools = empty / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("CXX", raising=False)

    def said():
        return raised(lambda: set_up._check_tools(list(set_up.layers_of("kilted", []))), set_up.StepFailed)

    first = said()
    (tools / "c++").touch(mode=0o755)
    return [first, said()]


def test_every_message_of_the_page_is_what_the_code_says(messages):
    assert len(messages) == len(PAGE)
    for block, said in zip(PAGE, messages, strict=True):
        rest = block
        for message in sorted(map(squeezed, said), key=len, reverse=True):
            rest = rest.replace(message, "", 1)
        assert not rest.strip(), f"the page has\n{rest}\nthe code says\n" + "\n".join(said)
