# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What surrounds a robot: ground, contact, springs, couplings, stops; what each integrator takes and refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sim_robots import CRAWLER_SIDECAR, crawler, gripper, pendulum, two_blocks

from mbsim_ros import ModelBuilder, SidecarError, Simulation, UnsupportedModel
from mbsim_ros.contact.parameters import ContactTooStiff, derive_parameters
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import floor
from mbsim_ros.coupling import CouplingError, couple
from mbsim_ros.dynamics import mass_matrix
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.sidecar.settings import Attachment, ContactSettings, Coupling, Spring, Terrain
from mbsim_ros.sim.joint_resistance import SimulationWarning


def ball(**link):
    return ModelBuilder("ball").link("ball", mass=1.0, sphere=0.05, **link).build("floating")


class TestTerrain:
    def test_without_a_word_about_contact_there_is_none(self):
        sim = Simulation(ball(collision=True))
        assert sim.scene.ground is None and sim.contacts() == ()
        sim.advance(300)
        assert sim.q[2] == pytest.approx(-0.5 * 9.81 * 0.09, rel=1e-6)

    @pytest.mark.parametrize(
        ("terrain", "height"),
        [("flat", 0.0), (floor(0.1), 0.1), (Terrain("flat", 0.2), 0.2), (Terrain("incline", 0.0, 0.1), 0.0)],
    )
    def test_every_kind(self, terrain, height):
        sim = Simulation(ball(collision=True), terrain=terrain)
        sim.reset([0, 0, height + 0.06, 0, 0, 0, 1])
        sim.advance(300)
        assert sim.q[2] == pytest.approx(height + 0.049, abs=5e-3)
        (report,) = sim.contacts()
        assert (report.link, report.label, report.other, report.is_touching) == ("ball", "sphere", "", True)

    def test_the_sidecar_decides_unless_told(self):
        text = CRAWLER_SIDECAR + "terrain: {type: flat, height: -0.3}\n"
        assert Simulation(crawler(text)).scene.ground.gap([0, 0, 0]) == pytest.approx(0.3)
        assert Simulation(crawler()).scene.ground.gap([0, 0, 0]) == 0.0  # it has contact
        assert Simulation(crawler(), terrain=False).scene.points is None
        assert Simulation(crawler(text), terrain="flat").scene.ground.gap([0, 0, 0]) == 0.0

    def test_settings_for_contact_mean_that_there_is_a_floor(self):
        assert Simulation(ball(collision=True), contact={"friction": 0.5}).scene.ground is not None

    @pytest.mark.parametrize("terrain", ["bumpy", 3, True])
    def test_what_it_is_not(self, terrain):
        with pytest.raises(ValueError, match="terrain: expected None, False, 'flat', a Terrain or a Ground"):
            Simulation(pendulum(), terrain=terrain)

    def test_a_robot_without_shapes_touches_with_its_links_and_says_so(self):
        with pytest.warns(ContactWarning, match="'ball' has no collision shapes: it touches with the origins of its"):
            sim = Simulation(ball(), terrain="flat")
        assert sim.scene.points.labels == ("origin",)

    def test_an_arm_without_shapes_touches_nothing_and_says_so(self):
        with pytest.warns(ContactWarning, match="'double_pendulum' has no contact points"):
            sim = Simulation(pendulum(), terrain="flat")
        assert sim.scene.points is None and sim.contacts() == ()


