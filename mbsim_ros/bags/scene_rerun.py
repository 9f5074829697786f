# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities that came and went in a recorded run come and go again in its replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.scenes.entity_spec import EntitySpec


class SceneRerun:
    """The entities of a replayed simulation. `changes` counts how often they have been others."""

    def __init__(self, intake: CommandInterface, setups: Sequence[SimulationSetup]):
        """setups: of the run; the simulation is made from the first."""
        self._intake, self._package_dirs = intake, setups[0].package_dirs
        self._known = {spec.digest: spec for setup in setups for spec in setup.entities}
        self._present = list(setups[0].entities)
        self.changes = 0

    def spawn(self, value: Any) -> None:
        """An entity came; ValueError if it cannot."""
        spec = EntitySpec.from_json(value)
        self._known[spec.digest] = spec
        self._add(spec)
        self._intake.hold(spec.name)

    def delete(self, name: Any) -> None:
        """An entity left; ValueError if there is none of that name."""
        held = self._intake.held_names
        self._intake.sim.delete(str(name))
        self._present = [spec for spec in self._present if spec.name != name]
        self._intake.read_model(held)
        self.changes += 1

    def change_to(self, entities: Iterable[Sequence[str]]) -> None:
        """Have the entities of a keyframe, names and digests in their order; what they do is in the keyframe.

        ValueError if the recording does not tell what one of them was made from.
        """
        wanted = [str(digest) for _, digest in entities]
        missing = [digest for digest in wanted if digest not in self._known]
        if missing:
            raise ValueError(
                "an entity came while the journal was not recorded: what it was made from is not in the bag"
            )
        same = 0
        while same < min(len(wanted), len(self._present)) and self._present[same].digest == wanted[same]:
            same += 1
        leaving, coming = self._present[same:], [self._known[digest] for digest in wanted[same:]]
        last = leaving.pop(0) if same == 0 and leaving else None  # a scene is never empty: it leaves when another came
        for spec in leaving:
            self.delete(spec.name)
        for spec in coming:
            self._add(spec)
            if last is not None:
                self.delete(last.name)
                last = None

    def _add(self, spec: EntitySpec) -> None:
        held = self._intake.held_names
        self._intake.sim.spawn(spec.name, spec.model(self._package_dirs), spec.pose)
        self._present.append(spec)
        self._intake.read_model(held)
        self.changes += 1
