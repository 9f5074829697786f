# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is fuzzed, and how many cases of it a complete run has."""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from mbsim_ros.fuzz.verdict import Case


class Family(NamedTuple):
    """A kind of cases: its name, how many a complete run has, the module and class that make them, what they are.

    Those without a class need ROS and one process that has it.
    """

    name: str
    cases: int
    home: str
    about: str


FAMILIES = (
    Family("urdf", 100_000, "urdf.UrdfCases", "URDF texts"),
    Family("files", 20_000, "files.FileCases", "sidecars, terrains, launch files"),
    Family("api", 20_000, "api_calls.ApiCases", "calls of Simulation and dynamics"),
    Family("bags", 10_000, "bags.BagCases", "recordings"),
    Family("snapshots", 10_000, "snapshots.SnapshotCases", "snapshots"),
    Family("meshes", 20_000, "meshes.MeshCases", "mesh files"),
    Family("mjcf", 20_000, "mjcf.MjcfCases", "MJCF texts"),
    Family("messages", 5_000, "", "messages and service calls"),
)


def numbers_of(each: Family, scale: float) -> range:
    """The numbers of the cases of a run of this part of the complete one."""
    return range(max(1, round(each.cases * scale)))


def worker_of(name: str) -> str:
    """The module that runs the cases of a family as a process."""
    return "mbsim_ros.fuzz.worker" if family(name).home else f"mbsim_ros.nodes.checks.fuzz_{name}"


def family(name: str) -> Family:
    """The family of this name. Raises ValueError."""
    for each in FAMILIES:
        if each.name == name:
            return each
    raise ValueError(f"no family '{name}': there are {', '.join(each.name for each in FAMILIES)}")


class Maker(Protocol):
    """What makes the cases of a family."""

    def make(self, random: Random) -> Case:
        """A case."""


def makers(name: str, folder: Path) -> Maker:
    """What makes the cases of a family; its files go to the folder."""
    module, _, kind = family(name).home.partition(".")
    return getattr(importlib.import_module(f"mbsim_ros.fuzz.{module}"), kind)(folder)


def case(maker: Maker, name: str, seed: int, number: int) -> Case:
    """A case, the same whenever its family, seed and number are."""
    return maker.make(Random(f"{seed} {name} {number}"))
