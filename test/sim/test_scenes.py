# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Several robots and bodies in one simulation: they stand on each other, keep momentum, and the books close."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, SidecarError, Simulation, load_world
from mbsim_ros.dynamics.momentum import momentum
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.model.description import Box
from mbsim_ros.sim.surroundings.friction import change_friction

ROOT = Path(__file__).resolve().parents[2]
G = 9.81


def body(name, mass=1.0, **solid):
    return ModelBuilder(name).link(name, mass=mass, collision=True, **solid).build("floating")


BOX = body("box", box=(0.2, 0.2, 0.2))


def placed(x, y, z, turn=(0.0, 0.0, 0.0, 1.0)):
    return [x, y, z, *(np.array(turn) / np.linalg.norm(turn))]


def forces_on(sim, entity):
    """Sum of the forces of all contact on an entity."""
    total = np.zeros(3)
    for report in sim.contacts():
        if report.link.startswith(f"{entity}/"):
            total += report.force
        if report.other.startswith(f"{entity}/"):
            total -= report.force
    return total


def test_names_and_numbers_of_entities():
    arm = ROOT / "urdf" / "arm.urdf.xacro"
    sim = Simulation({"left": arm, "right": arm, "box": BOX}, terrain=False)
    assert list(sim.entities) == ["left", "right", "box"]
    assert "left/elbow" in sim.tau_names and "right/elbow" in sim.tau_names
    sim.reset({"left/elbow": 0.3, "box/base": placed(1.0, 2.0, 3.0)})
    own = sim.entity("left")
    assert own.q[own.model.joint("elbow").iq] == 0.3
    assert sim.entity("box").q[:3].tolist() == [1.0, 2.0, 3.0]
    assert [*Simulation([BOX, BOX], terrain=False).entities] == ["box", "box_2"]
    with pytest.raises(KeyError, match="no entity named 'lft': did you mean 'left'"):
        sim.entity("lft")
    with pytest.raises(ValueError, match="without '/'"):
        Simulation({"a/b": BOX})
    with pytest.raises(UnsupportedModel, match="contact between 2 shapes"):
        Simulation([BOX, BOX], integrator="rk4", terrain=False)


def test_they_start_where_they_stand():
    walker = Simulation([ROOT / "urdf" / "walker.urdf.xacro", BOX])
    assert walker.entity("box").q[2] == pytest.approx(0.1, abs=1e-3)
    assert walker.entity("walker").q[2] > 0.1


@pytest.mark.parametrize(
    "solid", [{"box": (0.2, 0.2, 0.2)}, {"cylinder": (0.1, 0.2)}, {"sphere": 0.1}], ids=["box", "can", "ball"]
)
def test_one_on_another_comes_to_rest_and_weighs_what_it_weighs(solid):
    table = body("table", mass=10.0, box=(1.0, 1.0, 0.2))
    sim = Simulation([table, body("thing", mass=2.0, **solid)])
    sim.reset({"table/base": placed(0, 0, 0.1), "thing/base": placed(0.1, 0.05, 0.301)})
    sim.run(2.0)
    assert max(np.abs(sim.entity(name).v[:3]).max() for name in sim.entities) < 1e-6
    np.testing.assert_allclose(forces_on(sim, "thing"), [0.0, 0.0, 2.0 * G], atol=1e-5)
    np.testing.assert_allclose(forces_on(sim, "table"), [0.0, 0.0, 10.0 * G], atol=1e-4)
    assert sim.entity("thing").q[2] == pytest.approx(0.3, abs=1e-3)
    assert abs(sim.ledger().residue) < 1e-5 * sim.ledger().turned_over


