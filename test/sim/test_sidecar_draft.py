# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim sidecar`: what it writes loads again, and the robot stands on the feet that it found."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.cli.main import main
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.description import Sphere
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.sidecar_draft import draft_sidecar
from mbsim_ros.sim.simulation import Simulation

LEGS = {"a.b": (0.3, 0.2), "left 2": (-0.3, 0.2), "c": (-0.3, -0.2), "d": (0.3, -0.2)}


def quadruped(legs=LEGS):
    builder = ModelBuilder("beast").link("body", mass=8.0, box=(0.8, 0.6, 0.1), collision=True)
    builder.link("tail", mass=0.2, box=(0.3, 0.02, 0.02), collision=True)
    builder.joint("wag", "revolute", "body", "tail", axis=(0, 0, 1), lower=-1, upper=1, effort=2, velocity=5)
    for name, (x, y) in legs.items():
        builder.link(f"leg {name}", mass=0.5, box=(0.05, 0.05, 0.4), collision=True)
        builder.link(f"foot {name}", mass=0.05, sphere=0.03, collision=Sphere(0.03))
        builder.joint(f"hip {name}", "revolute", "body", f"leg {name}", xyz=(x, y, -0.3), axis=(0, 1, 0), lower=0.1,
                      upper=1, effort=60, velocity=9)  # fmt: skip
        builder.joint(f"sole {name}", "fixed", f"leg {name}", f"foot {name}", xyz=(0, 0, -0.25))
    return builder


def test_what_is_written_loads_and_stands(tmp_path, capsys):
    (tmp_path / "beast.urdf").write_text(quadruped().urdf())
    (tmp_path / "beast.srdf").write_text(
        '<robot name="beast"><group_state name="standing"><joint name="hip c" value="0.12"/><joint name="wag" value="9"/>'
        '<joint name="root" value="0 0 1 0 0 0 1"/><joint name="none" value="1"/></group_state></robot>'
    )
    out = tmp_path / "beast.mbsim.yaml"
    command = ["sidecar", str(tmp_path / "beast.urdf"), "-o", str(out)]
    assert main(command) == 0
    written = out.read_bytes()
    assert main(command) == 2 and out.read_bytes() == written  # somebody may have worked on it
    assert "is there already" in capsys.readouterr().err
    sim = Simulation(tmp_path / "beast.urdf")
    sidecar = sim.model.sidecar
    assert set(sidecar.feet) == {f"foot {name}" for name in LEGS} and sidecar.base == "floating"
    home = {"wag": 1.0, "hip a.b": 0.1, "hip left 2": 0.1, "hip c": 0.12, "hip d": 0.1}
    assert sidecar.initial_states["home"].joints == home
    assert len(sidecar.gains) == 5 and sum(contact.link in sidecar.feet for contact in sim.contacts()) == 4
    start = sim.centre_of_mass()
    sim.drive(position={joint: sim.q[sim.model.joint(joint).iq] for joint in sim.tau_names})
    sim.run(2.0)
    assert sim.centre_of_mass()[2] > start[2] - 0.02 and np.abs(sim.v).max() < 1e-3
    assert main(["sidecar", str(tmp_path / "gone.urdf")]) == 1


@pytest.mark.parametrize(
    "legs", [{}, {"one": (0.3, 0.2)}, {"l": (0.0, 0.2), "r": (0.0, -0.2)}], ids=["none", "one", "line"]
)
def test_what_cannot_stand_on_its_feet_touches_with_all_of_itself(legs):
    """Otherwise what falls would fall through the ground."""
    text = draft_sidecar(quadruped(legs).build("floating"))
    assert "\nfeet:" not in text and "# feet:" in text


def test_an_arm_has_no_ground(tmp_path):
    builder = ModelBuilder("arm").link("world").link("rod", mass=1.0, box=(0.1, 0.1, 0.5), collision=True)
    builder.joint("turn", "continuous", "world", "rod", axis=(0, 1, 0))
    (tmp_path / "arm.mbsim.yaml").write_text(draft_sidecar(builder.build()))
    (tmp_path / "arm.urdf").write_text(builder.urdf())
    sidecar = load_urdf(tmp_path / "arm.urdf").sidecar
    assert (sidecar.base, sidecar.feet, sidecar.contact, list(sidecar.gains)) == ("fixed", (), None, ["turn"])
