# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The services of simulation_interfaces, called over DDS with the fields that the installed version has.

Jazzy's 1.5 and Kilted's 1.6 have the same fields, 2.x has more in SetEntityState: CI runs this with both.
"""

from __future__ import annotations

import pytest
from physics_process import ROOT, Client, start_node, stop

pytest.importorskip("simulation_interfaces")

from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import Bounds, EntityCategory, Result, SimulationState
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

OK, UNSUPPORTED, NOT_FOUND, FAILED = 1, 0, 2, 4
STOPPED, PLAYING, PAUSED = 0, 1, 2
HAS_FLAGS = hasattr(SetEntityState.Request(), "set_pose")  # 2.x


class Caller(Client):
    """Calls each service by what it needs."""

    def set_state(self, state: int) -> int:
        request = SetSimulationState.Request(state=SimulationState(state=state))
        return self.call("set_simulation_state", SetSimulationState, request).result.result

    def state(self) -> int:
        return self.call("get_simulation_state", GetSimulationState).state.state

    def entities(self, expression: str = "", **filters) -> tuple[int, list[str]]:
        request = GetEntities.Request()
        request.filters.filter = expression
        for name, value in filters.items():
            setattr(request.filters, name, value)
        answer = self.call("get_entities", GetEntities, request)
        return answer.result.result, list(answer.entities)

    def entity(self):
        return self.call("get_entity_state", GetEntityState, GetEntityState.Request(entity="walker")).state

    def place(self, entity: str = "walker", flags: tuple[str, ...] = ("set_pose", "set_twist"), z=0.6, w=1.0) -> Result:
        request = SetEntityState.Request(entity=entity)
        pose, twist = request.state.pose, request.state.twist
        pose.position.x, pose.position.z, pose.orientation.w = 2.0, z, w
        twist.linear.y = 0.25
        if HAS_FLAGS:
            for flag in flags:
                setattr(request, flag, True)
        return self.call("set_entity_state", SetEntityState, request).result


@pytest.fixture
def caller():
    """Beside a walker that runs as fast as it can, with nobody to answer it."""
    robot = f"robot_file:={ROOT}/urdf/walker.urdf.xacro"
    physics = start_node("physics", robot, "sync:=async", "start:=run", "real_time_factor:=0.0")
    client = Caller()
    client.physics = physics
    yield client
    client.close()
    said = stop(physics)
    assert physics.returncode == 0, said
    assert "Traceback" not in said


def test_every_service(caller):
    caller.wait_for_state()
    features = caller.call("get_simulator_features", GetSimulatorFeatures).features
    assert {4, 8, 10, 11, 20, 22, 24, 25, 26, 31, 32} <= set(features.features)

    # States: what was set is what is read.
    assert caller.state() == PLAYING
    assert caller.set_state(PLAYING) == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert caller.set_state(STOPPED) == OK
    assert caller.state() == STOPPED
    assert caller.set_state(STOPPED) == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert caller.call("step_simulation", StepSimulation, StepSimulation.Request(steps=2)).result.result == OK
    assert caller.state() == PAUSED  # it is no longer where it stopped
    assert caller.set_state(STOPPED) == OK
    assert (caller.set_state(PAUSED), caller.state()) == (OK, PAUSED)
    assert caller.set_state(SimulationState.STATE_QUITTING) == UNSUPPORTED
    assert caller.call("reset_simulation", ResetSimulation).result.result == OK

    # Entities: by name, category, tags and place.
    here, there = Vector3(), Vector3(x=100.0)
    robot, human = EntityCategory(category=1), EntityCategory(category=2)
    for given, expected in (
        ({}, ["walker"]),
        ({"expression": "walk"}, ["walker"]),
        ({"expression": "^[[:alpha:]]{6}$"}, ["walker"]),
        ({"expression": "^walk$"}, []),
        ({"categories": [human, robot]}, ["walker"]),
        ({"categories": [human]}, []),
        ({"tags": _tags("red")}, []),
        ({"bounds": _sphere(here, 1.0)}, ["walker"]),
        ({"bounds": _sphere(there, 1.0)}, []),
        ({"bounds": _sphere(there, 1.0), "expression": "walk"}, []),
    ):
        assert caller.entities(**given) == (OK, expected), given
    assert caller.entities("walk(") == (FAILED, [])
    assert caller.entities("(.*)*" * 50 + "!") == (OK, [])  # at once: Python's re would never come back
    assert caller.entities(bounds=_sphere(here, float("nan"))) == (FAILED, [])
    assert caller.entities(bounds=Bounds(type=Bounds.TYPE_BOX, points=[here, there])) == (UNSUPPORTED, [])

    # Placing: 1.x sets pose and twist, 2.x what the flags say.
    before = caller.entity()
    assert caller.place().result == OK
    placed = caller.entity()
    assert (placed.pose.position.x, placed.pose.position.z) == (2.0, 0.6)
    assert placed.twist.linear.y == pytest.approx(0.25)
    assert before.pose.position.x != 2.0
    assert caller.place("nobody").result == NOT_FOUND
    refused = caller.place(w=0.5)
    assert refused.result == 101 and "unit quaternion" in refused.error_message
    assert caller.entity().pose == placed.pose
    if HAS_FLAGS:
        assert caller.place(flags=("set_twist",), z=9.0).result == OK
        assert caller.entity().pose.position.z == 0.6
        assert caller.place(flags=("set_acceleration",)).result == FAILED
    assert (caller.set_state(PLAYING), caller.state()) == (OK, PLAYING)


def _tags(*names):
    from simulation_interfaces.msg import TagsFilter

    return TagsFilter(tags=list(names))


def _sphere(centre: Vector3, radius: float) -> Bounds:
    return Bounds(type=Bounds.TYPE_SPHERE, points=[centre, Vector3(x=radius)])


def test_a_world_has_its_entities():
    """Several robots and bodies of a file: listed, looked at and placed by their names."""
    client = Caller("/world")
    file = ROOT / "examples" / "table.world.yaml"
    physics = start_node("physics", f"world:={file}", "start:=run", "real_time_factor:=0.5", namespace="/world")
    try:
        client.wait_for_state()
        assert client.entities() == (OK, ["table", "stairs", "block", "ball", "arm"])
        assert client.entities("^b") == (OK, ["block", "ball"])
        assert "arm/elbow" in client.states[-1].name
        assert client.place("table").result != OK  # it is fixed to the world
        assert client.place("nothing").result == NOT_FOUND
        assert client.place("ball", z=3.0).result == OK
        answer = client.call("get_entity_state", GetEntityState, GetEntityState.Request(entity="ball"))
        assert answer.state.pose.position.x == 2.0
        assert answer.state.pose.position.z > 1.5
    finally:
        said = stop(physics)
        client.close()
    assert "Traceback" not in said