class TestContact:
    def test_a_dict_changes_the_settings_of_the_sidecar(self):
        law = Simulation(crawler(), contact={"max_penetration": np.float64(0.002)}).scene.contact
        assert law.max_penetration == pytest.approx(0.002)
        assert (law.damping_ratio, law.friction_static) == (0.7, 0.8)  # of the sidecar
        law = Simulation(crawler(), contact={"friction": 0.3}).scene.contact
        assert law.friction_static == law.friction_dynamic == 0.3

    def test_finished_settings_and_parameters(self):
        law = Simulation(crawler(), contact=ContactSettings(friction_static=0.4)).scene.contact
        assert (law.damping_ratio, law.friction_dynamic) == (1.0, 0.4)
        given = derive_parameters(3.0, 2)
        assert Simulation(crawler(), contact=given).scene.contact is given

    def test_points_may_be_listed(self):
        sim = Simulation(crawler(), contact={"points": {"body": [[0, 0, -0.05]], "foot_fl": []}})
        assert sim.scene.points.links == ("body", "foot_fr", "foot_rl", "foot_rr")

    def test_weaker_gravity_makes_softer_ground(self):
        moon, earth = Simulation(crawler(), gravity=(0, 0, -1.62)), Simulation(crawler())
        ratio = moon.scene.contact.stiffness / earth.scene.contact.stiffness
        assert ratio == pytest.approx(1.62 / 9.81)

    @pytest.mark.parametrize(
        ("contact", "error", "match"),
        [
            ({"fricton": 0.5}, SidecarError, "friction"),
            ({"friction": -1}, SidecarError, "friction"),
            ({"points": {"toe": []}}, SidecarError, "unknown link"),
            ("hard", ValueError, "contact: expected a dict"),
        ],
    )
    def test_mistakes(self, contact, error, match):
        with pytest.raises(error, match=match):
            Simulation(crawler(), contact=contact)

    def test_settings_for_nothing_are_refused(self):
        with pytest.raises(ValueError, match="nothing to touch"):
            Simulation(crawler(), terrain=False, contact={"friction": 1})

    def test_too_stiff_for_the_step(self):
        with pytest.warns(ContactWarning, match="use dt ≤") as caught:
            Simulation(crawler(), contact={"max_penetration": 1e-5})
        assert caught[0].filename == __file__
        with pytest.raises(ContactTooStiff, match="max_penetration ≥"):
            Simulation(crawler(), contact={"max_penetration": 1e-6})

    def test_between_bodies(self):
        sim = Simulation(two_blocks(), body_contact="all")
        assert sim.scene.ground is None and len(sim.scene.pairs) == 16
        law = sim.scene.pair_contact
        assert law.point_mass == pytest.approx(2.0 * 0.5 / 2.5)
        for bad, match in (("some", "body_contact: expected"), ([("big", "smal")], "did you mean 'small'")):
            with pytest.raises(ValueError, match=match):
                Simulation(two_blocks(), body_contact=bad)
        with pytest.raises(ValueError, match="nothing of these links can meet"):
            Simulation(crawler(), body_contact=[("body", "shank_fl")])


class TestCoupling:
    def test_every_way_to_name_one(self):
        model = pendulum()
        motors = {"drum": {"shoulder": 1, "elbow": -2}}
        for coupling in ("belt", Coupling("belt", motors), {"motors": motors}, couple(model, motors)):
            sim = Simulation(model, coupling=coupling)
            np.testing.assert_array_equal(sim.coupling.D, [[1], [-2]])
        assert Simulation(model).coupling.name == "identity"
        assert list(Simulation(model).couplings) == ["belt"]

    @pytest.mark.parametrize(
        ("coupling", "error", "match"),
        [
            ("bolt", ValueError, "no coupling named 'bolt': did you mean 'belt'"),
            (7, ValueError, "no coupling named 7"),
            ({"motor": {}}, ValueError, "coupling: expected the keys"),
            ({"locked": ["knee"]}, CouplingError, "knee"),
            (couple(gripper()), ValueError, "expected one of 'double_pendulum', got one of 'gripper'"),
        ],
    )
    def test_mistakes_change_nothing(self, coupling, error, match):
        with pytest.raises(error, match=match):
            Simulation(pendulum(), coupling=coupling)
        sim = Simulation(pendulum())
        sim.advance(3)
        before = sim.snapshot()
        with pytest.raises(error, match=match):
            sim.couple(coupling)
        assert sim.snapshot() == before

    def test_drives_of_columns_with_the_same_name_stay(self):
        sim = Simulation(crawler(), coupling="sides")
        sim.drive_motors(position={"left": 0.1})
        done = sim.couple({"motors": {"left": {"fl": 1}}, "name": "half"})
        assert done.configuration is sim.coupling and sim.coupling.name == "half"
        assert sim.motor_names == ("fr", "rl", "rr", "left")
        assert sim.integrator.motors.kp[-1] == 80.0

    def test_brakes_hold(self):
        sim = Simulation(crawler(), terrain=False, springs=())
        sim.couple("braked")
        before = sim.q[7:]
        sim.advance(200)
        np.testing.assert_array_equal(sim.q[7:], before)
        assert sim.motor_names == () and sim.motor_position.shape == (0,)


