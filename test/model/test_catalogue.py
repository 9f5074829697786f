# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots by name, those that are ready to use, and what their root is."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.cli.main import main
from mbsim_ros.model import catalogue
from mbsim_ros.model.assembly.base_choice import by_rule
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.simulation import Simulation

READY = ("anymal", "g1", "go2", "hyq", "icub", "panda", "solo12", "talos", "ur5")

installed = pytest.mark.skipif(catalogue.robots_folder() is None, reason="example-robot-data is not installed")


@installed
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READY)
def test_a_ready_robot_stands_still_for_ten_seconds(name):
    """Held by its gains where it starts: it gives way by less than a centimetre, and then moves no more."""
    sim = Simulation(name)
    start = sim.q
    assert sim.model.is_floating is (name not in ("panda", "ur5"))
    sim.drive(position={joint: start[sim.model.joint(joint).iq] for joint in sim.tau_names})
    links = [sim.model.description.root.name, *sim.model.sidecar.feet]
    links += [] if sim.model.is_floating else [sim.model.link_names[-1]]
    places = [sim.link_pose(link)[:3, 3] for link in links]
    sim.run(10.0)
    moved = [np.linalg.norm(sim.link_pose(link)[:3, 3] - place) for link, place in zip(links, places, strict=True)]
    assert max(moved) < 0.01, dict(zip(links, moved, strict=True))
    assert np.abs(sim.v).max() < 1e-3


@installed
def test_names_are_for_every_verb(capsys):
    assert main(["robots"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines() if line} >= set(READY)
    assert main(["check", "ur5", "--brief"]) == 0
    assert "ur5.mbsim.yaml" in capsys.readouterr().out
    assert main(["launch", "go2", "--show-args"]) == 0
    assert "simulate.launch.xml" in capsys.readouterr().out


def test_a_name_that_nobody_has_is_refused(monkeypatch, capsys):
    with pytest.raises(UrdfError, match="neither a file nor the name of a robot.*did you mean 'solo12'"):
        load_urdf("solo13")
    assert main(["launch", "solo13"]) == 2
    assert "nor a robot of that name (see `mbsim robots`)" in capsys.readouterr().err
    for path in ("../go2", "go2/../../etc", "go2.urdf", "GO2"):  # no names, so paths
        assert not catalogue.is_name(path)
    monkeypatch.setattr(catalogue, "robots_folder", lambda: None)
    with pytest.raises(
        UrdfError, match="go2: file: this robot is in example-robot-data.*-m pip install example-robot-data"
    ):
        load_urdf("go2")
    assert main(["launch", "go2"]) == 2


def test_a_file_goes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "go2").write_text('<robot name="mine"><link name="world"/></robot>')
    assert load_urdf("go2").name == "mine"


def arm(joints=5, root="base", axis=(0, 0, 1), root_mass=1.0):
    builder = ModelBuilder("arm").link(root, mass=root_mass, box=(0.1, 0.1, 0.1))
    for k in range(joints):
        builder.link(f"link_{k}", mass=1.0, box=(0.1, 0.1, 0.3))
        builder.joint(f"joint_{k}", "continuous", f"link_{k - 1}" if k else root, f"link_{k}", axis=axis)
    return builder


@pytest.mark.parametrize(
    "builder, is_floating, why",
    [
        (arm(), False, "it is an arm: 5 joints in a row on 'base'"),
        (arm(root="world"), False, "its root link is called world"),
        (arm(joints=3), True, "neither"),
        (arm(axis=(0, 1, 0)), True, "neither"),
        (arm(root_mass=6.0), True, "neither"),
        (arm().link("leg", mass=1.0, box=(0.1, 0.1, 0.1)).joint("hip", "continuous", "base", "leg"), True, "neither"),
    ],
    ids=["arm", "world", "short", "lying", "heavy root", "two limbs"],
)
def test_what_is_fixed_without_being_told(builder, is_floating, why):
    """A wrong guess is worse than none: all four signs of an arm must be there."""
    model = builder.build()
    assert model.is_floating is is_floating and why in model.base_choice.why
    for base in ("floating", "fixed"):  # who reads the text takes the same
        text = to_urdf(builder.build(base).description, for_ros=True)
        assert load_urdf(text).is_floating is (base == "floating")
        assert ("<mbsim" in text) is (by_rule(model.description).is_floating != (base == "floating"))


def test_the_sidecar_says_what_the_root_is(tmp_path, capsys):
    (tmp_path / "arm.urdf").write_text(arm().urdf())
    main(["check", "--brief", str(tmp_path / "arm.urdf")])
    assert "its base is fixed because it is an arm: 5 joints in a row on 'base'" in capsys.readouterr().out
    (tmp_path / "arm.mbsim.yaml").write_text("base: floating")
    assert load_urdf(tmp_path / "arm.urdf").is_floating
    assert not load_urdf(tmp_path / "arm.urdf", "fixed").is_floating
    with pytest.raises(UrdfError, match="neither floating nor fixed, base 'fixd'"):
        load_urdf('<robot name="r"><mbsim base="fixd"/><link name="a"/></robot>')
