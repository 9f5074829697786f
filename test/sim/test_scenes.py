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

from mbsim_ros import ModelBuilder, SidecarError, Simulation, load_urdf, load_world
from mbsim_ros.contact.layout import BN, BT
from mbsim_ros.dynamics.momentum import momentum
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.model.description import Box, Origin
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


@pytest.mark.parametrize(("dt", "left"), [(1e-3, 5e-5), (5e-4, 2e-6)])
def test_a_collision_in_flight_keeps_momentum_and_books_the_energy(dt, left):
    """Momentum to rounding; of the energy what the step does not resolve is left over, and that falls with it."""
    sim = Simulation([BOX, body("ball", mass=0.7, sphere=0.08)], dt, terrain=False, gravity=(0, 0, 0))
    sim.reset(
        {"box/base": placed(0, 0, 0, (0.1, 0.3, 0.2, 1.0)), "ball/base": placed(-0.5, 0.03, 0.02)},
        {"ball/base": [3.0, 0.1, 0.0, 0.0, 0.0, 5.0]},
    )
    before = momentum(sim.model, sim.q, sim.v)
    sim.run(0.5)
    assert np.linalg.norm(sim.entity("box").v[:3]) > 0.5
    np.testing.assert_allclose(momentum(sim.model, sim.q, sim.v), before, atol=2e-12)
    assert abs(sim.ledger().residue) < left * sim.ledger().turned_over


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
    """A second pair of boxes far away changes no bit of the first one."""
    alone = Simulation([BOX, BOX])
    four = Simulation({"box": BOX, "box_2": BOX, "far": BOX, "far_2": BOX})
    start = {"box/base": placed(0, 0, 0.1), "box_2/base": placed(0.03, 0.02, 0.4, (0.1, 0.2, 0.0, 1.0))}
    far = {"far/base": placed(50, 0, 0.1), "far_2/base": placed(50.03, 0.02, 0.5, (0.3, 0.2, 0.0, 1.0))}
    alone.reset(start)
    four.reset({**start, **far})
    for sim in (alone, four):
        sim.run(0.3)
    for name in ("box", "box_2"):
        assert (four.entity(name).q == alone.entity(name).q).all() and (
            four.entity(name).v == alone.entity(name).v
        ).all()


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


def test_a_stack_of_ten_stops_swaying():
    """What stops one box would let ten sway for a minute: slow points are damped for what they carry."""
    sim = Simulation({f"box{k}": BOX for k in range(10)}, contact={"friction": 0.8})
    sim.reset({f"box{k}/base": placed(0.01 * (k % 2), 0.005 * (k % 3), 0.1 + 0.2001 * k) for k in range(10)})
    sim.run(1.0)
    assert np.abs(sim.v).max() > 1e-4, "it sways at first"
    sim.run(4.0)
    assert np.abs(sim.v).max() < 1e-5
    given = Simulation({"a": BOX, "b": BOX}, contact={"friction": 0.8, "damping_ratio": 0.3})
    given.reset({"a/base": placed(0, 0, 0.1), "b/base": placed(0, 0, 0.3)})
    given.run(0.5)
    laws = given.integrator.arrays.touches.now
    np.testing.assert_array_equal(laws.parameters[: laws.counts[0], [BN, BT]], laws.dampings[: laws.counts[0]])


