# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Completing a bag whose recorder was killed, so that every tool opens it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.bag_writer import BagWriter

WORK, CUT_OFF = ".recovered", ".cut_off"


def recover(folder: str | os.PathLike) -> int:
    """Rewrite the bag in this folder with an index and metadata that are right; returns how many messages it has.

    The old file takes the name *.mcap.cut_off; nothing of it is removed. A complete bag is left alone. Nothing outside
    of the folder changes, whatever the bag says.
    """
    old = BagReader(folder)
    path = Path(folder)
    if not path.is_dir() or len(old.files) != 1:
        raise BagError(f"{folder}: expected the folder of one recording")
    if old.complete:
        return sum(1 for _ in old.messages())
    count, cut_off = 0, old.files[0]
    work = path / WORK / path.absolute().name
    _refuse_to_replace(path, path / f"{work.name}_0.mcap", path / f"{cut_off.name}{CUT_OFF}", but=cut_off)
    shutil.rmtree(work.parent, ignore_errors=True)  # of a recovery that was itself interrupted
    with BagWriter(work) as new:
        for topic in old.topics.values():
            new.add_topic(topic.name, topic.type, topic.quality, text=topic.definition, digest=topic.type_hash)
        for name, entries in old.metadata.items():
            new.add_metadata(name, entries)
        for message in old.messages():
            new.write(*message)
            count += 1
    cut_off.rename(path / f"{cut_off.name}{CUT_OFF}")
    new.file.rename(path / new.file.name)
    (work / "metadata.yaml").rename(path / "metadata.yaml")
    shutil.rmtree(work.parent)
    return count


def _refuse_to_replace(path: Path, *targets: Path, but: Path) -> None:
    """Raise BagError where one of the files to be written is there already, or the work would be done elsewhere."""
    if (path / WORK).is_symlink():
        raise BagError(f"{path / WORK} is a symbolic link: remove it")
    for target in targets:
        if os.path.lexists(target) and target.resolve() != but.resolve():
            raise BagError(f"{target} is there already and would be lost: move it away")
