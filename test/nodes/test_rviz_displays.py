# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The files in rviz/: RViz knows what they name, and the launch files that use them publish it.

RViz itself is not needed: a program of its name notes its command line. What RViz knows is from its sources, see
test/reference/rviz_displays.json.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from physics_process import PATIENCE, Client
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mbsim_ros.model.loading import load_urdf
from mbsim_ros.nodes.viewer.rviz import with_frames

ROOT = Path(__file__).resolve().parents[2]
KNOWN = json.loads((ROOT / "test/reference/rviz_displays.json").read_text())
FILES = sorted((ROOT / "rviz").glob("*.rviz"))
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Launch file with its arguments; namespaces, display files and prefixes of the robots in it.
LAUNCHES = {
    "walker": ([], {"/walker": ("walker", "")}),
    "biped": ([], {"/biped": ("biped", "")}),
    "simulate": (
        [
            f"robot:={ROOT}/urdf/walker.urdf.xacro", "frame_prefix:=some/", "controller:=none", "start:=run",
            "world_frame:=map", "odom_frame:=truth",
        ],
        {"/": ("robot", "some/")},
    ),
    "two_arms": ([], {"/left": ("arm", "left/"), "/right": ("arm", "right/")}),
}  # fmt: skip
# Frames above the links, from the top: as REP 105 has them, a frame has one parent.
CHAINS = {
    "walker": [("world", "odom", "top")],
    "biped": [("world", "odom", "base_link")],
    "simulate": [("map", "some/truth", "some/top")],
    "two_arms": [("world", "left/world"), ("world", "right/world")],
}


def read(file: Path) -> dict:
    return yaml.safe_load(file.read_text())


def unknown(settings: dict) -> list[str]:
    """What RViz does not know in a file of displays."""
    manager = settings["Visualization Manager"]
    found = [entry["Class"] for entry in settings["Panels"] if entry["Class"] not in KNOWN["panels"]]
    found += [entry["Class"] for entry in manager["Tools"] if entry["Class"] not in KNOWN["tools"]]
    found += [name for name in manager["Global Options"] if name not in KNOWN["global_options"]]
    found += [name for name in manager["Views"]["Current"] if name not in KNOWN["views"].get(_view(manager), ())]
    transformation = manager["Transformation"]["Current"]["Class"]
    found += [transformation] if transformation not in KNOWN["transformations"] else []
    for display in manager["Displays"]:
        about = KNOWN["displays"].get(display["Class"])
        if about is None:
            found.append(display["Class"])
            continue
        for name, value in display.items():
            if name not in (*KNOWN["of_every_display"], *about["properties"]):
                found.append(f"{display['Class']}: {name}")
            parts = value if isinstance(value, dict) else {"Value": value}
            found += [f"{name}: {part}" for part in parts if part not in KNOWN["parts"].get(name, parts)]
            for part, given in parts.items():
                choices = KNOWN["choices"].get(name if part == "Value" else part)
                if choices and given not in choices:
                    found.append(f"{name}: {part}: {given}")
    return found


