"""Completing a bag whose recorder was killed, so that every tool opens it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.bag_writer import BagWriter


def recover(folder: str | os.PathLike) -> int:
    """Rewrite the bag in this folder with an index and metadata that are right; returns how many messages it has.

    The old file takes the name *.mcap.cut_off; nothing of it is removed. A complete bag is left alone.
    """
    old = BagReader(folder)
    path = Path(folder)
    if not path.is_dir() or len(old.files) != 1:
        raise BagError(f"{folder}: expected the folder of one recording")
    if old.complete:
        return sum(1 for _ in old.messages())
    count = 0
    work = path / ".recovered" / path.absolute().name
    shutil.rmtree(work.parent, ignore_errors=True)  # of a recovery that was itself interrupted
    with BagWriter(work) as new:
        for topic in old.topics.values():
            new.add_topic(topic.name, topic.type, topic.quality, text=topic.definition, digest=topic.type_hash)
        for name, entries in old.metadata.items():
            new.add_metadata(name, entries)
        for message in old.messages():
            new.write(*message)
            count += 1
    cut_off = old.files[0]
    cut_off.rename(cut_off.with_name(cut_off.name + ".cut_off"))
    new.file.rename(path / new.file.name)
    (work / "metadata.yaml").rename(path / "metadata.yaml")
    shutil.rmtree(work.parent)
    return count
