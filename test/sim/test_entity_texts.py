# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities in words and in texts: what a launch argument says, and what a recording keeps of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.coupling.of_entities import combined, is_combined, parts_of, with_part, without_entity
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.entities import Entities
from mbsim_ros.sim.scenes.entity_list import read_entry, world_from
from mbsim_ros.sim.scenes.entity_spec import EntitySpec, specs_of, world_of
from mbsim_ros.sim.surroundings.link_wrenches import LinkWrenches


def test_entries_of_a_list():
    assert read_entry("left=arm") == ("left", "arm", None)
    name, robot, pose = read_entry("right=/a@b/arm.urdf@0,-0.5,1e-1")
    assert (name, robot, pose.xyz, pose.rpy) == ("right", "/a@b/arm.urdf", (0.0, -0.5, 0.1), (0.0, 0.0, 0.0))
    assert read_entry("x=arm@1,2,3,0,0,1.5")[2].rpy == (0.0, 0.0, 1.5)
    assert read_entry("x=/home/me@work/arm.urdf")[1:] == ("/home/me@work/arm.urdf", None)


@pytest.mark.parametrize("entry", ["arm", "=arm", "a=", "a=arm@1,2", "a=arm@1,2,3,4", "a=arm@1,2,nan"])
def test_entries_that_are_refused(entry):
    with pytest.raises(ValueError, match="entities: "):
        read_entry(entry)


def test_a_list_and_a_world_are_one_scene():
    assert world_from({"world": "", "entities": [""]}) is None
    world = world_from({"world": "examples/table.world.yaml", "entities": ["second=arm@0,-1.5,0"]})
    assert list(world.models) == ["table", "stairs", "block", "ball", "arm", "second"]
    assert world.poses["second"].xyz == (0.0, -1.5, 0.0)
    with pytest.raises(ValueError, match="twice"):
        world_from({"world": "examples/table.world.yaml", "entities": ["arm=arm"]})
    with pytest.raises(ValueError, match="without '/'"):
        world_from({"entities": ["a/b=arm"]})


def test_a_scene_made_from_its_texts_is_the_same_in_every_bit():
    world = world_from({"world": "examples/table.world.yaml", "entities": ["box=box@-2,0,1", "walker=walker@0,5,1"]})
    texts = json.dumps([spec.to_json() for spec in specs_of(Entities(world))])
    again = world_of(map(EntitySpec.from_json, json.loads(texts)), world)
    one, two = Simulation(world), Simulation(again)
    assert one.identity == two.identity
    for sim in (one, two):
        sim.advance(50)
    assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v)


def test_what_is_no_text_of_an_entity():
    good = EntitySpec.of("box", ModelBuilder("box").link("box", mass=1.0, box=(1, 1, 1)).build("floating"))
    assert EntitySpec.from_json(good.to_json()) == good
    for change in ({"name": 3}, {"meshes": None}, {"xyz": [1, 2]}, {"urdf": None}):
        with pytest.raises(ValueError, match="not an entity"):
            EntitySpec.from_json({**good.to_json(), **change})
    with pytest.raises(ValueError, match="not an entity"):
        EntitySpec.from_json({})


def test_couplings_of_several_entities():
    known = {"a/normal": 0, "a/turn": 0, "b/normal": 0}
    both = with_part("a/normal", "b", "b/normal", known)
    assert both == "a/normal+b/normal"
    assert is_combined(both, known) and not is_combined("a/normal", known) and not is_combined("a/normal+x", known)
    assert with_part(both, "a", "a/turn", known) == "a/turn+b/normal"
    assert with_part("identity", "a", "a/turn", known) == "a/turn"
    assert parts_of(both, known) == {"a": "a/normal", "b": "b/normal"}
    assert (without_entity(both, "a", known), without_entity("a/turn", "a", known)) == ("b/normal", "")


def test_motors_of_one_let_the_joints_of_another_hold():
    sim = Simulation({"a": "walker", "b": "walker"})
    assert combined("a/normal+b/turn", sim.model.sidecar.couplings).name == "a/normal+b/turn"
    intake = CommandInterface(sim)
    intake.hold()
    assert intake.couple("a/normal+b/turn") == ""
    everybody = intake.held_names
    intake.motors.read(["b/waist"], [0.1], [], []).apply()
    assert intake.held_names == {name for name in everybody if name.startswith("a/")}
    intake.hold("b")
    assert intake.held_names == everybody
    intake.zero("a")
    assert intake.held_names == {name for name in everybody if name.startswith("b/")}


def test_links_of_entities_feel_each_other():
    """Of two boxes on each other the ground carries both, and the upper one presses on the lower one."""
    box = ModelBuilder("box").link("box", mass=1.0, box=(0.2, 0.2, 0.2), collision=True).build("floating")
    sim = Simulation({"lower": box, "upper": box})
    sim.reset({"lower/base": [0, 0, 0.1, 0, 0, 0, 1], "upper/base": [0.02, 0.01, 0.3, 0, 0, 0, 1]})
    sim.run(1.0)
    assert sim.link_forces.links == ("lower/box", "upper/box")
    assert np.allclose(sim.link_forces.now()[:, :3], [[0, 0, 9.81]] * 2, atol=1e-3), "2 m g − m g, and m g"
    assert np.allclose(LinkWrenches(sim).at(sim.q)[:, 3:], 0.0, atol=1e-3)
