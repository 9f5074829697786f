# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities come and go while physics runs, by the services of simulation_interfaces; the others go on."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import rclpy
from physics_process import LATCHED, Client, stamp, start_node, stop

pytest.importorskip("simulation_interfaces")

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from simulation_interfaces import msg, srv
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntityState,
    GetSimulatorFeatures,
    GetSpawnables,
    SpawnEntity,
)

from mbsim_ros.nodes.checks.soak_spawn import soak_spawn

pytestmark = pytest.mark.ros

OK, UNSUPPORTED, NOT_FOUND, FAILED = (
    Result.RESULT_OK, Result.RESULT_FEATURE_UNSUPPORTED, Result.RESULT_NOT_FOUND, Result.RESULT_OPERATION_FAILED,
)  # fmt: skip
CODES = SpawnEntity.Response
ARM = "entities:=['arm=arm']"
BALL = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
CYCLES = 50


class Spawner(Client):
    """Calls the services with the fields that the installed version has."""

    def spawn(self, name: str = "", uri: str = "", text: str = "", xyz=None, frame="", **fields: Any) -> Any:
        request = SpawnEntity.Request(name=name)
        resource = getattr(request, "entity_resource", request)
        resource.uri, resource.resource_string = uri, text
        if xyz is not None:
            p = request.initial_pose.pose.position
            p.x, p.y, p.z = xyz
        request.initial_pose.header.frame_id = frame
        for field, value in fields.items():
            setattr(request, field, value)
        return self.call("spawn_entity", SpawnEntity, request)

    def spin_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.spin_until(lambda: time.monotonic() >= end, "time to pass")

    def delete(self, name: str) -> Any:
        return self.call("delete_entity", DeleteEntity, DeleteEntity.Request(entity=name)).result

    def entities(self) -> list[str]:
        return list(self.call("get_entities", GetEntities).entities)

    def position(self, name: str) -> list[float]:
        answer = self.call("get_entity_state", GetEntityState, GetEntityState.Request(entity=name))
        p = answer.state.pose.position
        return [p.x, p.y, p.z]


@pytest.fixture
def client():
    made = Spawner()
    yield made
    made.close()


def test_an_entity_comes_is_driven_and_leaves(client):
    physics = start_node("physics", ARM, "sync:=async", "start:=run", "real_time_factor:=1.0", "command_timeout:=0.0")
    try:
        client.wait_for_state()
        features = client.call("get_simulator_features", GetSimulatorFeatures).features
        assert {0, 1, 9, 14} <= set(features.features) and "URDF" in features.spawn_formats
        assert "arm" in [
            getattr(each, "entity_resource", each).uri
            for each in client.call("get_spawnables", GetSpawnables).spawnables
        ]

        # A second arm, by its name in the catalogue, has its own topics and is driven by them.
        answer = client.spawn("second", "arm", xyz=(0.0, 2.0, 0.0))
        assert (answer.result.result, answer.entity_name) == (OK, "second"), answer.result
        states: list[JointState] = []
        client.create_subscription(JointState, "second/joint_states", states.append, LATCHED)
        commands = client.create_publisher(JointState, "second/joint_commands", 10)
        client.spin_until(lambda: states, "its states")
        first = states[-1]

        def has_come() -> bool:
            commands.publish(JointState(name=["elbow"], position=[first.position[2] + 0.2]))
            return abs(states[-1].position[2] - first.position[2] - 0.2) < 0.02

        client.spin_until(has_come, "its elbow to move")
        assert "second/elbow" in client.states[-1].name
        assert np.allclose(client.states[-1].position[0], client.states[0].position[0], atol=0.02), (
            "the first one holds"
        )

        # A body from its text, where it is put; by a frame of another entity; and on the ground where nothing is said.
        assert client.spawn(text=BALL, xyz=(5.0, 0.0, 3.0), frame="world").entity_name == "ball"
        assert client.position("ball")[0] == 5.0
        assert client.spawn("above", text=BALL, xyz=(0.0, 0.0, 0.5), frame="ball/ball").result.result == OK
        assert client.position("above")[0] == pytest.approx(5.0)
        assert client.spawn("still", text=BALL, entity_namespace="odd/place").result.result == OK
        assert client.position("still")[2] == pytest.approx(0.1, abs=2e-3)
        assert client.entities() == ["arm", "second", "ball", "above", "still"]

        # What leaves takes its topics with it.
        assert client.delete("second").result == OK
        client.spin_until(lambda: "second/elbow" not in client.states[-1].name, "states without it")
        client.spin_until(lambda: not client.count_publishers("second/joint_states"), "its topics to go")
        assert client.count_subscribers("second/joint_commands") == 0
        assert client.delete("second").result == NOT_FOUND
        for name in ("ball", "above", "still"):
            assert client.delete(name).result == OK
        assert client.delete("arm").result == FAILED, "it is the last"
        assert client.entities() == ["arm"]
        before = stamp(client.states[-1])
        client.spin_until(lambda: stamp(client.states[-1]) > before + 100_000_000, "time to go on")
    finally:
        said = stop(physics)
    assert physics.returncode == 0, said
    assert "Traceback" not in said


