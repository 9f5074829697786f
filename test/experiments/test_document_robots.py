# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The documents' robots, from the catalogue alone: their numbers, their starts, and how they move from there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from mbsim_ros.cli.main import main
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.control.viscoelastic.law import angles_of
from mbsim_ros.experiments.goetz import chain as goetz
from mbsim_ros.experiments.hemami import parameters as hemami, simulation_3 as hemami_3
from mbsim_ros.experiments.kobilarov import chain as kobilarov
from mbsim_ros.experiments.kobilarov.step_bounds import THREE_LINKS
from mbsim_ros.experiments.wendlandt import box_drop, table_2_2
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.launcher.plan import plan_launch
from mbsim_ros.lie import quaternion
from mbsim_ros.model.catalogue import OWN
from mbsim_ros.sim.simulation import Simulation

REFERENCE = Path(__file__).parents[1] / "reference"
FREE = ("box", "double_spherical_pendulum", "floating_chain", "three_link_pendulum", "manipulator", "coupled_bodies")


def reference(name):
    return json.loads((REFERENCE / f"{name}.json").read_text())


def inertial(sim, link):
    """Mass, centre (3,) and inertia (3, 3) of a link, as its file has them."""
    found = sim.model.description.link(link).inertial
    return found.mass, np.array(found.origin.xyz), found.inertia


@pytest.mark.parametrize("name", OWN)
def test_every_one_of_them_runs_from_its_name(name):
    sim = Simulation(name)
    assert sim.model.sidecar is not None and "home" in sim.model.sidecar.initial_states
    sim.advance(100)
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()
    assert any(link.visuals for link in sim.model.description.links)  # there is something to see


def test_they_are_listed_with_their_documents(capsys):
    main(["robots"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] and line.split()[0] in OWN]
    assert [line.split()[0] for line in lines] == list(OWN)
    assert all(document in line for line, document in zip(lines, OWN.values(), strict=True))


GRAVITY = {
    "floating_chain": kobilarov.WEIGHTLESS, "manipulator": goetz.GRAVITY, "coupled_bodies": (0.0, 0.0, 0.0),
    "body_on_point": tuple(hemami.GRAVITY),
}  # fmt: skip


@pytest.mark.parametrize("name", (*FREE, "body_on_point"))
def test_launch_files_have_the_documents_gravity(name):
    plan = plan_launch(share_directory("mbsim_ros") / "launch" / f"{name}.launch.xml", {"view": "false"})
    given = {each.name: each.value for each in plan.nodes[0].parameters}
    assert (given["robot_file"], tuple(given["gravity"])) == (name, GRAVITY.get(name, (0.0, 0.0, -9.81)))
    begins_by_itself = len(plan.nodes) == 1 and (given["sync"], given["start"]) == ("async", "run")
    assert begins_by_itself is (name in FREE)
    assert begins_by_itself or given["lockstep_participants"] == ["wrench"]


def test_box():
    given, sim = reference("wendlandt_box_drop"), Simulation("box")
    mass, centre, inertia = inertial(sim, "box")
    assert mass == box_drop.MASS == given["params"]["m"] and not centre.any()
    np.testing.assert_allclose(inertia, np.diag(given["params"]["I"]), rtol=1e-15)
    vertices = {tuple(np.round(place, 12)) for place in sim.scene.points.geometry[:, :3]}
    assert vertices == {tuple(place) for place in box_drop.VERTICES.round(12)}
    law = sim.scene.contact
    assert (law.stiffness, law.tangential_stiffness) == (box_drop.STIFFNESS,) * 2
    assert (law.damping, law.tangential_damping, law.friction_dynamic) == (*(box_drop.DAMPING,) * 2, box_drop.FRICTION)
    assert law.stick_speed == box_drop.SLOWEST
    for at, steps in (("0.000", 0), ("0.050", 50)):
        sim.advance(steps)
        x, y, z, *wxyz = given["state_x_y_z_qw_qx_qy_qz"][at]
        np.testing.assert_allclose(sim.q, [x, y, z, *quaternion.to_ros(wxyz)], atol=1e-10)


def test_double_spherical_pendulum():
    """The masses move as W's points do: their links turn about the bars with nothing to turn them."""
    given, sim = reference("wendlandt_table_2_2"), Simulation("double_spherical_pendulum", integrator="rk4")
    system, places, velocities = table_2_2.pendulum()
    assert [inertial(sim, f"bob_{k}")[0] for k in (1, 2)] == [given["params"]["m1"], given["params"]["m2"]]
    assert system.lengths.tolist() == [given["params"]["l1"], given["params"]["l2"]]
    pivot = sim.link_pose("bob_1")[:3, 3]

    def bobs():
        poses = np.array([sim.link_pose(f"bob_{k}") for k in (1, 2)])
        return poses[:, :3, 3] - poses[:, :3, 2] * system.lengths[:, None] - pivot

    np.testing.assert_allclose(bobs(), places, atol=1e-14)
    before = bobs()
    sim.advance(1)
    np.testing.assert_allclose((bobs() - before) / sim.dt, velocities, atol=0.02)  # h/2 of acceleration
    sim.advance(99)
    np.testing.assert_allclose(bobs().ravel(), given["ode_solution"]["0.1"]["q"], atol=1e-9)