def _view(manager: dict) -> str:
    return manager["Views"]["Current"]["Class"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_rviz_knows_what_a_file_names(file):
    assert unknown(read(file)) == []


def test_what_rviz_does_not_know_is_found():
    right = read(ROOT / "rviz/walker.rviz")
    for place, name, value in (
        ((0,), "Class", "rviz/Grid"),  # as in ROS 1
        ((0,), "Cellsize", 0.5),
        ((0,), "Plane", "ZX"),
        ((1, "Description Topic"), "Durability Policy", "Latched"),
        ((4, "Topic"), "Queue Size", 10),
        ((4, "Shape"), "Value", "Sphere"),
    ):
        wrong = copy.deepcopy(right)
        part = wrong["Visualization Manager"]["Displays"]
        for step in place:
            part = part[step]
        part[name] = value
        assert len(unknown(wrong)) == 1, name


@pytest.fixture
def launch(tmp_path, monkeypatch):
    """Starts a launch file with rviz:=true; `launch.words()` are the command lines that RViz got, by namespace."""
    program, noted = tmp_path / "bin/rviz2", tmp_path / "noted"
    program.parent.mkdir()
    noted.mkdir()
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {noted}/$$.part\nmv {noted}/$$.part {noted}/$$.words\nexec sleep 1000\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    processes = []

    def start(name: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "mbsim_ros", "launch", name, "rviz:=true", "view:=false", *arguments]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def words() -> dict[str, list[str]]:
        assert all(process.poll() is None for process in processes), processes[0].communicate()[0]
        found = [file.read_text().splitlines() for file in noted.glob("*.words")]
        return {next((w.partition(":=")[2] for w in line if w.startswith("__ns:=")), "/"): line for line in found}

    start.words = words
    yield start
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            print(process.communicate(timeout=PATIENCE)[0])
        except subprocess.TimeoutExpired:
            process.kill()  # its guard ends the nodes
            print(process.communicate()[0])


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_file_publishes_what_its_displays_show(launch, name):
    arguments, robots = LAUNCHES[name]
    launch(name, *arguments)
    client = Client()
    frames: set[str] = set()
    pairs: set[tuple[str, str]] = set()  # parent, child

    def on_transforms(message: TFMessage) -> None:
        pairs.update((t.header.frame_id, t.child_frame_id) for t in message.transforms)
        frames.update(frame for pair in pairs for frame in pair)

    for topic, qos in (("/tf", 100), ("/tf_static", LATCHED)):
        client.create_subscription(TFMessage, topic, on_transforms, qos)
    try:
        client.spin_until(lambda: set(launch.words()) == set(robots), "RViz in every namespace")
        for namespace, (file, prefix) in robots.items():
            words = launch.words()[namespace]
            shown = read(Path(words[words.index("-d") + 1]))
            if not prefix:
                assert shown == read(ROOT / f"rviz/{file}.rviz")
            assert unknown(shown) == []
            manager = shown["Visualization Manager"]
            for display in manager["Displays"]:
                check_display(client, namespace, display, frames, prefix)
            wanted = {manager["Global Options"]["Fixed Frame"], manager["Views"]["Current"]["Target Frame"]}
            client.spin_until(lambda wanted=wanted: wanted <= frames, f"the frames {wanted}")
        above = {pair for chain in CHAINS[name] for pair in itertools.pairwise(chain)}
        client.spin_until(lambda: above <= pairs, f"{above}, got {pairs}")
        assert len({child for _, child in pairs}) == len(pairs), "a frame has one parent"
        assert frames - {child for _, child in pairs} == {CHAINS[name][0][0]}, "and one of them has none"
    finally:
        client.close()


def check_display(client: Client, namespace: str, display: dict, frames: set[str], prefix: str) -> None:
    """Somebody publishes what a display shows, with a type and quality of service that it takes."""
    about = KNOWN["displays"][display["Class"]]
    if about["message"] is None:
        return
    topic = display[about["topic"]] if "topic" in about else {"Value": "/tf"}
    name = topic["Value"] if topic["Value"].startswith("/") else f"{namespace.rstrip('/')}/{topic['Value']}"
    client.spin_until(lambda: client.get_publishers_info_by_topic(name), f"a publisher of {name}")
    for publisher in client.get_publishers_info_by_topic(name):
        offered = publisher.qos_profile
        assert publisher.topic_type == about["message"]
        assert topic.get("Reliability Policy") != "Reliable" or offered.reliability == ReliabilityPolicy.RELIABLE
        latched = DurabilityPolicy.TRANSIENT_LOCAL
        assert topic.get("Durability Policy") != "Transient Local" or offered.durability == latched
    if display["Class"].endswith("/RobotModel"):
        descriptions: list[str] = []
        subscription = client.create_subscription(String, name, lambda m: descriptions.append(m.data), LATCHED)
        client.spin_until(lambda: descriptions, "the robot")
        client.destroy_subscription(subscription)
        before = display.get("TF Prefix", "")  # RViz puts a slash after it
        assert f"{before}/" == prefix if prefix else before == ""
        links = {f"{before}/{link}" if before else link for link in load_urdf(descriptions[0]).link_names}
        links -= {f"{prefix}world"}  # the root of a fixed robot is the world itself
        client.spin_until(lambda: links <= frames, f"the frames of all links: {links - frames}")


def test_every_file_is_used_by_a_launch_file():
    used = {file for _, robots in LAUNCHES.values() for file, _ in robots.values()}
    assert used == {file.stem for file in FILES}


def test_a_prefix_that_rviz_cannot_have_is_refused():
    file = str(ROOT / "rviz/arm.rviz")
    assert with_frames(file, "world", "") == file
    with pytest.raises(ValueError, match="expected one that ends with a slash, as RViz needs it, got 'left_'"):
        with_frames(file, "world", "left_")


@pytest.mark.parametrize(("file", "looks_at"), [("walker", "some/top"), ("arm", "map")])
def test_displays_follow_the_names_of_frames(tmp_path, monkeypatch, file, looks_at):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    manager = read(Path(with_frames(f"{ROOT}/rviz/{file}.rviz", "map", "some/")))["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "map"
    assert manager["Views"]["Current"]["Target Frame"] == looks_at