def test_what_cannot_be_is_refused_and_nothing_changes(client, tmp_path):
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='x'><link name='a'/><link name='a'/></robot>")
    physics = start_node("physics", ARM, "sync:=async", "start:=run")
    turned = SpawnEntity.Request().initial_pose
    turned.pose.orientation.w = 0.5
    try:
        client.wait_for_state()
        for expected, given in (
            (CODES.NO_RESOURCE, {"name": "a"}),
            (CODES.NAME_NOT_UNIQUE, {"name": "arm", "uri": "arm"}),
            (CODES.NAME_NOT_UNIQUE, {"uri": "arm"}),
            (CODES.NAME_INVALID, {"name": "a/b", "uri": "arm"}),
            (CODES.NAME_INVALID, {"name": "world", "uri": "arm"}),
            (CODES.UNSUPPORTED_FORMAT, {"name": "a", "text": "<sdf version='1.7'/>"}),
            (CODES.UNSUPPORTED_FORMAT, {"name": "a", "uri": "/tmp/a.sdf"}),
            (CODES.RESOURCE_PARSE_ERROR, {"name": "a", "text": "nothing"}),
            (CODES.RESOURCE_PARSE_ERROR, {"name": "a", "text": "<robot name='a'/>"}),
            (CODES.RESOURCE_PARSE_ERROR, {"name": "a", "uri": str(broken)}),
            (CODES.NAMESPACE_INVALID, {"name": "a", "uri": "arm", "entity_namespace": "no no"}),
            (CODES.NAMESPACE_INVALID, {"name": "a", "uri": "arm", "entity_namespace": "/arm"}),
            (CODES.INVALID_POSE, {"name": "a", "uri": "arm", "initial_pose": turned}),
            (CODES.INVALID_POSE, {"name": "a", "uri": "arm", "frame": "nowhere", "xyz": (1.0, 0.0, 0.0)}),
            (NOT_FOUND, {"name": "a", "uri": "no_such_robot"}),
            (NOT_FOUND, {"name": "a", "uri": f"file://{tmp_path}/none.urdf"}),
            (NOT_FOUND, {"name": "a", "uri": "package://no_such_package/a.urdf"}),
        ):
            answer = client.spawn(**given)
            assert answer.result.result == expected, (given, answer.result)
            assert answer.result.error_message and not answer.entity_name
        assert client.spawn("arm", "arm", allow_renaming=True, xyz=(0.0, 2.0, 0.0)).entity_name == "arm_2"
        assert client.entities() == ["arm", "arm_2"]
    finally:
        said = stop(physics)
    assert physics.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.skipif(not hasattr(srv, "SpawnEntities"), reason="simulation_interfaces before 1.4")
def test_several_come_at_once(client):
    """Each by itself: one that is refused keeps none of the others away."""

    def asked(*entities: tuple[str, float]) -> Any:
        request = srv.SpawnEntities.Request()
        for name, y in entities:
            one = msg.SpawnEntity(name=name)
            one.entity_resource.uri, one.initial_pose.pose.position.y = "box", y
            request.spawn_requests.append(one)
        return client.call("spawn_entities", srv.SpawnEntities, request)

    physics = start_node("physics", ARM, "sync:=async", "start:=run")
    try:
        client.wait_for_state()
        answer = asked(("left", 2.0), ("arm", 4.0), ("right", 6.0))
        assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
        assert answer.result.error_message == "1 of 3 were refused: see results"
        found = [(each.entity_name, each.result.result) for each in answer.results]
        assert found == [("left", OK), ("", CODES.NAME_NOT_UNIQUE), ("right", OK)]
        assert client.entities() == ["arm", "left", "right"] and client.position("right")[1] == pytest.approx(
            6.0, abs=0.9
        )  # it has been thrown
        assert 50 in client.call("get_simulator_features", GetSimulatorFeatures).features.features
        assert asked(("more", 8.0)).result.result == OK and asked().result.result == OK
    finally:
        stop(physics)


def test_a_robot_that_is_no_scene_says_so(client):
    physics = start_node("physics", "robot_file:=arm", "sync:=async", "start:=run")
    try:
        client.wait_for_state()
        answer = client.spawn("a", "arm")
        assert answer.result.result == UNSUPPORTED and "entities:=" in answer.result.error_message
        assert client.delete("arm").result == UNSUPPORTED
    finally:
        stop(physics)


def test_who_drives_a_guest_is_waited_for(client):
    """In lockstep: the participants change while it runs, as entities do."""
    physics = start_node(
        "physics", ARM, "sync:=lockstep", "lockstep_participants:=['client']", "real_time_factor:=0.0",
        "on_missing:=wait",
    )  # fmt: skip
    hold = None
    try:
        client.lockstep(10, effort=np.zeros(6))
        assert client.spawn("second", "arm", xyz=(0.0, 2.0, 0.0)).result.result == OK
        names = ParameterValue(
            type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=["client", "second/joint_hold"]
        )
        request = SetParameters.Request(parameters=[Parameter(name="lockstep_participants", value=names)])
        assert client.call("physics/set_parameters", SetParameters, request).results[0].successful
        before = stamp(client.wait_for_state())
        client.answer(client.states[-1], position=client.states[-1].position)
        client.spin_for(1.0)
        assert stamp(client.states[-1]) <= before + 2_000_000, "it waits for who drives the guest"
        hold = start_node("joint_hold", namespace="/second")
        answered = client.lockstep(50, position=client.states[-1].position)
        assert stamp(answered[-1]) >= before + 49 * 2_000_000
        assert len(answered[-1].name) == 12
    finally:
        said = stop(physics)
        if hold is not None:
            stop(hold)
    assert physics.returncode == 0, said
    assert "Traceback" not in said


@pytest.fixture
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


def test_memory_is_flat_over_many(ros):
    """As often as a suite has time for; `mbsim soak --spawn 1000` does it 1,000 times."""
    found = soak_spawn(CYCLES)
    assert (found.cycles, found.refused, found.ended_well) == (CYCLES, [], True), found.written
    assert found.growth < 10.0, found.memory
    assert found.compared == 2 * (2 * CYCLES + 1), "every state of both that stay"
    assert found.furthest < 1e-6


def test_the_others_do_not_notice(ros):
    found = soak_spawn(6)
    assert found.different == 0, found.furthest
