# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Who can reach nodes that were launched: this host alone, unless the user or the launch file asks for more."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mbsim_ros.launcher.discovery import discovery, keep_to_this_host

PATIENCE = 60.0  # s until a node must have been seen
LOOKING = 6.0  # s of looking for a node that must not be seen; those that are open are seen in less than 2 s
ABOUT_DDS = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE",
             "FASTDDS_BUILTIN_TRANSPORTS", "RMW_IMPLEMENTATION")  # fmt: skip
ECHO = '<node pkg="mbsim_ros" exec="doctor_echo" namespace="{}"/>'
NODE = '<node pkg="probe" exec="dump"/>'


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a user who has set nothing about DDS."""
    for name in ABOUT_DDS:
        monkeypatch.delenv(name, raising=False)


class TestEnvironment:
    @pytest.mark.parametrize("given", [{}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, {"ROS_LOCALHOST_ONLY": "1"}])
    def test_nodes_are_for_this_host_alone(self, given):
        found = discovery(given)
        profile = Path(found.environment["FASTDDS_DEFAULT_PROFILES_FILE"])
        assert profile.name == "this_host.xml" and "<address>127.0.0.1</address>" in profile.read_text()
        assert found.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"  # LOCALHOST adds all addresses to it
        assert "ROS_LOCALHOST_ONLY" not in found.environment  # which would be taken for LOCALHOST
        assert (found.reach, found.warning) == ("for this host alone", "")

    @pytest.mark.parametrize(
        ("version", "name"), [("8.4.3", "FASTRTPS_DEFAULT_PROFILES_FILE"), ("9.3.3", "FASTDDS_DEFAULT_PROFILES_FILE")]
    )
    def test_the_profile_has_the_name_that_this_fast_dds_reads(self, prefix, version, name):
        package = "rmw_fastrtps_shared_cpp"  # 8 is of Jazzy, 9 of Kilted, which warns of the old name in every node
        (prefix / "share" / package).mkdir()
        (prefix / "share" / package / "package.xml").write_text(f"<package><version>{version}</version></package>")
        (prefix / "share/ament_index/resource_index/packages" / package).touch()
        assert [key for key in discovery({}).environment if key in ABOUT_DDS[1:3]] == [name]

    def test_by_udp_alone_where_the_user_wants_that(self):
        found = discovery({"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}).environment
        assert Path(found["FASTDDS_DEFAULT_PROFILES_FILE"]).name == "this_host_udp.xml"

    @pytest.mark.parametrize("range_", ["SUBNET", "SYSTEM_DEFAULT", "OFF"])
    def test_a_range_that_is_not_localhost_stands(self, range_):
        given = {"ROS_AUTOMATIC_DISCOVERY_RANGE": range_, "ROS_STATIC_PEERS": "192.0.2.1"}
        assert discovery(given).environment == given

    def test_the_switch_opens_nodes(self):
        given = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOCALHOST_ONLY": "1", "MBSIM_NETWORK": "1"}
        for start in (given, {**discovery({}).environment, "MBSIM_NETWORK": "1"}):
            found = discovery(start).environment
            assert found["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
            assert "FASTDDS_DEFAULT_PROFILES_FILE" not in found and "ROS_LOCALHOST_ONLY" not in found

    @pytest.mark.parametrize("value", ["", "0", "false", "maybe"])
    def test_what_is_not_a_yes_does_not_open_them(self, value):
        assert discovery({"MBSIM_NETWORK": value}).reach == "for this host alone"

    @pytest.mark.parametrize(
        "name", ["FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE", "ROS_DISCOVERY_SERVER"]
    )
    def test_what_the_user_has_set_up_stands_and_is_named(self, name):
        found = discovery({name: "/own"})
        assert found.environment == {name: "/own"}
        assert found.warning == f"{name}=/own decides who can reach the nodes, not mbsim"

    def test_another_rmw_is_asked_for_localhost(self):
        found = discovery({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
        assert found.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
        assert "FASTDDS_DEFAULT_PROFILES_FILE" not in found.environment
        assert "rmw_cyclonedds_cpp decides" in found.warning

    def test_peers_that_cannot_be_reached_are_named(self):
        found = discovery({"ROS_STATIC_PEERS": "192.0.2.1"})
        assert "ROS_STATIC_PEERS" not in found.environment
        assert "ROS_STATIC_PEERS=192.0.2.1 is left out" in found.warning and "--network" in found.warning

    def test_what_a_node_starts_has_the_same(self):
        environment = {"ROS_LOCALHOST_ONLY": "1"}
        keep_to_this_host(environment)
        assert discovery(environment).environment == environment == discovery({"ROS_LOCALHOST_ONLY": "1"}).environment

    def test_a_launch_file_may_open_what_it_starts(self, plan, monkeypatch):
        monkeypatch.setenv("ROS_STATIC_PEERS", "192.0.2.1")
        opened = '<set_env name="ROS_AUTOMATIC_DISCOVERY_RANGE" value="SUBNET"/>'
        found = plan(f"{NODE}{NODE}<group>{opened}{NODE}</group>")
        assert ["FASTDDS_DEFAULT_PROFILES_FILE" in node.environment for node in found.nodes] == [True, True, False]
        assert len([warning for warning in found.warnings if "ROS_STATIC_PEERS" in warning]) == 1


@pytest.fixture
def hosts(ros_domain: int) -> Iterator[tuple[list[str], list[str], str]]:
    """Words before a command to run it on one of two hosts with a cable between them, and the first one's address.

    They are network namespaces: two hosts as far as sockets go, although they share files and /dev/shm.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2, to make network namespaces")
    near, far = f"mbsim_near_{ros_domain}", f"mbsim_far_{ros_domain}"
    with contextlib.ExitStack() as at_the_end:
        for name in (near, far):
            made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
            if made.returncode != 0:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
            at_the_end.callback(_ip, "netns", "delete", name)
        _ip("-n", near, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", far)
        for name, address in ((near, "198.51.100.1/24"), (far, "198.51.100.2/24")):
            _ip("-n", name, "address", "add", address, "dev", "cable")
            for device in ("cable", "lo"):
                _ip("-n", name, "link", "set", device, "up")
        yield ["ip", "netns", "exec", near], ["ip", "netns", "exec", far], "198.51.100.1"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def launched(before: list[str], file: Path, *options: str) -> Iterator[None]:
    """`mbsim launch FILE` while the context lasts."""
    command = [*before, sys.executable, "-m", "mbsim_ros", "launch", str(file), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def seen_by(before: list[str], until: set[str], looking: float = 0.0, **environment: str) -> set[str]:
    """Nodes that a process without any profile sees: until it has seen these, and for so long [s] after that."""
    words = [str(Path(__file__).parent / "graph_watcher.py"), str(PATIENCE), str(looking), *until]
    done = subprocess.run(
        [*before, sys.executable, *words], env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
    )
    return set(json.loads(done.stdout))


def test_another_host_sees_nothing_unless_nodes_are_opened(hosts, write):
    near, far, address = hosts
    closed, opened = write(ECHO.format("closed"), "closed.launch.xml"), write(ECHO.format("open"), "open.launch.xml")
    with launched(near, closed), launched(near, opened, "--network"):
        # both in one domain, and looked for by one process: what finds the one would find the other
        assert seen_by(near, {"/closed", "/open"}) == {"/closed", "/open"}
        assert seen_by(far, {"/open"}, LOOKING, ROS_STATIC_PEERS=address) == {"/open"}


def test_a_process_of_this_host_without_the_profile_talks_with_them(write, tmp_path):
    result = tmp_path / "result.json"
    probe = [sys.executable, "-m", "mbsim_ros.nodes.checks.doctor_probe", "--ros-args", "-r", "__ns:=/closed",
             "-p", "round_trips:=20", "-p", f"timeout:={PATIENCE}", "-p", f"result:={result}"]  # fmt: skip
    with launched([], write(ECHO.format("closed"))):
        subprocess.run(probe, check=True)
    assert json.loads(result.read_text())["round_trips"] == 20
