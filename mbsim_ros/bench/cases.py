# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The robots that are measured: the walker-sized tree, robots in use, and chains that show how time grows."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.model import Model
from mbsim_ros.model.urdf.parser import parse_urdf

WALKER = Path(__file__).parent / "robots" / "walker_sized.urdf"
CHAINS = (3, 10, 30, 100, 300, 1000)
# In the optional package example-robot-data: name → file and base.
ROBOTS = {
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "Talos": ("talos_data/robots/talos_full_v2.urdf", "floating"),
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
}


@dataclass(frozen=True)
class RobotCase:
    """A robot to measure on; `urdf` is the file a peer can load, None if there is none."""

    name: str
    model: Model
    urdf: Path | None = None

    @property
    def is_chain(self) -> bool:
        """Whether it is one of the chains."""
        return self.urdf is None


def all_cases(quick: bool = False) -> tuple[list[RobotCase], list[str]]:
    """The cases, and notes on those that are missing."""
    cases, notes = [RobotCase("walker", _load(WALKER, "floating"), WALKER)], []
    folder = robots_folder()
    if folder is None:
        notes.append(f"{', '.join(ROBOTS)} skipped: pip install example-robot-data")
    elif not quick:
        cases += [RobotCase(name, _load(folder / file, base), folder / file) for name, (file, base) in ROBOTS.items()]
    cases += [RobotCase(f"chain {n}", chain(n)) for n in (CHAINS[:3] if quick else CHAINS)]
    return cases, notes


def robots_folder() -> Path | None:
    """Folder of example-robot-data: in its wheel, in a ROS or in a system installation; None if there is none."""
    prefixes = [Path(entry) / "cmeel.prefix" for entry in sys.path]
    prefixes += [Path(sys.prefix), Path("/usr"), Path("/usr/local")]
    places = [prefix / "share" / "example-robot-data" / "robots" for prefix in prefixes]
    return next((place for place in places if place.is_dir()), None)


def _load(file: Path, base: str) -> Model:
    """Load without mimic joints: peers take them as free, and both should do the same work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # robots in use have known imperfections
        description = parse_urdf(file)
    free = tuple(dataclasses.replace(joint, mimic=None) for joint in description.joints)
    return make_model(dataclasses.replace(description, joints=free), base)