def test_a_collision_in_flight_keeps_momentum_and_books_the_energy():
    sim = Simulation([BOX, body("ball", mass=0.7, sphere=0.08)], terrain=False, gravity=(0, 0, 0))
    sim.reset(
        {"box/base": placed(0, 0, 0, (0.1, 0.3, 0.2, 1.0)), "ball/base": placed(-0.5, 0.03, 0.02)},
        {"ball/base": [3.0, 0.1, 0.0, 0.0, 0.0, 5.0]},
    )
    before = momentum(sim.model, sim.q, sim.v)
    sim.run(0.5)
    assert np.linalg.norm(sim.entity("box").v[:3]) > 0.5
    np.testing.assert_allclose(momentum(sim.model, sim.q, sim.v), before, atol=2e-12)
    assert abs(sim.ledger().residue) < 2e-5 * sim.ledger().turned_over


def test_friction_holds_a_box_on_a_tilted_one_and_lets_it_go():
    """A wedge that is fixed to the world, tilted by 10 degrees."""
    tilt = np.radians(10.0)
    wedge = ModelBuilder("wedge").link("world").link("top", mass=1.0, box=(2.0, 2.0, 0.2), collision=True)
    wedge = wedge.joint("hold", "fixed", "world", "top", rpy=(0.0, tilt, 0.0)).build("fixed")
    for friction, slides in ((0.9 * np.tan(tilt), True), (1.1 * np.tan(tilt), False)):
        sim = Simulation({"wedge": wedge, "box": BOX}, terrain=False, contact={"friction": friction})
        up = 0.2001
        q = placed(up * np.sin(tilt), 0.0, up * np.cos(tilt), (0.0, np.sin(tilt / 2), 0.0, np.cos(tilt / 2)))
        sim.reset({"box/base": q})
        sim.run(1.0)
        speed = np.linalg.norm(sim.entity("box").v[:3])
        assert speed == pytest.approx(0.1 * G * np.sin(tilt) if slides else 0.0, rel=0.02, abs=1e-4)


def test_a_stack_of_five_stands_and_a_snapshot_goes_on_bit_for_bit():
    names = [f"box{k}" for k in range(5)]
    sim = Simulation(dict.fromkeys(names, BOX), contact={"friction": 0.8})
    sim.reset(
        {f"{name}/base": placed(0.01 * (k % 2), 0.005 * (k % 3), 0.1 + 0.2002 * k) for k, name in enumerate(names)}
    )
    sim.run(0.3)
    kept = sim.snapshot()
    sim.run(0.2)
    after = sim.q, sim.v
    sim.restore(kept)
    sim.run(0.2)
    assert (sim.q == after[0]).all() and (sim.v == after[1]).all()
    sim.run(3.0)
    heights = [sim.entity(name).q[2] for name in names]
    np.testing.assert_allclose(heights, [0.1 + 0.2 * k for k in range(5)], atol=2e-3)
    assert np.abs(sim.v).max() < 1e-3


def test_what_does_not_touch_is_as_if_alone():
    """A second pair of boxes far away changes the first one in the last bits at most."""
    alone = Simulation([BOX, BOX])
    four = Simulation({"box": BOX, "box_2": BOX, "far": BOX, "far_2": BOX})
    start = {"box/base": placed(0, 0, 0.1), "box_2/base": placed(0.03, 0.02, 0.4, (0.1, 0.2, 0.0, 1.0))}
    far = {"far/base": placed(50, 0, 0.1), "far_2/base": placed(50.03, 0.02, 0.5, (0.3, 0.2, 0.0, 1.0))}
    alone.reset(start)
    four.reset({**start, **far})
    for sim in (alone, four):
        sim.run(0.3)
    np.testing.assert_allclose(four.entity("box_2").q, alone.entity("box_2").q, atol=1e-9)


