# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""metadata.yaml of a bag, in the form that rosbag2 has written since Jazzy (version 9)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mbsim_ros.bags.topics import Quality

VERSION = 9
FILE_NAME = "metadata.yaml"
SERIALIZATION = "cdr"
ROOT = "rosbag2_bagfile_information"


@dataclass
class TopicRecord:
    """A topic in a bag."""

    name: str
    type: str
    quality: Quality
    type_hash: str = ""
    count: int = 0


@dataclass
class BagSummary:
    """What a bag says about itself."""

    file_name: str
    topics: dict[str, TopicRecord] = field(default_factory=dict)
    first: int | None = None  # ns
    last: int = 0  # ns
    custom: Mapping[str, str] = field(default_factory=dict)

    def count(self, topic: TopicRecord, time: int) -> None:
        """Note one more message."""
        topic.count += 1
        if self.first is None or time < self.first:
            self.first = time
        if time > self.last:
            self.last = time

    def information(self) -> dict[str, object]:
        """The entries of metadata.yaml."""
        total = sum(topic.count for topic in self.topics.values())
        start = {"nanoseconds_since_epoch": self.first or 0}
        duration = {"nanoseconds": self.last - (self.first or 0) if total else 0}
        return {
            "version": VERSION,
            "storage_identifier": "mcap",
            "duration": duration,
            "starting_time": start,
            "message_count": total,
            "topics_with_message_count": [
                {
                    "topic_metadata": {
                        "name": topic.name,
                        "type": topic.type,
                        "serialization_format": SERIALIZATION,
                        "offered_qos_profiles": [topic.quality.profile()],
                        "type_description_hash": topic.type_hash,
                    },
                    "message_count": topic.count,
                }
                for topic in self.topics.values()
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self.file_name],
            "files": [
                {
                    "path": self.file_name,
                    "starting_time": dict(start),
                    "duration": dict(duration),
                    "message_count": total,
                }
            ],
            "custom_data": dict(self.custom),
            "ros_distro": os.environ.get("ROS_DISTRO", ""),
        }


def write_metadata(folder: Path, summary: BagSummary) -> None:
    """Write metadata.yaml in one step: whoever looks finds the old or the new one, whole."""
    temporary = folder / f".{FILE_NAME}"
    temporary.write_text(as_yaml({ROOT: summary.information()}))
    temporary.replace(folder / FILE_NAME)


def as_yaml(value: object) -> str:
    """Plain YAML, without references to what stands there twice."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        """Write everything out: the parser of rosbag2 reads no anchors into its types."""
        return True
