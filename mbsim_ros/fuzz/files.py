# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Sidecars, terrains and launch files: read and used, or an error that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

import yaml

from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_text, mutated_tree, mutated_xml
from mbsim_ros.fuzz.seeds import HOPPER, HOPPER_SIDECAR, LAUNCH, PENDULUM, SIDECAR, TERRAINS
from mbsim_ros.fuzz.verdict import Case, refuse_not_finite
from mbsim_ros.launcher.plan import list_arguments, plan_launch
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

SIMULATED = 0.3  # of those that can be read


class FileCases:
    """Cases of the other files that users write."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._robots = [(parse_urdf(PENDULUM), SIDECAR), (parse_urdf(HOPPER), HOPPER_SIDECAR)]
        self._hopper = make_model(self._robots[1][0], "auto")
        self._launch = ElementTree.fromstring(LAUNCH)

    def make(self, random: Random) -> Case:
        """A changed file of one of the three kinds."""
        kind, moves = random.randrange(3), random.random() < SIMULATED
        if kind == 0:
            robot, seed = random.choice(self._robots)
            text = _changed_yaml(seed, random)
            return Case(text, lambda: self._use_sidecar(robot, text, moves))
        if kind == 1:
            text = _changed_yaml(random.choice(TERRAINS), random)
            return Case(text, lambda: self._use_terrain(text, moves))
        way = random.random()
        data = mutated_xml(self._launch, random) if way < 0.6 else mutated_text(LAUNCH, random)
        content = mutated_bytes(LAUNCH.encode(), random) if way > 0.85 else data.encode(errors="surrogatepass")
        return Case(content.decode(errors="replace"), lambda: self._use_launch(content))

    def _use_sidecar(self, robot: RobotDescription, text: str, moves: bool) -> None:
        settings = parse_sidecar(text, robot)
        model = make_model(with_sidecar(robot, settings), "auto", settings)
        if moves:
            _move(Simulation(model))

    def _use_terrain(self, text: str, moves: bool) -> None:
        terrain = chosen_terrain(text)
        if moves:
            _move(Simulation(self._hopper, terrain=terrain))

    def _use_launch(self, content: bytes) -> None:
        if b"command" in content:  # it would be run
            return
        file = self._folder / "fuzz.launch.xml"
        file.write_bytes(content)
        list_arguments(file)
        plan_launch(file, {})


def _changed_yaml(seed: str, random: Random) -> str:
    way = random.random()
    if way < 0.5:
        changed = mutated_tree(yaml.safe_load(seed), random)
        return yaml.safe_dump(changed, default_flow_style=None, allow_unicode=True)
    if way < 0.8:
        return mutated_text(seed, random)
    if way < 0.81:
        return "a: " + "[" * 3000 + "]" * 3000
    return mutated_bytes(seed.encode(), random).decode(errors="replace")


def _move(sim: Simulation) -> None:
    sim.advance(3)
    refuse_not_finite("q", sim.q)
    refuse_not_finite("v", sim.v)
