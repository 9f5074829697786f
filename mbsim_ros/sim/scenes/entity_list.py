# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities in words, as a parameter or a launch argument has them: `name=robot`, `name=robot@x,y,z,roll,pitch,yaw`.

    entities:="['left=arm@0,0.5,0', 'right=arm@0,-0.5,0', 'crate=/home/me/crate.urdf@0.6,0,0.2']"

A robot is a file, or a name of `mbsim robots`. After the last @ is where its root starts, with or without angles [m,
rad]; one that floats and has no place stands on the ground at the origin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mbsim_ros.model.description import Origin
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.world import World, load_world

FORM = "name=robot, name=robot@x,y,z or name=robot@x,y,z,roll,pitch,yaw"


def world_from(values: Mapping[str, Any], package_dirs: Sequence[str | Path] = ()) -> World | None:
    """The scene that the parameters `world` and `entities` give together; None where there is no scene.

    Raises ValueError that says which entry is wrong, or UrdfError and SidecarError of its files.
    """
    file, entries = values.get("world"), [entry for entry in values.get("entities", ()) if entry]
    if not (file or entries):
        return None
    world = load_world(file) if file else World({})
    models, poses = dict(world.models), dict(world.poses)
    for entry in entries:
        name, robot, pose = read_entry(entry)
        if name in models:
            raise ValueError(f"entities: expected names that differ, got {name!r} twice")
        models[name] = load_urdf(robot, values.get("base", "auto"), package_dirs=package_dirs)
        if pose is not None:
            poses[name] = pose
    return replace(world, models=_checked(models), poses=poses)


def read_entry(entry: str) -> tuple[str, str, Origin | None]:
    """Name, robot and place of an entry; ValueError if it has another form."""
    name, is_there, robot = entry.partition("=")
    path, has_place, place = robot.rpartition("@")
    if not (name.strip() and is_there and robot.strip()):
        raise ValueError(f"entities: expected {FORM}, got {entry!r:.200}")
    if not has_place:
        return name.strip(), robot.strip(), None
    try:
        numbers = [float(word) for word in place.split(",")]
    except ValueError:
        return name.strip(), robot.strip(), None  # an @ in the name of a folder
    if len(numbers) not in (3, 6) or not all(map(math.isfinite, numbers)):
        raise ValueError(f"entities: '{name}': expected three or six finite numbers after @, got {place!r:.200}")
    x, y, z, roll, pitch, yaw = (*numbers, 0.0, 0.0, 0.0)[:6]
    return name.strip(), path.strip(), Origin((x, y, z), (roll, pitch, yaw))


def _checked(models: dict[str, Model]) -> dict[str, Model]:
    wrong = [name for name in models if "/" in name]
    if wrong:
        raise ValueError(f"entities: expected names without '/', got {wrong[0]!r:.80}")
    return models