def test_a_world_is_a_file(tmp_path):
    sim = Simulation(load_world(ROOT / "examples" / "table.world.yaml"))
    assert list(sim.entities) == ["table", "stairs", "block", "ball", "arm"]
    np.testing.assert_allclose(sim.entity("ball").q[:3], [2.0, 0.0, 0.6])
    sim.run(0.6)
    assert sim.entity("block").q[2] == pytest.approx(0.8, abs=5e-3)
    file = tmp_path / "bad.world.yaml"
    file.write_text(
        "entities:\n  a: {box: [1, 2], mass: 1}\n  b: {mass: -1}\n  c: {sphere: 1, bx: 2}\n  d: {stairs: {steps: 2}}\n"
    )
    with pytest.raises(SidecarError) as error:
        load_world(file)
    lines = str(error.value)
    for words in (
        ":2: entity 'a': box of 2 numbers",
        ":3: entity 'b': expected one kind of entity",
        ":4: entity 'c': unknown key",
        ":5: entity 'd': missing key",
    ):
        assert words in lines, lines
    file.write_text(
        "gravity: [0, 0, -1.62]\nterrain: {type: flat, height: 0.5}\nentities: {a: {sphere: 0.1, mass: 1}}\n"
    )
    moon = Simulation(load_world(file))
    assert moon.integrator.gravity.tolist() == [0.0, 0.0, -1.62]
    assert moon.entity("a").q[2] == pytest.approx(0.6, abs=1e-3)


def on_each_other(**options):
    sim = Simulation([BOX, BOX], **options)
    start = {"box/base": placed(0, 0, 0.1), "box_2/base": placed(0.03, 0.02, 0.31, (0.02, 0.01, 0.0, 1.0))}
    sim.reset(start, {"box_2/base": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]})
    return sim, start


def test_a_new_start_forgets_what_touched():
    sim, start = on_each_other()
    sim.run(0.2)
    first = sim.q
    sim.run(0.1)
    sim.reset(start, {"box_2/base": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]})
    sim.run(0.2)
    assert (sim.q == first).all()


def test_friction_changes_between_entities_too():
    rough, _ = on_each_other(contact={"friction": 0.8})
    changed, _ = on_each_other(contact={"friction": 0.8})
    change_friction(changed, 0.0)
    for sim in (rough, changed):
        sim.run(0.1)
    assert changed.entity("box_2").v[0] > rough.entity("box_2").v[0] + 0.2


def test_what_does_not_go_with_a_scene():
    with pytest.raises(ValueError, match="body_contact: entities of a scene touch each other without it"):
        Simulation([BOX, BOX], body_contact="all")
    other = Simulation([BOX, BOX]).snapshot()
    wide = (
        ModelBuilder("box")
        .link("box", mass=1.0, inertia=[1 / 150] * 3, collision=Box((0.3, 0.2, 0.2)))
        .build("floating")
    )
    with pytest.raises(ValueError, match="shapes"):
        Simulation([wide, wide]).restore(other)


def test_stairs_and_boxes_of_a_world_carry_what_falls_on_them(tmp_path):
    """Spheres on each step at its height, a box across two boxes, on a ground that is not at 0; all at rest."""
    file = tmp_path / "steps.world.yaml"
    balls = "".join(
        f"  ball_{k}: {{sphere: 0.08, mass: 0.4, xyz: [{0.8 + 0.4 * k}, 0.1, {0.9 + 0.15 * k}]}}\n" for k in range(3)
    )
    file.write_text(
        "terrain: {type: flat, height: 0.5}\nentities:\n"
        "  stairs: {stairs: {steps: 3, rise: 0.15, run: 0.4, width: 1.0}, xyz: [0.6, 0, 0.5]}\n"
        "  left: {box: [0.4, 0.4, 0.3], xyz: [0, 2, 0.65]}\n  right: {box: [0.4, 0.4, 0.3], xyz: [0.6, 2, 0.65]}\n"
        "  bridge: {box: [0.8, 0.2, 0.1], mass: 2, xyz: [0.3, 2, 0.9]}\n" + balls
    )  # fmt: skip
    sim = Simulation(load_world(file))
    sim.run(2.0)
    heights = [sim.entity(f"ball_{k}").q[2] for k in range(3)]
    np.testing.assert_allclose(heights, [0.5 + 0.15 * (k + 1) + 0.08 for k in range(3)], atol=2e-3)
    assert sim.entity("bridge").q[2] == pytest.approx(0.5 + 0.3 + 0.05, abs=2e-3)
    carried = sum(each.force[2] for each in sim.contacts())
    assert carried == pytest.approx((3 * 0.4 + 2.0) * 9.81, rel=1e-3)
