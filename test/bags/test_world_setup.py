# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the setup of a scene carries: its ground and gravity, and the images that its entities name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hand_made_run import PARAMETERS

from mbsim_ros import ModelBuilder, Simulation, load_world
from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.physics.simulation_setup import setup_of
from mbsim_ros.sim.scenes.entity_spec import specs_of

ROOT = Path(__file__).resolve().parents[2]
BOX = ModelBuilder("box").link("box", mass=1.0, box=(0.2, 0.2, 0.2), collision=True).build("floating")


def test_ground_gravity_and_images_are_carried(tmp_path):
    """A scene is made again where neither its world file nor the images that it and its sidecars name are."""
    (tmp_path / "hills.png").write_bytes((ROOT / "config" / "hills.png").read_bytes())
    hills = "terrain: {type: heightmap, image: hills.png, size: [8, 6], height: 0.3, smoothing: 0.1}"
    (tmp_path / "box.mbsim.yaml").write_text(f"base: floating\n{hills}\n")
    (tmp_path / "box.urdf").write_text(to_urdf(BOX.description))
    values = {"gravity": "[0, 0.1, -3.7]", "entities": "{box: {robot: box.urdf, xyz: [0.4, 0.2, 1.0]}}"}
    plane = {"terrain": "{type: incline, angle: 0.1, direction: 1e-5}"}
    for k, terrain in enumerate(({}, {"terrain": hills.partition(": ")[2]}, plane)):
        file = tmp_path / f"{k}.world.yaml"
        file.write_text("".join(f"{key}: {value}\n" for key, value in {**values, **terrain}.items()))
        sim = Simulation(load_world(file))
        setup = setup_of(sim, "<robot/>", {**PARAMETERS, "world": str(file)}, specs_of(sim.entities))
        text = json.dumps({**setup, "robot_description": to_urdf(sim.model.description)})
        found = SimulationSetup.from_json(text)
        for name in (file.name, "hills.png", "box.mbsim.yaml", "box.urdf"):  # all that it was made from is gone
            (tmp_path / name).rename(tmp_path / f"{name}.away")
        again = found.simulation()
        assert again.identity == sim.identity and again.integrator.gravity.tolist() == [0.0, 0.1, -3.7]
        ground = found.model_and_scene()[1].ground
        assert str(ground) == str(sim.scene.ground) and (ground.grid == sim.scene.ground.grid).all()
        for each in (sim, again):
            each.advance(50)
        assert (again.q == sim.q).all()
        for name in (file.name, "hills.png", "box.mbsim.yaml", "box.urdf"):
            (tmp_path / f"{name}.away").rename(tmp_path / name)
    for wrong in ({}, {"terrain": "flat", "gravity": None}, {"terrain": "", "gravity": [1]}, {"terrain": 3}):
        with pytest.raises(ValueError, match="not the surroundings of a world"):
            SimulationSetup.from_json(json.dumps({**json.loads(text), "world": wrong})).simulation()
