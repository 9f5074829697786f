# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Bags on disk: what is written is what `mcap`, `rosbags` and our own reader find, complete or cut off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from mcap.reader import make_reader
from message_samples import samples, serialized
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader as RosbagsReader
from rosbags.typesys import get_types_from_msg

from mbsim_ros import __version__
from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.formats.definitions import DefinitionMissing, definition, type_hash
from mbsim_ros.bags.recovery import recover
from mbsim_ros.bags.topics import OPTIONAL, STANDARD, STATES, chosen_topic

TOPICS = (*STANDARD, *OPTIONAL)
TIMES = (0, 2_000_000, 1_500_000_000)


def write_samples(writer: BagWriter) -> None:
    for topic in TOPICS:
        writer.add_topic("/arm/" + topic.name.strip("/"), topic.type, topic.quality)
    for time in TIMES:
        for name, message in samples(time).items():
            writer.write("/arm/" + name.strip("/"), time, serialized(message))


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    with BagWriter(tmp_path / "run") as writer:
        writer.add_metadata("simulation_setup", {"dt": "0.001"})
        write_samples(writer)
    return writer.folder


def as_plain(value: object) -> object:
    """Messages of rclpy and of rosbags as the same plain values."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: as_plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if hasattr(value, "__dataclass_fields__"):
        return {
            name: as_plain(getattr(value, name))
            for name in value.__dataclass_fields__
            if not name.isupper() and name != "__msgtype__"
        }
    if isinstance(value, bytes) and len(value) == 1:
        return value[0]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple) or type(value).__module__ == "array":
        return [as_plain(entry) for entry in value]
    return value


def test_rosbags_reads_equal_values(bag):
    with AnyReader([bag]) as reader:
        found = [(c.topic, t, as_plain(reader.deserialize(data, c.msgtype))) for c, t, data in reader.messages()]
    wanted = [
        ("/arm/" + name.strip("/"), time, as_plain(message))
        for time in TIMES
        for name, message in samples(time).items()
    ]
    assert len(found) == len(TIMES) * len(TOPICS)
    assert sorted(found, key=lambda entry: entry[:2]) == sorted(wanted, key=lambda entry: entry[:2])


def test_mcap_reads_equal_bytes_and_words(bag):
    with open(bag / "run_0.mcap", "rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        found = {(channel.topic, m.log_time): (m.data, m.publish_time) for _, channel, m in reader.iter_messages()}
        words = {entry.name: entry.metadata for entry in reader.iter_metadata()}
        schemas = {channel.topic: schema for schema, channel, _ in reader.iter_messages()}
    for time in TIMES:
        for name, message in samples(time).items():
            assert found["/arm/" + name.strip("/"), time] == (serialized(message), time)
    assert words["simulation_setup"] == {"dt": "0.001"}
    assert yaml.safe_load(words["rosbag2"]["serialized_metadata"])["message_count"] == len(found)
    assert {schema.encoding for schema in schemas.values()} == {"ros2msg"}


def test_metadata_is_as_rosbag2_writes_it(bag):
    about = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert (about["version"], about["storage_identifier"]) == (9, "mcap")
    assert about["starting_time"] == {"nanoseconds_since_epoch": 0}
    assert about["duration"] == {"nanoseconds": TIMES[-1]}
    assert about["relative_file_paths"] == ["run_0.mcap"] == [file["path"] for file in about["files"]]
    assert about["message_count"] == len(TIMES) * len(TOPICS) == about["files"][0]["message_count"]
    assert about["custom_data"]["mbsim_ros"] == __version__
    state = next(t for t in about["topics_with_message_count"] if t["topic_metadata"]["name"] == "/arm/joint_states")
    assert state["message_count"] == len(TIMES)
    profile = state["topic_metadata"]["offered_qos_profiles"][0]
    assert (profile["durability"], profile["reliability"], profile["depth"]) == ("transient_local", "reliable", 1000)
    assert state["topic_metadata"]["serialization_format"] == "cdr"
    with RosbagsReader(bag) as reader:
        qos = {c.topic: c.ext.offered_qos_profiles[0] for c in reader.connections}
    assert qos["/arm/robot_description"].durability.name == "TRANSIENT_LOCAL"
    assert qos["/arm/joint_commands"].durability.name == "VOLATILE"


def test_our_reader_gives_messages_in_time(bag):
    reader = BagReader(bag)
    assert reader.complete
    assert [m.time for m in reader.messages()] == sorted(TIMES * len(TOPICS))
    assert [m.time for m in reader.messages(["/arm/odom"])] == list(TIMES)
    assert reader.topics["/arm/odom"].quality == STATES
    assert reader.topics["/arm/odom"].type_hash == type_hash("nav_msgs/msg/Odometry")
    assert BagReader(bag / "run_0.mcap").metadata == reader.metadata


@pytest.mark.parametrize("message_type", sorted({topic.type for topic in TOPICS}))
def test_definition_has_the_hash_that_ros_gives_the_type(message_type):
    """rosbags computes the hash of a type from its text alone: equal only if every field of every part is there."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(message_type), message_type))
    assert store.hash_rihs01(message_type) == type_hash(message_type)


