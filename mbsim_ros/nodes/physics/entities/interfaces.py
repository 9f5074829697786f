# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The topics of all entities of a scene, each in its own namespace; they come and go with the entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rclpy.publisher import Publisher

from mbsim_ros.dynamics.robot_state import RobotState
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.frames import frame_name, topic_name
from mbsim_ros.nodes.physics.entities.entity_outputs import EntityOutputs
from mbsim_ros.nodes.physics.parameters import ALL, ROBOTS
from mbsim_ros.nodes.transport.topic_scope import TopicScope

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics
    from mbsim_ros.nodes.publishers.contact_publisher import ContactPublisher


class EntityInterfaces:
    """Of every entity that has topics what it publishes and listens to. `physics` has the scene and its inputs."""

    def __init__(self, physics: Physics, contacts: ContactPublisher):
        self._physics, self._contacts = physics, contacts
        self._scopes: dict[str, TopicScope] = {}
        self._outputs: dict[str, EntityOutputs] = {}

    def add_all(self) -> None:
        """Make the topics of all entities that the scene begins with."""
        for name in self._physics.sim.entities or ():
            self.add(name)

    def add(self, name: str, namespace: str = "") -> None:
        """Make the topics of an entity, if it is to have any; namespace: other than its name."""
        physics, entities = self._physics, self._physics.sim.entities
        assert entities is not None
        entity, prefix = entities[name], physics.values["frame_prefix"]
        if not self._is_wanted(entity.model):
            return
        scope = self._scopes[name] = TopicScope(physics, namespace or self._free_namespace(name))
        world = frame_name(physics.sim.model.description.root.name, prefix)
        self._outputs[name] = EntityOutputs(scope, physics.sim, entity, world, prefix)
        self._contacts.add_entity(name, scope)
        if entity.model.is_floating or entity.model.joints:
            physics.inputs.add_entity(name, scope, physics.resolve_topic_name(scope.namespace))

    def remove(self, name: str) -> None:
        """Destroy the topics of an entity."""
        self._physics.inputs.remove_entity(name)
        self._contacts.remove_entity(name)
        self._outputs.pop(name, None)

    def close(self, name: str) -> None:
        """After `remove`, when the loop no longer listens to them."""
        scope = self._scopes.pop(name, None)
        if scope is not None:
            scope.close()

    def is_free(self, namespace: str) -> bool:
        """Whether no other entity has this namespace."""
        resolve = self._physics.resolve_topic_name
        return resolve(namespace) not in {resolve(scope.namespace) for scope in self._scopes.values()}

    def read_scene(self) -> None:
        """Entities came or went: the numbers of those that stay are elsewhere."""
        for outputs in self._outputs.values():
            outputs.read_scene()

    def publish_one(self, name: str, stamp: int, state: RobotState, motor_efforts: np.ndarray | None) -> None:
        """The state of one that has just come; those of the others have been told already."""
        if name in self._outputs:
            self._outputs[name].publish(stamp, state, motor_efforts)

    def publish(self, stamp: int, state: RobotState, motor_efforts: np.ndarray | None) -> None:
        """The states of all of them at a time [ns]."""
        for outputs in self._outputs.values():
            outputs.publish(stamp, state, motor_efforts)

    def repeat(self, stamp: int) -> None:
        """The last states once more."""
        for outputs in self._outputs.values():
            outputs.repeat(stamp)

    @property
    def publishers(self) -> list[Publisher]:
        """Of the states of all of them."""
        return [publisher for outputs in self._outputs.values() for publisher in outputs.publishers]

    def _is_wanted(self, model: Model) -> bool:
        choice = self._physics.values["entity_topics"]
        return choice == ALL or (choice == ROBOTS and bool(model.joints))

    def _free_namespace(self, name: str) -> str:
        namespace = topic_name(name)
        while not self.is_free(namespace):  # as of box-1 and box.1
            namespace += "_"
        return namespace
