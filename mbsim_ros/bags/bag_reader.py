# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading bags of one MCAP file or several, complete or cut off by a kill."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from mbsim_ros.bags.formats.bag_metadata import FILE_NAME, ROOT
from mbsim_ros.bags.formats.mcap_file import BagError, Damaged, McapFile, Summary
from mbsim_ros.bags.topics import Quality
from mbsim_ros.model.file_reading import OutsideFolder, is_file, resolved_inside

if TYPE_CHECKING:
    from mcap.records import Channel, Schema

__all__ = ["BagError", "BagMessage", "BagReader", "BagTopic"]

LARGEST_YAML = 1 << 20  # bytes: a thousand topics take less


class BagMessage(NamedTuple):
    """A message: its topic, its time [ns], its bytes (CDR)."""

    topic: str
    time: int
    data: bytes


@dataclass(frozen=True)
class BagTopic:
    """A topic of a bag, with the text and the hash of its type."""

    name: str
    type: str
    definition: str
    type_hash: str
    quality: Quality


class BagReader:
    """A bag: a folder as `ros2 bag` and BagWriter make it, or an MCAP file.

    `topics` are those in it, `metadata` the words by their names, the last of each; `complete` says whether the
    recording was closed: if not, there is everything up to the last flush.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self.files = _files(self.path)
        self.topics: dict[str, BagTopic] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        self.complete = True
        self._contents = [(McapFile(file), self._read_summary(McapFile(file))) for file in self.files]

    def messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """The messages of these topics (None: of all) in the order of their times; equal times as they were written."""
        for file, summary in self._contents:
            if summary is None:
                found = [message for message, _ in _salvage(file) if topics is None or message.topic in topics]
                yield from sorted(found, key=lambda message: message.time)
            else:
                yield from itertools.starmap(BagMessage, file.messages(summary, topics))

    def _read_summary(self, file: McapFile) -> Summary | None:
        """Take in what a file says about itself; None for one that has to be read through."""
        try:
            summary = file.summary()
            topics = [(channel, summary.schemas[channel.schema_id]) for channel in summary.channels.values()]
        except (Damaged, KeyError):
            self.complete = False
            self._read_through(file)
            return None
        if not summary.chunks:  # its messages, if there are any, are in no chunk
            self._read_through(file)
            return None
        for channel, schema in topics:
            self._add_topic(channel, schema)
        for entry in summary.metadata:
            self.metadata[entry.name] = dict(entry.metadata)
        return summary

    def _read_through(self, file: McapFile) -> None:
        for record in _records(file):
            if type(record).__name__ == "Metadata":
                self.metadata[record.name] = dict(record.metadata)
        for _, (schema, channel) in _salvage(file):
            self._add_topic(channel, schema)

    def _add_topic(self, channel: Channel, schema: Schema) -> None:
        if channel.topic not in self.topics:
            text, digest = schema.data.decode(errors="replace"), channel.metadata.get("topic_type_hash", "")
            quality = _quality(channel.metadata.get("offered_qos_profiles", ""))
            self.topics[channel.topic] = BagTopic(channel.topic, schema.name, text, digest, quality)


def _files(path: Path) -> list[Path]:
    """The MCAP files of a bag, in the order of metadata.yaml if there is one."""
    if is_file(path):
        return [path]
    if "\0" in str(path) or not os.path.isdir(path):
        raise BagError(f"there is no bag {path}: expected the folder of a recording, or an .mcap file")
    try:
        information = _yaml(_beginning(path / FILE_NAME))[ROOT]
        storage, names = str(information["storage_identifier"]), information["relative_file_paths"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"relative_file_paths: expected names, got {names!r}"[:200])
    except OSError:
        storage, names = "mcap", sorted(file.name for file in path.glob("*.mcap"))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise BagError(f"{path / FILE_NAME}: not the metadata of a bag: {error!r}") from None
    if storage != "mcap":
        raise BagError(
            f"{path}: stored as '{storage[:40]}'; only 'mcap' is read here (`ros2 bag convert` makes it one)"
        )
    try:
        found = [resolved_inside(path / name, path) for name in names if is_file(path / name)]
    except OutsideFolder as error:
        raise BagError(f"{path}: {error}: a bag is read from its own folder, or name the .mcap file itself") from None
    if not found:
        raise BagError(f"there is no .mcap file in {path}")
    return found


def _beginning(file: Path) -> str:
    """A text as far as it may be read, and a letter more if there is more."""
    with open(file, encoding="utf-8") as stream:
        return stream.read(LARGEST_YAML + 1)


def _salvage(file: McapFile) -> Iterator[tuple[BagMessage, tuple[Schema, Channel]]]:
    """Messages as far as they were written, in the order of the file, with their schema and channel."""
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    for record in _records(file):
        kind = type(record).__name__
        if kind == "Schema":
            schemas[record.id] = record
        elif kind == "Channel":
            channels[record.id] = record
        elif kind == "Message" and record.channel_id in channels:
            channel = channels[record.channel_id]
            if channel.schema_id in schemas:
                about = schemas[channel.schema_id], channel
                yield BagMessage(channel.topic, record.log_time, record.data), about


def _records(file: McapFile) -> Iterator[Any]:
    """The records of a file up to its end, or to where it was cut off."""
    try:
        yield from file.records()
    except Damaged:
        return


def _yaml(text: str) -> Any:
    """The value of a text; ValueError for whatever is wrong with it."""
    if len(text) > LARGEST_YAML:
        raise ValueError(f"{len(text)} bytes, at most {LARGEST_YAML} are read")
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    except (yaml.YAMLError, OverflowError, AttributeError, TypeError) as error:  # of dates and numbers that are none
        raise ValueError(str(error)) from None


def _quality(text: str) -> Quality:
    """Quality of service from the profile of a channel; the usual one where it has none or an older form."""
    try:
        profile = _yaml(text)[0]
        latched = profile["durability"] in ("transient_local", 1)
        return Quality(latched, int(profile["depth"]), profile["reliability"] not in ("best_effort", 2))
    except (ValueError, KeyError, IndexError, TypeError, OverflowError):
        return Quality()
