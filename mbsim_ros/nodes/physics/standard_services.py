# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The services of simulation_interfaces: state of the simulation, steps, reset, and truth about entities.

They work with the package as any distribution has it. What 1.5 (Jazzy) and 1.6 (Kilted) lack of 2.x: the flags of
SetEntityState, without which pose and twist are meant, both; and, in 1.5.0 and 1.6.0, its result INVALID_POSE.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from rclpy.callback_groups import CallbackGroup
from simulation_interfaces.msg import EntityState, Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetEntities,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    StepSimulation,
)

from mbsim_ros.nodes.physics.entities.spawn_request import FORMATS
from mbsim_ros.nodes.physics.entities.spawn_services import SpawnEntities, SpawnServices
from mbsim_ros.nodes.physics.entity_filters import UnsupportedFilter, passes
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.sim.simulation import Simulation

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

FEATURES = (
    SimulatorFeatures.ENTITY_TAGS, SimulatorFeatures.ENTITY_CATEGORIES,
    SimulatorFeatures.ENTITY_STATE_GETTING, SimulatorFeatures.ENTITY_STATE_SETTING,
    SimulatorFeatures.SIMULATION_RESET, SimulatorFeatures.SIMULATION_RESET_STATE,
    SimulatorFeatures.SIMULATION_STATE_GETTING, SimulatorFeatures.SIMULATION_STATE_SETTING,
    SimulatorFeatures.SIMULATION_STATE_PAUSE, SimulatorFeatures.STEP_SIMULATION_SINGLE,
    SimulatorFeatures.STEP_SIMULATION_MULTIPLE,
)  # fmt: skip
OF_SCENES = (
    SimulatorFeatures.SPAWNING, SimulatorFeatures.DELETING, SimulatorFeatures.SPAWNING_RESOURCE_STRING,
    SimulatorFeatures.SPAWNABLES,
)  # fmt: skip
SPAWNING_ENTITIES = 50  # of SimulatorFeatures, where there is spawn_entities
MOST_STEPS = 1_000_000
INVALID_POSE = 101