def heap(seed=3):
    """Two bipeds without drives above ten boxes, all in any orientation, none in another."""
    biped, chance = load_urdf(ROOT / "urdf" / "biped.urdf.xacro"), np.random.default_rng(seed)
    sim = Simulation({"one": biped, "two": biped, **{f"box{k}": BOX for k in range(10)}}, contact={"friction": 0.8})
    start = {
        f"{name}/base": placed(0.15 * i, 0.1 * i, 1.2 + 1.3 * i, chance.normal(size=4))
        for i, name in enumerate(("one", "two"))
    }
    for k in range(10):
        turn, angle = chance.normal(size=4), 2.0 * np.pi * k / 5
        start[f"box{k}/base"] = placed(0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.25 + 0.4 * (k // 5), turn)
    sim.reset(start)
    return sim


def test_two_robots_and_ten_boxes_come_to_rest_on_each_other():
    sim = heap()
    sim.run(3.0)
    while np.abs(sim.v).max() > 1e-6 and sim.seconds < 15.0:
        sim.run(1.0)
    assert np.abs(sim.v).max() <= 1e-6
    between = {(each.link.split("/")[0], each.other.split("/")[0]) for each in sim.contacts() if each.is_touching}
    # Where they come to lie is chaotic, and the last bit of a compiler decides; a robot lies on something.
    assert any({a, b} & {"one", "two"} for a, b in between if b), between
    before = sim.q
    sim.run(1.0)
    assert np.abs(sim.q - before).max() < 1e-6
    weight = sum(sim.entity(name).model.mass for name in sim.entities) * G
    on_ground = sum(each.force[2] for each in sim.contacts() if not each.other)
    assert on_ground == pytest.approx(weight, rel=1e-6)
    assert abs(sim.ledger().residue) < 1e-3 * sim.ledger().turned_over


def test_springs_and_couplings_of_entities_act_as_in_a_robot_alone():
    """A part is solved by other means than a robot alone: the same to the tolerance of the solve."""
    for file, coupling, seconds in (("manipulator", None, 0.5), ("walker", "normal", 0.2)):
        robot = load_urdf(ROOT / "urdf" / f"{file}.urdf.xacro")
        alone = Simulation(robot, coupling=coupling, terrain=False, gravity=(0, 0, -9.81))
        scene = Simulation({"it": robot, "far": BOX}, terrain=False, coupling=coupling and f"it/{coupling}")
        assert len(alone.scene.springs or ()) == len(scene.scene.springs or ())
        q, v = alone.q, np.zeros(robot.nv)
        q_all, v_all, own = scene.q, scene.v, scene.entities["it"]
        q_all[own.in_q], v_all[own.in_v] = q, v
        scene.reset(q_all, v_all)
        for sim in (alone, scene):
            sim.run(seconds)
        np.testing.assert_allclose(scene.entity("it").q, alone.q, atol=1e-9)
        np.testing.assert_allclose(scene.entity("it").v, alone.v, atol=1e-8)


def test_entities_that_come_and_go_change_no_bit_of_the_others():
    walker, arm = load_urdf(ROOT / "urdf" / "walker.urdf.xacro"), load_urdf(ROOT / "urdf" / "arm.urdf.xacro")

    def scene():
        sim = Simulation({"low": BOX, "up": BOX, "walker": walker, "arm": arm}, contact={"friction": 0.7})
        fall = placed(3.03, 0.02, 0.45, (0.6, 0.0, 0.0, 0.8))
        sim.reset({"low/base": placed(3, 0, 0.1), "up/base": fall, "arm/elbow": 0.3, "walker/base": placed(0, 0, 0.6)})
        sim.couple("walker/normal")
        sim.drive(position={"arm/elbow": 0.8})
        sim.push("low/box", [1.0, 0.0, 0.0])
        sim.advance(200)  # the upper box has come down on the lower one
        return sim

    def bits(sim):
        return [sim.entity(name).q.tobytes() + sim.entity(name).v.tobytes() for name in ("low", "up", "walker", "arm")]

    alone, visited = scene(), scene()
    for k, guest in enumerate((BOX, arm, walker, BOX)):
        visited.spawn("a guest", guest, Origin((10.0 + k, 5.0, 0.6), (0.0, 0.1, 0.0)))
        assert visited.time == alone.time and visited.coupling.name == "walker/normal"
        for sim in (alone, visited):
            sim.advance(20)
        assert bits(visited) == bits(alone)
        visited.delete("a guest")
        for sim in (alone, visited):
            sim.advance(20)
        assert bits(visited) == bits(alone)
    assert abs(visited.ledger().residue - alone.ledger().residue) < 1e-3
    kept = visited.snapshot()
    fresh = Simulation({"low": BOX, "up": BOX, "walker": walker, "arm": arm}, contact={"friction": 0.7})
    fresh.restore(kept)
    for sim in (visited, fresh):
        sim.advance(50)
    assert bits(fresh) == bits(visited)


def test_who_comes_may_touch_and_refusals_change_nothing():
    sim = Simulation({"low": BOX, "far": BOX})
    sim.reset({"low/base": placed(0, 0, 0.1), "far/base": placed(9, 0, 0.1)})
    sim.run(0.1)
    sim.spawn("up", BOX, q=placed(0.01, 0.02, 0.4), v=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    before = sim.ledger().external_work
    sim.run(1.0)
    assert sim.entity("up").q[2] == pytest.approx(0.3, abs=1e-3)
    np.testing.assert_allclose(forces_on(sim, "up"), [0.0, 0.0, G], atol=1e-4)
    assert before == pytest.approx(G * 0.4 + 0.5, rel=1e-6)  # what it brought
    sim.delete("low")  # what lay on it falls
    sim.run(1.0)
    assert sim.entity("up").q[2] == pytest.approx(0.1, abs=1e-3)
    assert abs(sim.ledger().residue) < 1e-3
    q = sim.q
    for call, words in (
        (lambda: sim.spawn("up", BOX), "there is one already"),
        (lambda: sim.delete("uq"), "no entity named 'uq': far, up"),
        (lambda: sim.spawn("new", BOX, q=[0.0]), "q: expected"),
        (lambda: Simulation(BOX).spawn("new", BOX), "a simulation of one robot"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert list(sim.entities) == ["far", "up"] and (sim.q == q).all()


def test_one_that_cannot_go_on_leaves_all_where_they_were():
    """Also those that have taken the step already, and the points between them."""
    sim, twin = (on_each_other()[0] for _ in range(2))
    for each in (sim, twin):
        each.spawn("third", BOX, q=placed(9, 0, 3.0))
        each.advance(50)
    sim.push("third/box", [0.0, 0.0, 1e15])
    with pytest.raises(SimulationDiverged, match="beyond the bounds"):
        sim.advance(5)
    assert sim.time == twin.time and (sim.q == twin.q).all() and (sim.v == twin.v).all()
    assert sim.ledger().contact_dissipated == pytest.approx(twin.ledger().contact_dissipated, abs=1e-12)
    sim.push("third/box", None)
    for each in (sim, twin):
        each.advance(100)
    np.testing.assert_allclose(sim.q, twin.q, atol=1e-9)  # its factors have been made anew
