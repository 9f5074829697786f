# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities that come and go while the physics node runs: the simulation changes, and all that goes by its names."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from mbsim_ros.bags.journal import DELETE, SPAWN
from mbsim_ros.model.model import Model
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.physics.entities.interfaces import EntityInterfaces
from mbsim_ros.nodes.physics.live import LiveParameters
from mbsim_ros.nodes.physics.outputs import Outputs
from mbsim_ros.nodes.physics.robot_source import published_text
from mbsim_ros.nodes.transport.topic_scope import forget_destroyed
from mbsim_ros.sim.scenes.entity_spec import EntitySpec, specs_of

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics


class SceneChanges:
    """Spawns and deletes at the present instant. Topics of entities that stay are not touched."""

    def __init__(
        self, physics: Physics, outputs: Outputs, interfaces: EntityInterfaces, live: LiveParameters,
        listen: Callable[[], None],
    ):  # fmt: skip
        """listen: makes the node's loop listen to the topics that there are now."""
        self._physics, self._outputs, self._live, self._listen = physics, outputs, live, listen
        self.interfaces = interfaces
        assert physics.sim.entities is not None
        self.specs = {spec.name: spec for spec in specs_of(physics.sim.entities)}
        gc.freeze()  # what is there by now stays: it need not be looked through when somebody leaves

    def spawn(self, spec: EntitySpec, model: Model, namespace: str = "") -> None:
        """Add an entity, which holds until it is commanded; ValueError, and nothing changes, if it cannot be.

        model: that of the spec; namespace: of its topics, if not its name.
        """
        physics, held = self._physics, self._physics.intake.held_names
        physics.sim.spawn(spec.name, model, spec.pose)
        self.specs[spec.name] = spec
        self._read_scene(held)
        physics.intake.hold(spec.name)
        physics.journal.note(SPAWN, spec.to_json())
        self.interfaces.add(spec.name, namespace)
        self._listen()
        self._tell(spec.name)

    def delete(self, name: str) -> None:
        """Take an entity out; ValueError, and nothing changes, if it cannot be."""
        physics, held = self._physics, self._physics.intake.held_names
        physics.sim.delete(name)
        del self.specs[name]
        self.interfaces.remove(name)
        self._listen()
        self.interfaces.close(name)
        self._read_scene(held)
        physics.journal.note(DELETE, name)
        self._tell("")

    def _read_scene(self, held: frozenset[str]) -> None:
        """Take the names from the simulation as it is now; what holds goes on to."""
        physics = self._physics
        physics.intake.read_model(held)
        self._live.read_gains()
        forest = physics.sim.model
        physics.robot_text = to_urdf(forest.description)
        self._outputs.read_model(published_text(forest))

    def _tell(self, added: str) -> None:
        physics = self._physics
        self._outputs.publish_change(physics.stamp, added)
        physics.journal.published(False)
        physics.publish_setup()
        # What a change leaves behind are few objects that know each other, with arrays of megabytes that Python's
        # collector does not see: it would wait for hundreds of changes.
        gc.collect()
        forget_destroyed(physics)
