# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The capability table: schemes do what their rows say, refuse the rest by it, and a new folder is a new scheme."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scheme_robots import body, covered_robot, moving

import mbsim_ros.integrators
from mbsim_ros import Simulation
from mbsim_ros.cli.main import main
from mbsim_ros.integrators import registry
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.integrator import Integrator
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
capability_table = importlib.import_module("capability_table")

PROTOCOL = [name for name in vars(Integrator) if not name.startswith("_")] + list(Integrator.__annotations__)


def on_the_floor(**options):
    box = ModelBuilder("box").link("box", mass=2.0, box=(0.2, 0.3, 0.1), collision=True).build("floating")
    return Simulation(box, terrain="flat", **options)


def pushed(**options):
    sim = Simulation(body(), **options)
    sim.push("box", force=(1.0, 0.0, 0.0))


def two_links(joints=""):
    """Two hinges; `joints` is put into the second."""
    inertial = '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("upper", "lower"))
    return load_urdf(
        f'<robot name="two"><link name="world"/>{links}'
        '<joint name="first" type="continuous"><parent link="world"/><child link="upper"/><axis xyz="0 1 0"/></joint>'
        '<joint name="second" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>'
        f'<origin xyz="0 0 -0.5"/>{joints}</joint></robot>'
    )


def stepped(model, **options):
    Simulation(model, **options).run(0.01)


ASKS = {
    "contact": on_the_floor,
    "drives": pushed,
    "damping": lambda **options: stepped(two_links('<dynamics damping="0.1"/>'), **options),
    "mimic": lambda **options: stepped(two_links('<mimic joint="first" multiplier="2"/>'), **options),
    "couplings": lambda **options: stepped(
        two_links(), coupling={"motors": {"belt": {"first": 1.0, "second": -2.0}}}, **options
    ),
}


@pytest.mark.parametrize("row", registry.rows(), ids=lambda row: row.title)
def test_every_scheme_has_all_of_the_protocol_and_starts_again_bit_for_bit(row):
    sim = Simulation(covered_robot(row), integrator=row.name, order=row.order)
    assert [
        name for name in PROTOCOL if not hasattr(type(sim.integrator), name) and name not in vars(sim.integrator)
    ] == []
    moving(sim)
    sim.advance(20)
    before = sim.snapshot()
    sim.advance(20)
    after = sim.q, sim.v, sim.ledger()
    sim.restore(before)
    for _ in range(20):
        sim.step()
    assert np.array_equal(sim.q, after[0]) and np.array_equal(sim.v, after[1]) and sim.ledger() == after[2]


@pytest.mark.parametrize("feature", ASKS)
@pytest.mark.parametrize("row", registry.rows(), ids=lambda row: row.title)
def test_what_a_row_does_not_claim_is_refused_and_what_it_claims_works(row, feature):
    if getattr(row, feature):
        ASKS[feature](integrator=row.name, order=row.order)
    else:
        with pytest.raises(UnsupportedModel):
            ASKS[feature](integrator=row.name, order=row.order)


def test_a_refusal_names_the_first_scheme_that_has_all_of_it():
    with pytest.raises(UnsupportedModel, match="'rk4' does not go with contact of 8 points .*: use 'lie_variational'$"):
        on_the_floor(integrator="rk4")
    with pytest.raises(
        UnsupportedModel, match="order=4 does not go with contact .*: use 'lie_variational' of order 2$"
    ):
        on_the_floor(order=4)


def test_check_says_which_can_run_a_robot_and_why_others_cannot(capsys):
    main(["check", "--brief", str(ROOT / "urdf" / "walker.urdf.xacro")])
    said = capsys.readouterr().out
    assert "can be run with lie_variational, quaternion_variational\n" in said
    assert re.search(
        r"not with lie_variational \(order=4\), rk4, lie_euler, gauss \(.*: contact of \d+ points",
        " ".join(said.split()),
    )
    assert re.search(
        r"not with energy_stable, .*: robots other than planar chains: its base floats", " ".join(said.split())
    )


def test_the_page_has_the_table_of_now():
    for name in capability_table.PAGES:
        page = (capability_table.DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert capability_table.filled(page) == page, "run docs/capability_table.py"
    page = (capability_table.DOCS / "integrators.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in registry.names())


def test_a_folder_is_a_scheme(tmp_path, monkeypatch, capsys):
    """The files of docs/own_scheme.md, as a newcomer would put them beside the others."""
    folder = tmp_path / "euler"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Explicit Euler."""\n')
    blocks = re.findall(
        r"```python\n# mbsim_ros/integrators/euler/(\S+)\n(.*?)```", (ROOT / "docs/own_scheme.md").read_text(), re.S
    )
    assert [name for name, _ in blocks] == ["integrator.py", "capabilities.py"]
    for name, text in blocks:
        (folder / name).write_text(text)
    monkeypatch.setattr(mbsim_ros.integrators, "__path__", [*mbsim_ros.integrators.__path__, str(tmp_path)])

    assert "explicit_euler" in registry.names()
    assert "| `explicit_euler` | never, but to see why |" in capability_table.table()
    pendulum = str(ROOT / "urdf" / "double_pendulum.urdf")
    main(["check", "--brief", pendulum])
    assert "explicit_euler" in capsys.readouterr().out
    error = {}
    for name in ("explicit_euler", "rk4"):
        sim = Simulation(pendulum, dt=1e-3, integrator=name, stops=False)
        sim.reset({"shoulder": 0.5})
        begin = sim.energy().total
        sim.run(1.0)
        error[name] = abs(sim.energy().total - begin)
    assert error["rk4"] < 1e-6 < error["explicit_euler"] < 1.0
    with pytest.raises(UnsupportedModel, match="'explicit_euler' does not go with contact"):
        on_the_floor(integrator="explicit_euler")
