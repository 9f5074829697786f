"""Reading bags of one MCAP file or several, complete or cut off by a kill."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mbsim_ros.bags.bag_metadata import FILE_NAME, ROOT
from mbsim_ros.bags.topics import Quality
from mbsim_ros.model.file_reading import OutsideFolder, is_file, resolved_inside


class BagError(ValueError):
    """A bag that cannot be read."""


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
        self._damaged: set[Path] = set()
        for file in self.files:
            if not self._read_summary(file):
                self.complete = False
                self._damaged.add(file)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """The messages of these topics (None: of all) in the order of their times; equal times as they were written."""
        for file in self.files:
            if file in self._damaged:
                found = [message for message, _ in _salvage(file) if topics is None or message.topic in topics]
                yield from sorted(found, key=lambda message: message.time)
            else:
                yield from _whole(file, topics)

    def _read_summary(self, file: Path) -> bool:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader

        with open(file, "rb") as stream:
            try:
                reader = make_reader(stream)
                summary = reader.get_summary()
                if summary is None:
                    raise McapError("no summary")
                for channel in summary.channels.values():
                    self._add_topic(channel, summary.schemas[channel.schema_id])
                for entry in reader.iter_metadata():
                    self.metadata[entry.name] = dict(entry.metadata)
                return True
            except (McapError, struct.error, KeyError, ValueError, EOFError):
                pass
        for record in _records(file):
            if type(record).__name__ == "Metadata":
                self.metadata[record.name] = dict(record.metadata)
        for _, (schema, channel) in _salvage(file):
            self._add_topic(channel, schema)
        return False

    def _add_topic(self, channel: Any, schema: Any) -> None:
        if channel.topic not in self.topics:
            text, digest = schema.data.decode(), channel.metadata.get("topic_type_hash", "")
            quality = _quality(channel.metadata.get("offered_qos_profiles", ""))
            self.topics[channel.topic] = BagTopic(channel.topic, schema.name, text, digest, quality)


def _files(path: Path) -> list[Path]:
    """The MCAP files of a bag, in the order of metadata.yaml if there is one."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BagError(f"there is no bag {path}: expected the folder of a recording, or an .mcap file")
    try:
        information = yaml.safe_load((path / FILE_NAME).read_text())[ROOT]
        storage, names = information["storage_identifier"], information["relative_file_paths"]
    except OSError:
        storage, names = "mcap", sorted(file.name for file in path.glob("*.mcap"))
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise BagError(f"{path / FILE_NAME}: not the metadata of a bag: {error!r}") from None
    if storage != "mcap":
        raise BagError(f"{path}: stored as '{storage}'; only 'mcap' is read here (`ros2 bag convert` makes it one)")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BagError(f"{path / FILE_NAME}: relative_file_paths: expected the names of files")
    try:
        found = [resolved_inside(path / name, path) for name in names if is_file(path / name)]
    except OutsideFolder as error:
        raise BagError(f"{path}: {error}: a bag is read from its own folder, or name the .mcap file itself") from None
    if not found:
        raise BagError(f"there is no .mcap file in {path}")
    return found


def _whole(file: Path, topics: Collection[str] | None) -> Iterator[BagMessage]:
    from mcap.reader import make_reader

    with open(file, "rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages(topics=None if topics is None else list(topics)):
            yield BagMessage(channel.topic, message.log_time, message.data)


def _salvage(file: Path) -> Iterator[tuple[BagMessage, tuple[Any, Any]]]:
    """Messages as far as they were written, in the order of the file, with their schema and channel."""
    schemas: dict[int, Any] = {}
    channels: dict[int, Any] = {}
    for record in _records(file):
        kind = type(record).__name__
        if kind == "Schema":
            schemas[record.id] = record
        elif kind == "Channel":
            channels[record.id] = record
        elif kind == "Message" and record.channel_id in channels:
            channel = channels[record.channel_id]
            about = schemas[channel.schema_id], channel
            yield BagMessage(channel.topic, record.log_time, record.data), about


def _records(file: Path) -> Iterator[Any]:
    """The records of a file up to its end, or to where it was cut off."""
    from mcap.exceptions import McapError
    from mcap.stream_reader import StreamReader

    with open(file, "rb") as stream:
        try:
            yield from StreamReader(stream, record_size_limit=os.path.getsize(file)).records
        except (McapError, struct.error, EOFError, ValueError):
            return


def _quality(text: str) -> Quality:
    """Quality of service from the profile of a channel; the usual one where it has none or an older form."""
    try:
        profile = yaml.safe_load(text)[0]
        latched = profile["durability"] in ("transient_local", 1)
        return Quality(latched, int(profile["depth"]), profile["reliability"] not in ("best_effort", 2))
    except (yaml.YAMLError, KeyError, IndexError, TypeError):
        return Quality()
