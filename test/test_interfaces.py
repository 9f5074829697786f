# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The message packages that ./mbsim builds: the standard's names and fields, usable from rclpy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Fields as the standard has them: tf2_msgs, and simulation_interfaces 1.5, which Jazzy has, or 2.1.
IS_JAZZY = Path(sys.prefix).name == ".venv-jazzy"
FLAGS = {} if IS_JAZZY else {"set_pose": "boolean", "set_twist": "boolean", "set_acceleration": "boolean"}
FIELDS = {
    "control_msgs.msg.JointTolerance": {
        "name": "string",
        "position": "double",
        "velocity": "double",
        "acceleration": "double",
    },
    "tf2_msgs.msg.TFMessage": {"transforms": "sequence<geometry_msgs/TransformStamped>"},
    "simulation_interfaces.msg.Bounds": {"type": "uint8", "points": "sequence<geometry_msgs/Vector3>"},
    "simulation_interfaces.msg.EntityCategory": {"category": "uint8"},
    "simulation_interfaces.msg.EntityFilters": {
        "filter": "string",
        "categories": "sequence<simulation_interfaces/EntityCategory>",
        "tags": "simulation_interfaces/TagsFilter",
        "bounds": "simulation_interfaces/Bounds",
    },
    "simulation_interfaces.msg.EntityState": {
        "header": "std_msgs/Header",
        "pose": "geometry_msgs/Pose",
        "twist": "geometry_msgs/Twist",
        "acceleration": "geometry_msgs/Accel",
    },
    "simulation_interfaces.msg.Resource": {"uri": "string", "resource_string": "string"},
    "simulation_interfaces.msg.Spawnable": {
        **({"uri": "string"} if IS_JAZZY else {"entity_resource": "simulation_interfaces/Resource"}),
        "description": "string",
        "spawn_bounds": "simulation_interfaces/Bounds",
    },
    "simulation_interfaces.msg.Result": {"result": "uint8", "error_message": "string"},
    "simulation_interfaces.msg.SimulationState": {"state": "uint8"},
    "simulation_interfaces.msg.SimulatorFeatures": {
        "features": "sequence<uint16>",
        "spawn_formats": "sequence<string>",
        "custom_info": "string",
    },
    "simulation_interfaces.msg.TagsFilter": {"tags": "sequence<string>", "filter_mode": "uint8"},
}
SERVICES = {
    "SetSimulationState": (
        {"state": "simulation_interfaces/SimulationState"},
        {"result": "simulation_interfaces/Result"},
    ),
    "GetSimulationState": (
        {},
        {"state": "simulation_interfaces/SimulationState", "result": "simulation_interfaces/Result"},
    ),
    "ResetSimulation": ({"scope": "uint8"}, {"result": "simulation_interfaces/Result"}),
    "StepSimulation": ({"steps": "uint64"}, {"result": "simulation_interfaces/Result"}),
    "GetSimulatorFeatures": ({}, {"features": "simulation_interfaces/SimulatorFeatures"}),
    "GetEntityState": (
        {"entity": "string"},
        {"result": "simulation_interfaces/Result", "state": "simulation_interfaces/EntityState"},
    ),
    "SetEntityState": (
        {
            "entity": "string",
            "state": "simulation_interfaces/EntityState",
            **FLAGS,
        },
        {"result": "simulation_interfaces/Result"},
    ),
    "SpawnEntity": (
        {
            "name": "string",
            "allow_renaming": "boolean",
            **(
                {"uri": "string", "resource_string": "string"}
                if IS_JAZZY
                else {"entity_resource": "simulation_interfaces/Resource"}
            ),
            "entity_namespace": "string",
            "initial_pose": "geometry_msgs/PoseStamped",
        },
        {"result": "simulation_interfaces/Result", "entity_name": "string"},
    ),
    "DeleteEntity": ({"entity": "string"}, {"result": "simulation_interfaces/Result"}),
    "GetSpawnables": (
        {"sources": "sequence<string>"},
        {"result": "simulation_interfaces/Result", "spawnables": "sequence<simulation_interfaces/Spawnable>"},
    ),
    "GetEntities": (
        {"filters": "simulation_interfaces/EntityFilters"},
        {"result": "simulation_interfaces/Result", "entities": "sequence<string>"},
    ),
}


def fields(message_class) -> dict[str, str]:
    """Own fields; structures without members carry a filler of rosidl's."""
    found = message_class.get_fields_and_field_types()
    return {name: kind for name, kind in found.items() if name != "structure_needs_at_least_one_member"}


@pytest.mark.parametrize("name", FIELDS)
def test_message_fields(name):
    package, _, message = name.split(".")
    module = __import__(f"{package}.msg", fromlist=[message])
    found = fields(getattr(module, message))
    assert found == FIELDS[name]
    assert list(found) == list(FIELDS[name])  # the order is part of the wire format


@pytest.mark.parametrize("name", SERVICES)
def test_service_fields(name):
    import simulation_interfaces.srv

    service = getattr(simulation_interfaces.srv, name)
    request, response = SERVICES[name]
    assert list(fields(service.Request).items()) == list(request.items())
    assert list(fields(service.Response).items()) == list(response.items())


def test_constants_and_defaults():
    from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
    from simulation_interfaces.srv import (
        ResetSimulation,
        SetEntityState,
        SetSimulationState,
        SpawnEntity,
        StepSimulation,
    )

    assert (Result.RESULT_FEATURE_UNSUPPORTED, Result.RESULT_OK, Result.RESULT_OPERATION_FAILED) == (0, 1, 4)
    assert (SimulationState.STATE_STOPPED, SimulationState.STATE_PAUSED, SimulationState.STATE_LOADING_WORLD) == (
        0,
        2,
        5,
    )
    assert (SimulatorFeatures.STEP_SIMULATION_SINGLE, SimulatorFeatures.SPAWNING_ENTITIES) == (31, 50)
    assert (ResetSimulation.Request.SCOPE_SPAWNED, ResetSimulation.Request.SCOPE_ALL) == (4, 255)
    assert (SetSimulationState.Response.INCORRECT_TRANSITION, SetEntityState.Response.INVALID_POSE) == (103, 101)
    assert StepSimulation.Request().steps == 1
    assert (SpawnEntity.Response.NAME_NOT_UNIQUE, SpawnEntity.Response.INVALID_POSE) == (101, 109)


def test_they_survive_serialisation():
    from geometry_msgs.msg import TransformStamped
    from rclpy.serialization import deserialize_message, serialize_message
    from simulation_interfaces.msg import EntityState
    from tf2_msgs.msg import TFMessage

    transform = TransformStamped()
    transform.header.frame_id, transform.child_frame_id, transform.transform.rotation.w = "world", "base_link", 0.5
    message = TFMessage(transforms=[transform])
    assert deserialize_message(serialize_message(message), TFMessage) == message
    state = EntityState()
    state.twist.linear.x = 2.0
    assert deserialize_message(serialize_message(state), EntityState) == state


def test_a_ros_workspace_does_not_pick_them_up():
    assert (ROOT / "interfaces/COLCON_IGNORE").exists()
    assert (ROOT / "interfaces/AMENT_IGNORE").exists()