class StandardServices:
    """One entity, the robot, or those of a scene. One step is one control period."""

    def __init__(self, physics: Physics, group: CallbackGroup):
        self._physics = physics
        self._stopped_at: int | None = None  # stamp of the state in which it was stopped
        for kind, name, handler in (
            (GetSimulatorFeatures, "get_simulator_features", self._features),
            (GetSimulationState, "get_simulation_state", self._get_state),
            (SetSimulationState, "set_simulation_state", self._set_state),
            (StepSimulation, "step_simulation", self._step),
            (ResetSimulation, "reset_simulation", self._reset),
            (GetEntities, "get_entities", self._entities),
            (GetEntityState, "get_entity_state", self._get_entity),
            (SetEntityState, "set_entity_state", self._set_entity),
        ):
            physics.create_service(kind, name, handler, callback_group=group)
        SpawnServices(physics, group)

    def _features(
        self, _: GetSimulatorFeatures.Request, response: GetSimulatorFeatures.Response
    ) -> GetSimulatorFeatures.Response:
        scene = self._physics.scene is not None
        more = (*OF_SCENES, *((SPAWNING_ENTITIES,) if SpawnEntities is not None else ())) if scene else ()
        response.features.features = [int(feature) for feature in (*FEATURES, *more)]
        response.features.spawn_formats = list(FORMATS) if scene else []
        entities = "entities of one scene" if scene else "one entity"
        response.features.custom_info = f"{entities}; one step is one control period; a reset moves the clock on by 1 s"
        return response

    @property
    def _state(self) -> int:
        if not self._physics.paused:
            return int(SimulationState.STATE_PLAYING)
        is_stopped = self._physics.stamp == self._stopped_at
        return int(SimulationState.STATE_STOPPED if is_stopped else SimulationState.STATE_PAUSED)

    def _get_state(
        self, _: GetSimulationState.Request, response: GetSimulationState.Response
    ) -> GetSimulationState.Response:
        response.state.state, response.result = self._state, _ok()
        return response

    def _set_state(
        self, request: SetSimulationState.Request, response: SetSimulationState.Response
    ) -> SetSimulationState.Response:
        physics, wanted = self._physics, request.state.state
        if wanted == self._state:
            same = SetSimulationState.Response.ALREADY_IN_TARGET_STATE
            response.result = Result(result=same, error_message="already in that state")
            return response
        if wanted == SimulationState.STATE_STOPPED:  # the initial state, at rest and paused; time is kept
            physics.reset()
            physics.paused, self._stopped_at = True, physics.stamp
        elif wanted in (SimulationState.STATE_PAUSED, SimulationState.STATE_PLAYING):
            physics.paused, self._stopped_at = wanted == SimulationState.STATE_PAUSED, None
            physics.pace.restart(physics.stamp)
        else:
            response.result = _failed(Result.RESULT_FEATURE_UNSUPPORTED, "expected stopped, playing or paused")
            return response
        response.result = _ok()
        return response

    async def _step(
        self, request: StepSimulation.Request, response: StepSimulation.Response
    ) -> StepSimulation.Response:
        physics = self._physics
        if not physics.paused:
            response.result = _failed(Result.RESULT_INCORRECT_STATE, "not paused: pause first")
            return response
        if not 1 <= request.steps <= MOST_STEPS:
            response.result = _failed(
                Result.RESULT_OPERATION_FAILED, f"steps: expected 1 to {MOST_STEPS}, got {request.steps}"
            )
            return response
        for _ in range(request.steps):
            await physics.wanted_step()
        response.result = _ok()
        return response

    def _reset(self, request: ResetSimulation.Request, response: ResetSimulation.Response) -> ResetSimulation.Response:
        if request.scope not in (ResetSimulation.Request.SCOPE_DEFAULT, ResetSimulation.Request.SCOPE_STATE):
            response.result = _failed(
                Result.RESULT_FEATURE_UNSUPPORTED, "only the state can be reset: time never goes back"
            )
            return response
        self._physics.reset()
        response.result = _ok("the state was reset; the clock went on by 1 s")
        return response

    def _entities(self, request: GetEntities.Request, response: GetEntities.Response) -> GetEntities.Response:
        sim = self._physics.sim
        try:
            response.entities = [name for name in _names(sim) if passes(request.filters, sim, name)]
        except UnsupportedFilter as error:
            response.result = _failed(Result.RESULT_FEATURE_UNSUPPORTED, str(error))
        except ValueError as error:
            response.result = _failed(Result.RESULT_OPERATION_FAILED, str(error))
        else:
            response.result = _ok()
        return response

    def _get_entity(
        self, request: GetEntityState.Request, response: GetEntityState.Response
    ) -> GetEntityState.Response:
        if request.entity not in _names(self._physics.sim):
            response.result = _failed(Result.RESULT_NOT_FOUND, f"no entity {request.entity!r}")
            return response
        response.state, response.result = self._entity_state(request.entity), _ok()
        return response

    def _entity_state(self, name: str) -> EntityState:
        """Pose and twist of a base in the world's frame."""
        physics, state = self._physics, EntityState()
        state.header.stamp, state.header.frame_id = stamp_of(physics.stamp), physics.values["world_frame"]
        base = _base(physics.sim, name)
        if base is None:
            return state
        q, v = physics.sim.q[base[0]], physics.sim.v[base[1]]
        pose, twist = state.pose, state.twist
        pose.position.x, pose.position.y, pose.position.z = q[:3].tolist()
        o = pose.orientation
        o.x, o.y, o.z, o.w = q[3:7].tolist()
        R = _rotation(q[3:7])
        twist.linear.x, twist.linear.y, twist.linear.z = (R @ v[:3]).tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = (R @ v[3:6]).tolist()
        return state

    def _set_entity(
        self, request: SetEntityState.Request, response: SetEntityState.Response
    ) -> SetEntityState.Response:
        physics, sim = self._physics, self._physics.sim
        if request.entity not in _names(sim):
            response.result = _failed(Result.RESULT_NOT_FOUND, f"no entity {request.entity!r}")
            return response
        base = _base(sim, request.entity)
        frame = request.state.header.frame_id
        set_pose, set_twist = getattr(request, "set_pose", True), getattr(request, "set_twist", True)
        set_acceleration = getattr(request, "set_acceleration", False)
        if base is None or set_acceleration or frame not in ("", physics.values["world_frame"]):
            why = f"only pose and twist of a floating base, in '{physics.values['world_frame']}', can be set"
            response.result = _failed(Result.RESULT_OPERATION_FAILED, why)
            return response
        q, v = sim.q, sim.v
        q_base, v_base = q[base[0]], v[base[1]]
        p, o = request.state.pose.position, request.state.pose.orientation
        if set_pose:
            q_base[:] = p.x, p.y, p.z, o.x, o.y, o.z, o.w
            length = math.hypot(o.x, o.y, o.z, o.w)
            if not (np.isfinite(q_base).all() and abs(length - 1.0) < 1e-3):
                why = "expected a finite pose with a unit quaternion"
                response.result = _failed(INVALID_POSE, why)
                return response
            q_base[3:7] /= length
        if set_twist:
            t, R = request.state.twist, _rotation(q_base[3:7])
            v_base[:3] = R.T @ (t.linear.x, t.linear.y, t.linear.z)
            v_base[3:6] = R.T @ (t.angular.x, t.angular.y, t.angular.z)
        q[base[0]], v[base[1]] = q_base, v_base
        try:
            physics.place(q, v)
        except ValueError as error:
            response.result = _failed(Result.RESULT_OPERATION_FAILED, str(error))
            return response
        response.result = _ok()
        return response


def _names(sim: Simulation) -> tuple[str, ...]:
    """Names of the entities: those of a world, or the robot."""
    return (sim.model.name,) if sim.entities is None else tuple(sim.entities)


def _base(sim: Simulation, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Where in q (7) and v (6) the floating base of an entity is; None for one that does not float."""
    if sim.entities is None:
        return (np.arange(7), np.arange(6)) if sim.model.is_floating else None
    entity = sim.entities[name]
    return (entity.in_q[:7], entity.in_v[:6]) if entity.model.is_floating else None


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """R of a ROS quaternion (x, y, z, w)."""
    from mbsim_ros.lie import quaternion as quaternions

    return np.asarray(quaternions.to_matrix(quaternions.from_ros(quaternion)))


def _ok(message: str = "") -> Result:
    return Result(result=Result.RESULT_OK, error_message=message)


def _failed(code: int, message: str) -> Result:
    return Result(result=code, error_message=message)