class TestSprings:
    def test_of_the_sidecar_none_or_given(self):
        assert Simulation(crawler()).scene.springs.names == ("tendon",)
        assert Simulation(crawler(), springs=()).scene.springs is None
        band = Spring("band", (Attachment("world", (0, 0, 0)), Attachment("lower_rod", (0, 0, -1))), 10.0, 0.1)
        sim = Simulation(pendulum(), springs=[band])
        assert sim.energy().elastic > 0.0
        with pytest.raises(ValueError, match="springs: expected those of model 'crawler'"):
            Simulation(crawler(), springs=sim.scene.springs)


class TestStops:
    def test_limits_are_springs_that_only_push(self):
        model = pendulum()
        sim = Simulation(model)
        inertia = mass_matrix(model, model.neutral).diagonal()
        np.testing.assert_allclose(sim.integrator.joints.stop_stiffness, 200.0**2 * inertia)
        np.testing.assert_allclose(sim.integrator.joints.stop_damping, 400.0 * inertia)
        sim.reset([6.2, 0.0], [1.0, 0.0])
        sim.advance(1000)
        assert sim.q[0] < 6.2832 and sim.ledger().stops < 0.0
        free = Simulation(model, stops=False)
        free.reset([6.2, 0.0], [3.0, 0.0])
        free.advance(1000)
        assert np.isinf(free.integrator.joints.upper).all() and free.ledger().stops == 0.0 and free.q[0] > 6.2832

    def test_a_long_step_is_warned_of(self):
        with pytest.warns(SimulationWarning, match="dt = 0.005 s is long for the stops of shoulder, elbow") as caught:
            Simulation(pendulum(), 5e-3)
        assert caught[0].filename == __file__  # where the step was chosen
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Simulation(pendulum(), 5e-3, stops=False)

    def test_damping_of_a_ball_joint_is_left_out_loudly(self):
        builder = ModelBuilder("ball").link("world").link("bob", mass=1, com=(0, 0, -0.5), sphere=0.1)
        builder.joint("socket", "spherical", "world", "bob", damping=0.1)
        with pytest.warns(SimulationWarning, match="damping of socket is left out"):
            Simulation(builder.build())


class TestOrderFour:
    def test_it_converges_with_the_fourth_power(self):
        ends = []
        for dt in (0.01, 0.005, 0.00125):
            sim = Simulation(pendulum(), dt, order=4)
            sim.advance(round(0.5 / dt))
            ends.append(sim.q)
        errors = [np.abs(end - ends[-1]).max() for end in ends[:2]]
        assert np.log2(errors[0] / errors[1]) > 3.7

    def test_stops_are_off_unless_they_are_asked_for(self):
        assert not Simulation(pendulum(), order=4).has_stops
        with pytest.raises(UnsupportedModel, match="order=4 does not go with stops of shoulder, elbow"):
            Simulation(pendulum(), order=4, stops=True)

    def test_all_that_stands_in_the_way_is_named(self):
        with pytest.raises(UnsupportedModel) as caught:
            Simulation(crawler(), order=4, stops=True)
        for part in ("contact of 4 points", "damping of fl, fr, rl, rr", "stops of fl", "springs tendon"):
            assert part in str(caught.value)
        builder = ModelBuilder("slide").link("world").link("block", mass=2.0, box=(0.1, 0.1, 0.1))
        builder.joint("rail", "continuous", "world", "block", axis=(1, 0, 0), friction=1.0)
        with pytest.raises(UnsupportedModel, match="friction of rail"):
            Simulation(builder.build(), order=4)
        with pytest.raises(UnsupportedModel, match="body_contact"):
            Simulation(two_blocks(), order=4, body_contact="all")

    def test_a_coupling_may_be_but_not_change(self):
        sim = Simulation(pendulum(), order=4, coupling="belt")
        sim.advance(10)
        before = sim.snapshot()
        with pytest.raises(UnsupportedModel, match="couple: a clutch takes energy: order=4"):
            sim.couple("belt")
        assert sim.snapshot() == before

    @pytest.mark.parametrize("order", [1, 3, "2"])
    def test_other_orders(self, order):
        with pytest.raises(ValueError, match="order: expected (one of 2, 4|2 or 4)"):
            Simulation(pendulum(), order=order)