def test_floating_chain():
    given, sim = reference("kobilarov_chain"), Simulation("floating_chain", 0.01, order=4, gravity=(0, 0, 0))
    dims = given["model"]
    for link, com in (("base", [0, 0, 0]), *zip(("link_0", "link_1"), dims["com_from_joint"], strict=True)):
        mass, centre, inertia = inertial(sim, link)
        assert (mass, centre.tolist()) == (dims["mass"], com)
        np.testing.assert_allclose(inertia, np.diag(dims["inertia_diag"]), rtol=1e-15)
    assert sim.q[7:].tolist() == list(kobilarov.ANGLES) == dims["r0"]
    np.testing.assert_allclose(sim.v, [*kobilarov.TWIST, *kobilarov.RATES], atol=1e-15)
    np.testing.assert_allclose(sim.energy().total, given["E0"], rtol=1e-14)
    sim.advance(10)
    true = given["ode_solution"]["0.1"]
    np.testing.assert_allclose(sim.q[:3], true["x"], atol=1e-9)
    np.testing.assert_allclose(sim.q[7:], true["r"], atol=1e-9)


def test_three_link_pendulum():
    sim = Simulation("three_link_pendulum", 0.002, order=4)
    for k in range(3):
        mass, centre, inertia = inertial(sim, f"rod_{k}")
        assert (mass, centre.tolist()) == (1.0, [0.0, 0.0, -0.5])
        np.testing.assert_allclose(inertia, np.diag([1 / 12, 1 / 12, 1e-4]), rtol=1e-15)
    assert sim.q.tolist() == list(THREE_LINKS)
    sim.advance(250)
    true = reference("kobilarov_step_bounds")["three_link_ode"]["0.5"]
    np.testing.assert_allclose([*sim.q, *sim.v], true, atol=1e-8)


def test_manipulator():
    given = reference("goetz")
    numbers = given["parameters"]
    sim = Simulation("manipulator", 0.01, order=4, gravity=goetz.GRAVITY)
    for k in range(3):
        mass, centre, inertia = inertial(sim, f"link_{k + 1}")
        assert (mass, centre.tolist()) == (numbers["m"][k], [numbers["l"][k], 0, 0])
        np.testing.assert_array_equal(inertia, numbers["J_com"][k] * np.eye(3))
    springs = sim.model.sidecar.springs.values()
    assert {(spring.stiffness, spring.rest_length) for spring in springs} == {(numbers["k"], numbers["s0"])}
    assert {point.point[2] for spring in springs for point in spring.points} == {numbers["r_all_incl_base"]}
    assert sim.q.tolist() == goetz.START.tolist() == given["initial"]["phi0"]
    np.testing.assert_allclose(sim.energy().total, given["mono"]["E0"], rtol=1e-14)
    for kind, key in (("mono", "mono"), ("multi", "multi"), ("none", "gravity")):
        own = Simulation(sim.model, 0.01, order=4, gravity=goetz.GRAVITY, springs=goetz.springs_of(sim.model, kind))
        own.advance(50)
        np.testing.assert_allclose(own.q, given[key]["ode_solution"]["0.5"]["phi"], atol=1e-9)


def test_body_on_point():
    """With the parameter file of its launch file it moves as H's equations have it."""
    sim = Simulation("body_on_point", 2.5e-4, gravity=hemami.GRAVITY)
    mass, _, inertia = inertial(sim, "body")
    assert mass == hemami.MASS and np.array_equal(inertia, np.diag(hemami.MOMENTS))
    assert sim.v[3:].tolist() == hemami.KICK.tolist()
    file = share_directory("mbsim_ros") / "config" / "body_on_point_controller.yaml"
    parameters = yaml.safe_load(file.read_text())["/**"]["ros__parameters"]
    assert parameters["point"] == hemami.CONTACT.tolist()
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    controller = ViscoelasticController(sim.model, ViscoelasticParameters(**given))
    true, height = reference("hemami")["sim1_V0_zero"], sim.q[2]
    sim.run(0.2, controller=controller, progress=False)
    theta = true["y"][true["t"].index(0.2)][9:12]
    np.testing.assert_allclose(angles_of(quaternion.to_matrix(quaternion.from_ros(sim.q[3:7]))), theta, atol=2e-3)
    assert sim.q[2] == pytest.approx(height, abs=1e-6)


def test_coupled_bodies():
    sim = Simulation("coupled_bodies", gravity=(0, 0, 0))
    for body, kick in (("body_1", -hemami.KICK), ("body_2", hemami.KICK)):
        mass, _, inertia = inertial(sim, body)
        assert mass == hemami.MASS and np.array_equal(inertia, np.diag(hemami.MOMENTS))
        joint = sim.model.joint(f"free_{body[-1]}")
        assert sim.v[joint.iv : joint.iv + 6].tolist() == [0, 0, 0, *kick]
    (spring,) = sim.model.sidecar.springs.values()
    assert (spring.stiffness, spring.damping) == (hemami_3.COUPLING_STIFFNESS[0], hemami_3.COUPLING_DAMPING[0])
    assert {point.point for point in spring.points} == {tuple(hemami.CONTACT)}
    assert sim.energy().total == pytest.approx(reference("hemami")["sim3_S1=S2=[0,0,-.42]_KT4100"]["v0"], rel=1e-12)
    sim.advance(100)
    np.testing.assert_allclose(sim.momentum(), 0.0, atol=1e-9)
    assert sim.energy().total < 2713.0  # the damper has taken some
