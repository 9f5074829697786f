# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Writing bags: a folder with one MCAP file and metadata.yaml, as `ros2 bag` makes and plays it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from mbsim_ros import __version__
from mbsim_ros.bags.formats.bag_metadata import SERIALIZATION, BagSummary, TopicRecord, as_yaml, write_metadata
from mbsim_ros.bags.formats.definitions import ENCODING, definition, type_hash
from mbsim_ros.bags.topics import STREAM, Quality

COMPRESSIONS = ("zstd", "lz4", "none")
CHUNK_SIZE = 1 << 20  # bytes: a chunk is what is compressed and indexed together


class BagWriter:
    """Writes serialized messages (CDR) with times of our choice into a new bag.

    folder: is made; one that exists is refused. custom: words for metadata.yaml. What was written before the last
    `flush` survives a kill of the process; `close` makes the bag complete.
    """

    def __init__(
        self, folder: str | os.PathLike, *, compression: str = "zstd", custom: Mapping[str, str] | None = None
    ):
        try:
            from mcap.writer import CompressionType, Writer
        except ModuleNotFoundError as error:
            raise ValueError(f"{error.name} is not installed, which writes bags: pip install mcap") from None
        if compression not in COMPRESSIONS:
            raise ValueError(f"compression: expected one of {', '.join(COMPRESSIONS)}, got '{compression}'")
        self.folder = Path(folder).absolute()
        try:
            self.folder.mkdir(parents=True)
        except FileExistsError:
            raise ValueError(f"{folder} exists already: name a folder that does not") from None
        self.file = self.folder / f"{self.folder.name}_0.mcap"
        self.summary = BagSummary(self.file.name, custom={"mbsim_ros": __version__, **(custom or {})})
        self._stream = open(self.file, "xb")
        self._mcap = Writer(self._stream, CHUNK_SIZE, CompressionType[compression.upper()])
        self._mcap.start(profile="ros2", library=f"mbsim_ros {__version__}")
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, tuple[int, TopicRecord]] = {}
        self._described = -1  # topics in the metadata.yaml that is there
        self._kept = 0  # bytes of the file that are surely there
        self.flush()

    def add_topic(
        self, name: str, message_type: str, quality: Quality = STREAM, *, text: str | None = None, digest: str = ""
    ) -> None:
        """Make a topic known, before its first message.

        text, digest: definition and hash of the type; without a text those of the installed type, and DefinitionMissing
        where it is not installed.
        """
        if name in self._channels:
            raise ValueError(f"topic '{name}' is in the bag already")
        if text is None:
            text, digest = definition(message_type), type_hash(message_type)
        if message_type not in self._schemas:
            self._schemas[message_type] = self._mcap.register_schema(message_type, ENCODING, text.encode())
        topic = TopicRecord(name, message_type, quality, digest)
        about = {"offered_qos_profiles": as_yaml([quality.profile()]), "topic_type_hash": topic.type_hash}
        channel = self._mcap.register_channel(name, SERIALIZATION, self._schemas[message_type], about)
        self._channels[name] = channel, topic
        self.summary.topics[name] = topic

    def write(self, topic: str, time: int, data: bytes) -> None:
        """Add a message at a time [ns]."""
        channel, record = self._channels[topic]
        self.summary.count(record, time)
        self._mcap.add_message(channel, time, data, time, record.count)

    def add_metadata(self, name: str, entries: Mapping[str, str]) -> None:
        """Add words under a name, for readers of MCAP files."""
        self._mcap.add_metadata(name, dict(entries))

    def flush(self) -> None:
        """Hand everything to the operating system, so that a kill loses nothing of it."""
        self._mcap.flush()
        self._stream.flush()
        self._kept = self._stream.tell()
        if self._described != len(self._channels):
            write_metadata(self.folder, self.summary)
            self._described = len(self._channels)

    def close(self) -> None:
        """Complete the bag; a second call does nothing."""
        if self._stream.closed:
            return
        self.add_metadata("rosbag2", {"serialized_metadata": as_yaml(self.summary.information())})
        self._mcap.finish()
        self._stream.close()
        write_metadata(self.folder, self.summary)

    def abandon(self) -> None:
        """Nothing more can be written, as on a full disk: leave the bag as the last flush made it, readable."""
        if not self._stream.closed:
            os.truncate(self.file, self._kept)
            with contextlib.suppress(OSError):  # what it still has in its buffer has no place
                self._stream.close()
            os.truncate(self.file, self._kept)

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
