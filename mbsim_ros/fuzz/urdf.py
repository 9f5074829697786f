# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""URDF texts, whole and changed: a model, and motion that is finite, or an error that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_text, mutated_xml
from mbsim_ros.fuzz.seeds import URDFS
from mbsim_ros.fuzz.verdict import Case, refuse_not_finite
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.simulation import Simulation

SIMULATED = 0.1  # of those that load


class UrdfCases:
    """Cases of URDF texts."""

    def __init__(self, folder: Path):
        self._trees = [ElementTree.fromstring(text) for text in URDFS]

    def make(self, random: Random) -> Case:
        """A changed text, read, and now and then simulated for three steps."""
        which, way = random.randrange(len(URDFS)), random.random()
        if way < 0.6:
            text = mutated_xml(self._trees[which], random)
        elif way < 0.8:
            text = mutated_text(URDFS[which], random)
        else:
            text = mutated_bytes(URDFS[which].encode(), random).decode(errors="replace")
        moves = random.random() < SIMULATED
        return Case(text, lambda: load_and_move(text, moves))


def load_and_move(text: str, moves: bool) -> None:
    """Read the text of a robot, and let it go for three steps if wanted."""
    model = load_urdf(text)
    if moves:
        sim = Simulation(model)
        sim.advance(3)
        refuse_not_finite("q", sim.q)
        refuse_not_finite("v", sim.v)
