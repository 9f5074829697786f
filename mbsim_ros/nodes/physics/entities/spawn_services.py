# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""spawn_entity, spawn_entities, delete_entity and get_spawnables of simulation_interfaces."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup
from simulation_interfaces.msg import Result, Spawnable
from simulation_interfaces.srv import DeleteEntity, GetSpawnables, SpawnEntity

try:
    from simulation_interfaces.msg import SpawnResult
    from simulation_interfaces.srv import SpawnEntities
except ImportError:  # versions before 1.4
    SpawnEntities = None

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.nodes.physics.entities.spawn_request import (
    SpawnRefused,
    requested_model,
    requested_name,
    requested_namespace,
    requested_pose,
    spawnables,
)
from mbsim_ros.sim.scenes.entity_spec import EntitySpec

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.entities.scene_changes import SceneChanges
    from mbsim_ros.nodes.physics.node import Physics

NO_SCENE = "this is a simulation of one robot: start it with entities:= or world:= to have entities come and go"


class SpawnServices:
    """Answers after the change, which is made between two control periods; what is refused changes nothing."""

    def __init__(self, physics: Physics, group: CallbackGroup):
        self._physics = physics
        for kind, name, handler in (
            (SpawnEntity, "spawn_entity", self._spawn),
            (DeleteEntity, "delete_entity", self._delete),
            (GetSpawnables, "get_spawnables", self._spawnables),
        ):
            physics.create_service(kind, name, handler, callback_group=group)
        if SpawnEntities is not None:
            physics.create_service(SpawnEntities, "spawn_entities", self._spawn_several, callback_group=group)

    def _spawn_several(self, request: Any, response: Any) -> Any:
        """All of them in their order, at one instant; each by itself, so that one may fail and others not."""
        response.results = [self._spawn(each, SpawnResult()) for each in request.spawn_requests]
        refused = [each for each in response.results if each.result.result != Result.RESULT_OK]
        words = f"{len(refused)} of {len(response.results)} were refused: see results" if refused else ""
        code = type(response).ENTITIES_SPAWN_FAILED if refused else Result.RESULT_OK
        response.result = Result(result=code, error_message=words)
        return response

    def _spawn(self, request: Any, response: Any) -> Any:
        """Of spawn_entity, or one of spawn_entities, whose parts have the same fields."""
        scene = self._physics.scene
        if scene is None:
            response.result = Result(result=Result.RESULT_FEATURE_UNSUPPORTED, error_message=NO_SCENE)
            return response
        try:
            name, told = self._spawned(scene, request)
        except SpawnRefused as error:
            response.result = Result(result=error.code, error_message=str(error))
        except (ValueError, UnsupportedModel) as error:
            response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=str(error))
        else:
            response.entity_name = name
            response.result = Result(result=Result.RESULT_OK, error_message=told)
        return response

    def _spawned(self, scene: SceneChanges, request: Any) -> tuple[str, str]:
        """The name of the new entity, and what is not quite right with its file."""
        physics, values = self._physics, self._physics.values
        folders = [folder for folder in values["package_dirs"].split(os.pathsep) if folder]
        namespace = requested_namespace(request, physics.get_namespace())
        if namespace and not scene.interfaces.is_free(namespace):
            words = f"another entity has its topics in {namespace!r}"
            raise SpawnRefused(SpawnEntity.Response.NAMESPACE_INVALID, words)
        pose = requested_pose(request.initial_pose, physics.sim, values["world_frame"], values["frame_prefix"])
        model, told = requested_model(request, folders)
        name = requested_name(request, model, scene.specs)
        spec = EntitySpec.of(name, model, pose)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UrdfWarning)  # told already
            scene.spawn(spec, spec.model(), namespace)  # as a replay makes it
        return name, told

    def _delete(self, request: DeleteEntity.Request, response: DeleteEntity.Response) -> DeleteEntity.Response:
        scene = self._physics.scene
        if scene is None:
            response.result = Result(result=Result.RESULT_FEATURE_UNSUPPORTED, error_message=NO_SCENE)
        elif request.entity not in scene.specs:
            response.result = Result(result=Result.RESULT_NOT_FOUND, error_message=f"no entity {request.entity!r:.100}")
        else:
            try:
                scene.delete(request.entity)
            except ValueError as error:
                response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=str(error))
            else:
                response.result = Result(result=Result.RESULT_OK)
        return response

    def _spawnables(self, request: GetSpawnables.Request, response: GetSpawnables.Response) -> GetSpawnables.Response:
        found, unknown = spawnables(request.sources)
        for uri, description in found:
            entry = Spawnable(description=description)
            getattr(entry, "entity_resource", entry).uri = uri  # 2.x, 1.x
            response.spawnables.append(entry)
        words = f"no folders: {', '.join(unknown)}" if unknown else ""
        response.result = Result(result=Result.RESULT_OK, error_message=words)
        return response