def test_what_is_not_there_is_refused(tmp_path, bag):
    with pytest.raises(ValueError, match="exists already"):
        BagWriter(bag)
    with pytest.raises(ValueError, match="zstd, lz4, none, got 'zip'"):
        BagWriter(tmp_path / "other", compression="zip")
    with BagWriter(tmp_path / "third", compression="none") as writer:
        with pytest.raises(DefinitionMissing, match="package 'no_msgs' is not installed"):
            writer.add_topic("/a", "no_msgs/msg/A")
        with pytest.raises(DefinitionMissing, match="there is no .*Nothing.msg"):
            writer.add_topic("/a", "std_msgs/msg/Nothing")
        with pytest.raises(DefinitionMissing, match="expected package/msg/Name"):
            writer.add_topic("/a", "String")
    assert not list(BagReader(writer.folder).messages())
    with pytest.raises(BagError, match="there is no bag"):
        BagReader(tmp_path / "nowhere")
    with pytest.raises(BagError, match=r"no \.mcap file"):
        BagReader(tmp_path)


def test_topics_by_name():
    assert chosen_topic("/left/odom").type == "nav_msgs/msg/Odometry"
    assert chosen_topic("clock").name == "/clock"
    assert chosen_topic("contact_wrench/foot").type == "geometry_msgs/msg/WrenchStamped"
    assert chosen_topic("temperature:sensor_msgs/msg/Temperature").type == "sensor_msgs/msg/Temperature"
    with pytest.raises(ValueError, match="write temperature:package/msg/Type"):
        chosen_topic("temperature")


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from test_bag_files import write_samples
from mbsim_ros.bags.bag_writer import BagWriter
writer = BagWriter(sys.argv[1])
writer.add_metadata("simulation_setup", {"dt": "0.001"})
write_samples(writer)
writer.flush()
writer.write("/arm/odom", 2_000_000_000, bytes(500))  # not flushed: may be lost
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_writer_leaves_what_was_flushed(tmp_path):
    bag = tmp_path / "killed"
    subprocess.run([sys.executable, "-c", KILLED, str(bag), str(Path(__file__).parent)], check=False)
    reader = BagReader(bag)
    assert not reader.complete
    assert len(list(reader.messages())) == len(TIMES) * len(TOPICS)
    assert reader.metadata["simulation_setup"] == {"dt": "0.001"}

    assert recover(bag) == len(TIMES) * len(TOPICS)
    assert BagReader(bag).complete
    assert BagReader(bag).metadata["simulation_setup"] == {"dt": "0.001"}
    assert sorted(path.name for path in bag.iterdir()) == ["killed_0.mcap", "killed_0.mcap.cut_off", "metadata.yaml"]
    test_rosbags_reads_equal_values(bag)
    assert recover(bag) == len(TIMES) * len(TOPICS)  # again: nothing to do