class TestIntegrators:
    @pytest.mark.parametrize("integrator", ["rk4", "lie_euler"])
    def test_the_baselines_run(self, integrator):
        sim, exact = Simulation(pendulum(), 1e-3, integrator), Simulation(pendulum(), 1e-3, order=4)
        for one in (sim, exact):
            one.advance(500, {"shoulder": 0.5})
        np.testing.assert_allclose(sim.q, exact.q, atol=1e-8 if integrator == "rk4" else 2e-2)
        assert sim.time == 500_000_000 and sim.contacts() == ()
        assert sim.state().motor_velocity.tolist() == sim.v.tolist()

    def test_what_they_do_not_have(self):
        sim = Simulation(pendulum(), integrator="rk4")
        for attempt, match in (
            (lambda: sim.drive(position={"shoulder": 0.1}), "no forces but efforts"),
            (lambda: sim.step(motor=[0.0, 0.0]), "motor: integrator 'rk4'"),
            (lambda: sim.push("lower_rod", (1, 0, 0)), "push: integrator 'rk4'"),
            (lambda: sim.couple("belt"), "couple: "),
            (sim.step_bound, "step_bound"),
        ):
            with pytest.raises(UnsupportedModel, match=match):
                attempt()
        with pytest.raises(UnsupportedModel, match="mimic"):
            Simulation(ModelBuilder("m").link("world").link("a", mass=1, sphere=1).link("b", mass=1, sphere=1)
                       .joint("x", "continuous", "world", "a").joint("y", "continuous", "world", "b", mimic="x").build(),
                       integrator="rk4")  # fmt: skip
        with pytest.raises(UnsupportedModel, match="contact of 4 points.*coupling 'sides'"):
            Simulation(crawler(), integrator="lie_euler", coupling="sides")
        with pytest.raises(ValueError, match="order: expected 2 with 'rk4'"):
            Simulation(pendulum(), integrator="rk4", order=4)

    def test_those_that_are_nowhere(self):
        with pytest.raises(
            ValueError,
            match="integrator: no integrator named 'rk5': there are lie_variational, quaternion_variational, ",
        ):
            Simulation(pendulum(), integrator="rk5")
        with pytest.raises(ValueError, match="quadrature: expected one of"):
            Simulation(pendulum(), quadrature="simpson")

    def test_what_cannot_move_or_has_no_mass(self):
        with pytest.raises(UnsupportedModel, match="nothing that moves"):
            Simulation(ModelBuilder("rock").link("rock", mass=1, sphere=1).build("fixed"))
        builder = ModelBuilder("arm").link("world").link("a", mass=1, sphere=0.1).link("ghost")
        builder.joint("x", "continuous", "world", "a").joint("hinge", "continuous", "a", "ghost")
        with pytest.warns(UserWarning):
            model = builder.build()
        with pytest.raises(UnsupportedModel, match="column 'hinge' moves no inertia"):
            Simulation(model)

    @pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), "down"])
    def test_gravity(self, gravity):
        with pytest.raises(ValueError, match="gravity: expected"):
            Simulation(pendulum(), gravity=gravity)

    def test_a_long_free_chain_keeps_its_momentum(self):
        sim = Simulation(chain(6, base="floating"), 0.02, gravity=(0, 0, 0), stops=False)
        rng = np.random.default_rng(3)
        sim.reset(sim.model.neutral, 0.5 * rng.normal(size=sim.model.nv))
        before = sim.momentum()
        sim.run(10.0)
        assert np.abs(sim.momentum() - before).max() < 1e-12 * np.abs(before).max()
