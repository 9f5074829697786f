# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots by name: our own, with those of the documents, and those of the package example-robot-data.

    Simulation("box")        ./mbsim launch go2        ./mbsim robots

Of example-robot-data, those that are ready to use have sidecars of ours.

A name is looked up here and nowhere else, so that no name leads out of the folders of the robots.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mbsim_ros.model.file_reading import is_file
from mbsim_ros.model.problems import Problem, UrdfError, did_you_mean
from mbsim_ros.model.urdf.mesh_paths import package_shares

PACKAGE = "example-robot-data"
INSTALL = f"{sys.executable} -m pip install {PACKAGE}"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")

# Robots of this package, files of urdf/ with sidecars in config/, and the document that they are from.
OWN = {
    "box": "W 5.3",
    "double_spherical_pendulum": "W 2.4.2",
    "biped": "W 4",
    "block": "W 4.3",
    "floating_chain": "K 5.5",
    "three_link_pendulum": "K 1, 4",
    "manipulator": "G 5",
    "body_on_point": "H 4.1",
    "coupled_bodies": "H 4.3",
    "walker": "N 5",
    "arm": "",
    "four_bar": "",
    "closed_leg": "",
}

# Of all kinds: legged robots, humanoids, arms, hands, flying and mobile ones.
FILES = {
    "a1": "a1_description/urdf/a1.urdf",
    "alex": "alex_description/urdf/alex_nub_hands.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "b1": "b1_description/urdf/b1.urdf",
    "b1_z1": "b1_description/urdf/b1-z1.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "g1_hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hextilt": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "human": "human_description/robots/human.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub_reduced.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "so100": "so_arm_description/urdf/so100.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}


@dataclass(frozen=True)
class ReadyRobot:
    """A robot of the catalogue: `file` is None where its package is missing, `sidecar` where there is none of ours.

    document: where it is from, a letter of docs/bibliography.md and a section; "" where it is from none.
    """

    name: str
    file: Path | None
    sidecar: Path | None
    document: str = ""


def is_name(robot: object) -> bool:
    """Whether this can only be meant as a name of the catalogue: a word that is no file."""
    text = str(robot) if isinstance(robot, (str, os.PathLike)) else ""
    return _NAME.fullmatch(text) is not None and not is_file(Path(text))


def names() -> tuple[str, ...]:
    """All names, ours first."""
    return (*OWN, *FILES)


def ready_robot(name: str) -> ReadyRobot:
    """A robot by its name. Raises UrdfError that says which there are, or how to install them."""
    if name not in names():
        hint = did_you_mean(name, names(), "check the path, or see `mbsim robots` for names", 0)
        raise UrdfError([Problem(name, 0, "file", "", "neither a file nor the name of a robot", "", hint)])
    found = _entry(name)
    if found.file is None:
        missing = Problem(name, 0, "file", "", f"this robot is in {PACKAGE}", "which is not installed", INSTALL)
        raise UrdfError([missing])
    return found


def catalogue() -> Iterator[ReadyRobot]:
    """All robots, installed or not: our own, then those with a sidecar of ours, then the others."""
    yield from map(_entry, OWN)
    yield from sorted(map(_entry, FILES), key=lambda robot: (robot.sidecar is None, robot.name))


def _entry(name: str) -> ReadyRobot:
    if name in OWN:
        sidecar = shared_file(f"config/{name}.mbsim.yaml")
        return ReadyRobot(name, shared_file(f"urdf/{name}.urdf.xacro"), sidecar, OWN[name])
    folder = robots_folder()
    file = None if folder is None else folder / FILES[name]
    sidecar = shared_file(f"config/robots/{name}.mbsim.yaml")
    return ReadyRobot(name, file if file is not None and is_file(file) else None, sidecar)


def shared_file(path: str) -> Path | None:
    """A file of this package: of the checkout, or where it is installed."""
    shares = [Path(__file__).parents[2], *package_shares("mbsim_ros"), Path(sys.prefix) / "share" / "mbsim_ros"]
    return next((share / path for share in shares if is_file(share / path)), None)


@cache
def robots_folder() -> Path | None:
    """Where example-robot-data keeps its robots, or None."""
    prefixes = [
        *(Path(entry) / "cmeel.prefix" for entry in sys.path),
        Path(sys.prefix),
        *map(Path, filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))),
        Path("/usr"),
        Path("/usr/local"),
    ]
    folders = [prefix / "share" / PACKAGE / "robots" for prefix in prefixes]
    return next((folder for folder in folders if folder.is_dir()), None)