def test_file_cut_anywhere_still_reads(tmp_path):
    """A kill may fall into a write: whatever is whole before the cut is found, and nothing else."""
    with BagWriter(tmp_path / "run", compression="none") as writer:
        writer.add_topic("/clock", "rosgraph_msgs/msg/Clock")
        marks = []
        for time in range(50):
            writer.write("/clock", time, serialized(samples(time)["/clock"]))
            writer.flush()
            marks.append(os.path.getsize(writer.file))
    whole = writer.file.read_bytes()
    for cut in range(marks[0], marks[-1], 37):
        writer.file.write_bytes(whole[:cut])
        found = [message.time for message in BagReader(writer.folder).messages()]
        flushed = sum(mark <= cut for mark in marks)
        assert found[:flushed] == list(range(flushed))
        assert len(found) <= flushed + 1  # the last chunk may be whole before its index is


def test_recovery_refuses_what_is_no_recording(tmp_path, bag):
    with pytest.raises(BagError, match="expected the folder of one recording"):
        recover(bag / "run_0.mcap")


def say_in_metadata(bag: Path, *names: object) -> None:
    """Let metadata.yaml name other files."""
    file = bag / "metadata.yaml"
    content = yaml.safe_load(file.read_text())
    content["rosbag2_bagfile_information"]["relative_file_paths"] = list(names)
    file.write_text(yaml.safe_dump(content))


@pytest.fixture
def elsewhere(bag: Path, tmp_path: Path) -> Path:
    """A file of others, cut off as recovery likes it."""
    file = tmp_path / "elsewhere" / "important.mcap"
    file.parent.mkdir()
    file.write_bytes((bag / "run_0.mcap").read_bytes()[:-100])
    return file


@pytest.mark.parametrize("kind", ["upwards", "from the root", "a link", "a link to its folder"])
def test_no_name_in_a_bag_leads_out_of_its_folder(bag, elsewhere, kind):
    """`record --recover` renamed what metadata.yaml named, wherever it was."""
    (bag / "link.mcap").symlink_to(elsewhere)
    (bag / "links").symlink_to(elsewhere.parent)
    names = {
        "upwards": "../elsewhere/important.mcap", "from the root": str(elsewhere), "a link": "link.mcap",
        "a link to its folder": "links/important.mcap",
    }  # fmt: skip
    say_in_metadata(bag, names[kind])
    before = sorted(elsewhere.parent.iterdir()), elsewhere.read_bytes()
    for use in (BagReader, recover):
        with pytest.raises(BagError, match="leads out of the folder"):
            use(bag)
    assert before == (sorted(elsewhere.parent.iterdir()), elsewhere.read_bytes())
    (bag / "metadata.yaml").unlink()  # without it, files are those that are there
    with pytest.raises(BagError, match="leads out of the folder"):
        BagReader(bag)


def test_names_that_are_none_are_refused(bag):
    say_in_metadata(bag, 5)
    with pytest.raises(BagError, match="expected names, got"):
        BagReader(bag)
    say_in_metadata(bag, "a\0b", "x" * 5000)
    with pytest.raises(BagError, match="there is no .mcap file"):
        BagReader(bag)


def test_recovery_replaces_nothing_and_works_in_the_folder(bag, elsewhere):
    elsewhere.rename(bag / "other.mcap")
    say_in_metadata(bag, "other.mcap")
    with pytest.raises(BagError, match="run_0.mcap is there already and would be lost"):
        recover(bag)
    (bag / "run_0.mcap").unlink()
    (bag / ".recovered").symlink_to(elsewhere.parent)
    with pytest.raises(BagError, match=".recovered is a symbolic link"):
        recover(bag)
    assert not list(elsewhere.parent.iterdir())
    (bag / ".recovered").unlink()
    assert recover(bag) > 0
    assert sorted(path.name for path in bag.iterdir()) == ["metadata.yaml", "other.mcap.cut_off", "run_0.mcap"]


def test_json_of_a_setup_survives(bag):
    texts = [m.data for m in BagReader(bag).messages(["/arm/simulation_setup"])]
    from mbsim_ros.bags.formats.cdr import string_message

    assert [json.loads(string_message(text)) for text in texts] == [{}] * len(TIMES)
