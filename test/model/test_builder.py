# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots built in Python: the same as from a file, refused for the same reasons."""

import math
import warnings

import numpy as np
import pytest

from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.assembly.solids import solid_moments, solid_of_shapes, volume
from mbsim_ros.model.description import Box, Capsule, Collision, Cylinder, Mimic, Origin, Sphere, Visual
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import MASS, ROTOR
from mbsim_ros.model.problems import UrdfError, UrdfWarning
from mbsim_ros.model.urdf.parser import parse_urdf

LIMITS = {"lower": -1, "upper": 1, "effort": 10, "velocity": 5}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UrdfWarning)
        yield


def arm():
    """A builder with a fixed base and one rod."""
    builder = ModelBuilder("arm")
    builder.link("world").link("rod", mass=1, com=(0, 0, -0.5), cylinder=(0.02, 1))
    return builder.joint("pivot", "revolute", "world", "rod", axis=(0, 1, 0), **LIMITS)


def refused(builder, *expected):
    with pytest.raises(UrdfError) as caught:
        builder.description()
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(expected), found
    for text, words in zip(found, expected, strict=True):
        assert text.startswith("ModelBuilder('arm')") and words in text
    assert "lines count in the text of ModelBuilder.urdf()" in str(caught.value)


def test_a_robot_is_the_one_of_the_file(pytestconfig):
    file = parse_urdf(pytestconfig.rootpath / "urdf/double_pendulum.urdf")
    builder = ModelBuilder("double_pendulum").link("world")
    limits = {"lower": -6.2832, "upper": 6.2832, "effort": 50, "velocity": 20}
    for name, parent, z, rod in (("shoulder", "world", 2.2, "upper_rod"), ("elbow", "upper_rod", -1, "lower_rod")):
        visual = file.link(rod).visuals
        moments = [0.0834333333, 0.0834333333, 0.0002]
        builder.link(rod, mass=1, com=(0, 0, -0.5), inertia=moments, visual=visual)
        builder.joint(name, "revolute", parent, rod, xyz=(0, 0, z), axis=(0, 1, 0), **limits)
    assert builder.description() == file
    np.testing.assert_array_equal(
        builder.build().constants, load_urdf(pytestconfig.rootpath / "urdf/double_pendulum.urdf").constants
    )


def test_solids_have_the_inertia_of_the_book():
    assert solid_moments(12, Box((1, 2, 3))) == pytest.approx((13, 10, 5))
    assert solid_moments(5, Sphere(2)) == pytest.approx((8, 8, 8))
    assert solid_moments(12, Cylinder(1, 2)) == pytest.approx((7, 7, 6))
    assert volume(Capsule(0.1, 0)) == pytest.approx(volume(Sphere(0.1)))
    assert solid_moments(5, Capsule(2, 0)) == pytest.approx((8, 8, 8))
    assert solid_moments(1, Capsule(1e-9, 2)) == pytest.approx((1 / 3, 1 / 3, 0), abs=1e-8)


def test_a_capsule_is_its_slices():
    radius, length, slices = 0.3, 0.8, 20_000
    z = (np.arange(slices) + 0.5) / slices * (length + 2 * radius) - length / 2 - radius
    r2 = radius**2 - np.clip(np.abs(z) - length / 2, 0, None) ** 2
    mass = r2 / r2.sum()
    assert solid_moments(1, Capsule(radius, length)) == pytest.approx(
        ((mass * (r2 / 4 + z**2)).sum(),) * 2 + ((mass * r2 / 2).sum(),), rel=1e-6
    )


def test_two_halves_of_a_box_are_the_box():
    halves = [Collision(Box((0.5, 1, 2)), Origin((x, 0, 0), (math.pi, 0, 0))) for x in (1.25, 1.75)]
    whole = solid_of_shapes(3, halves)
    assert whole.origin.xyz == pytest.approx((1.5, 0, 0))
    np.testing.assert_allclose(whole.inertia, np.diag(solid_moments(3, Box((1, 1, 2)))), atol=1e-12)


def test_density_gives_the_mass():
    link = ModelBuilder("b").link("ball", density=1000, sphere=0.1, visual=True).description().root
    assert link.inertial.mass == pytest.approx(4.18879, rel=1e-5)
    assert link.inertial.inertia[0, 0] == pytest.approx(0.4 * link.inertial.mass * 0.01)
    assert link.visuals == (Visual(Sphere(0.1)),) and link.collisions == ()


def test_inertia_in_three_forms():
    full = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    for inertia in (full, full.tolist(), [0.3, 0.01, 0.02, 0.4, 0.03, 0.5]):
        inertial = ModelBuilder("b").link("a", mass=1, inertia=inertia, rpy=(0, 0, 1)).description().root.inertial
        np.testing.assert_array_equal(inertial.inertia, full)
        assert inertial.origin.rpy == (0, 0, 1)
    diagonal = ModelBuilder("b").link("a", mass=1, inertia=(1, 2, 3)).description().root.inertial
    np.testing.assert_array_equal(diagonal.inertia, np.diag([1, 2, 3]))


def test_shapes_in_every_form():
    box, ball = Box((1, 1, 1)), Sphere(0.5)
    visual = Visual(box, Origin((1, 2, 3)), name="v")
    link = ModelBuilder("b").link("a", mass=1, sphere=0.5, visual=[visual, ball], collision=True).description().root
    assert link.visuals == (visual, Visual(ball)) and link.collisions == (Collision(ball),)
    link = (
        ModelBuilder("b").link("a", mass=1, sphere=0.5, com=(0, 0, 1), collision=visual, visual=True).description().root
    )
    assert link.collisions == (Collision(box, Origin((1, 2, 3)), "v"),)
    assert link.visuals == (Visual(ball, Origin((0, 0, 1))),)


def test_every_joint_type_builds():
    builder = ModelBuilder("many").link("base", mass=1, sphere=0.1)
    for number, kind in enumerate(("revolute", "prismatic", "continuous", "spherical", "planar", "floating", "fixed")):
        limits = LIMITS if number < 2 else {}
        builder.link(f"l{number}", mass=1, sphere=0.1).joint(f"j{number}", kind, "base", f"l{number}", **limits)
    model = builder.build("fixed")
    assert (model.nq, model.nv) == (1 + 1 + 1 + 4 + 3 + 7, 1 + 1 + 1 + 3 + 3 + 6)


def test_mimic_rotor_damping_and_friction():
    builder = arm().link("tip", mass=1, sphere=0.1)
    builder.joint(
        "wrist", "revolute", "rod", "tip", mimic=("pivot", 2, 0.1), damping=0.5, friction=0.25, **LIMITS
    )  # fmt: skip
    builder.link("hand", mass=1, sphere=0.1)
    builder.joint("turn", "continuous", "tip", "hand", rotor_inertia=0.01)
    robot = builder.description()
    wrist = robot.joint("wrist")
    assert (wrist.mimic, wrist.damping, wrist.friction) == (Mimic("pivot", 2, 0.1), 0.5, 0.25)
    model = builder.build()
    assert model.nv == 2 and model.constants[model.joint("turn").body, ROTOR] == 0.01
    assert ModelBuilder("b").link("a").joint("j", "fixed", "a", "b", mimic="x")._joints[0].mimic == Mimic("x", 1, 0)


def test_numbers_of_numpy_are_numbers():
    builder = arm().link("tip", mass=np.float32(1), sphere=np.float64(0.5), com=np.zeros(3))
    builder.joint("j", "continuous", "rod", "tip", axis=np.array([0, 0, 1]), xyz=np.ones(3, dtype=int))
    assert builder.description().joint("j").origin.xyz == (1, 1, 1)


def test_every_problem_at_once():
    builder = ModelBuilder("arm").link("world").link("rod", mass=-1, sphere=0.1).link("tip", mass=math.nan, sphere=0.1)
    builder.joint("a", "revolute", "world", "rod", axis=(0, 0, 0), lower=1, upper=0, effort=1, velocity=1)
    builder.joint("b", "hinge", "rod", "tip")
    refused(
        builder,
        "link 'rod': negative mass, -1 kg",
        "link 'tip': not a finite number, mass value=\"nan\"",
        "joint 'a': zero axis",
        "joint 'a': lower limit above upper limit, 1 > 0",
        "joint 'b': unknown joint type, 'hinge'",
    )


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda b: b.link("rod", mass=1, sphere=0.1), "link 'rod': duplicate link name"),
        (lambda b: b.link("other", mass=1, sphere=0.1), "link 'other': second root"),
        (lambda b: b.joint("j", "fixed", "rod", "tip"), "joint 'j': unknown child link, 'tip'"),
        (lambda b: b.link("t", mass=1, inertia=(-1, 1, 1)).joint("j", "fixed", "rod", "t"), "link 't': inertia not positive"),
        (lambda b: b.link("t", mass=1, sphere=1).joint("j", "revolute", "rod", "t"), "joint 'j': revolute joint without limits"),
        (lambda b: b.link("t", mass=1, sphere=1).joint("j", "fixed", "rod", "t", damping=-1), "joint 'j': negative damping"),
        (lambda b: b.link("t", mass=1, box=(1, -1, 1), visual=True).joint("j", "fixed", "rod", "t"), "link 't': negative size"),
        (lambda b: b.link("t", mass=1, sphere=1).joint("j", "continuous", "rod", "t", rotor_inertia=-1), "'j'|number out of range, j: -1"),
        (lambda b: b.link("t", mass=1, sphere=1).joint("j", "spherical", "rod", "t", rotor_inertia=1), "joint without one axis, 'j'"),
        (lambda b: b.link("t", mass=1, sphere=1).joint("j", "continuous", "rod", "t", rotor_inertia=math.inf), "not a finite number"),
    ],
)  # fmt: skip
def test_the_rules_are_those_of_a_file(spoil, words):
    builder = arm()
    spoil(builder)
    refused(builder, words.split("|")[-1])


def test_missing_limits_are_named():
    builder = arm().link("t", mass=1, sphere=1).joint("j", "revolute", "rod", "t", lower=0, upper=1)
    refused(
        builder,
        "joint 'j': missing number, <limit> has no effort",
        "joint 'j': missing number, <limit> has no velocity",
    )


def test_imperfections_warn_the_caller_or_are_refused():
    builder = ModelBuilder("point").link("p", mass=1)
    with pytest.warns(UrdfWarning, match="mass without inertia") as caught:
        builder.build()
    assert caught[0].filename == __file__
    with pytest.warns(UrdfWarning) as caught:
        assert builder.description().warnings[0].file == "ModelBuilder('point')"
    assert caught[0].filename == __file__
    with pytest.raises(UrdfError, match="mass without inertia"):
        builder.build(strict=True)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda b: b.link(5), TypeError, "a link: expected a name, got 5"),
        (lambda b: b.link("a", mass="heavy"), TypeError, "link 'a': mass: expected a number, got 'heavy'"),
        (lambda b: b.link("a", mass=1, com=(1, 2)), ValueError, "link 'a': com: expected 3 numbers, got 2"),
        (lambda b: b.link("a", mass=1, com=5), TypeError, "link 'a': com: expected 3 numbers, got 5"),
        (lambda b: b.link("a", mass=1, box=(1, 1, 1), sphere=1), ValueError, "box and sphere are given"),
        (lambda b: b.link("a", mass=1, density=1, sphere=1), ValueError, "mass and density are given"),
        (lambda b: b.link("a", density=1), ValueError, "density needs a box, sphere or cylinder"),
        (lambda b: b.link("a", mass=1, sphere=1, inertia=(1, 1, 1)), ValueError, "inertia and a solid are given"),
        (lambda b: b.link("a", mass=1, inertia=(1, 1)), ValueError, "expected 3 moments, 6 components or 3x3"),
        (lambda b: b.link("a", mass=1, inertia=np.arange(9).reshape(3, 3)), ValueError, "expected a symmetric matrix"),
        (lambda b: b.link("a", mass=1, inertia="x"), TypeError, "inertia: expected numbers"),
        (lambda b: b.link("a", visual=True), ValueError, "visual=True needs a box"),
        (lambda b: b.link("a", visual="box"), TypeError, "visual: expected a shape"),
        (lambda b: b.link("a", collision=[3]), TypeError, "collision: expected a shape, got 3"),
        (lambda b: b.joint("j", "fixed", "a", None), TypeError, "the child of joint 'j': expected a name"),
        (lambda b: b.joint("j", "fixed", "a", "b", axis="z"), TypeError, "joint 'j': axis: expected 3 numbers, got 'z'"),
        (lambda b: b.joint("j", "fixed", "a", "b", mimic=()), ValueError, "joint 'j': mimic: expected"),
        (lambda b: ModelBuilder(None), TypeError, "the robot: expected a name"),
        (lambda b: b.link("a", mass=1, sphere=1).build("hanging"), ValueError, "base: expected"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, words):
    with pytest.raises(error) as caught:
        call(ModelBuilder("b"))
    assert words in str(caught.value)


def test_names_need_not_be_tame():
    name = 'é <&> "quoted" \t[red]'
    robot = ModelBuilder(name).link(name, mass=1, sphere=1).description()
    assert robot.name == robot.root.name == name
    with pytest.raises(UrdfError, match="not well-formed XML"):
        ModelBuilder("b").link("bell\a").description()


@pytest.mark.parametrize("axes", ["alternating", "parallel"])
def test_chains(axes):
    model = chain(5, axes=axes)
    assert (model.nq, model.nv, model.n_bodies, model.is_floating) == (5, 5, 5, False)
    free = chain(5, base="floating", axes=axes, mass=2)
    assert (free.nq, free.nv, free.n_bodies, free.mass) == (11, 10, 5, 10)
    directions = {joint.axis for joint in model.description.joints}
    assert len(directions) == (2 if axes == "alternating" else 1)
    assert (model.constants[:, MASS] == 1).all()
    assert chain(1, base="floating").joints == ()


def test_a_chain_of_a_thousand():
    model = chain(1000)
    assert model.nv == 1000 and model.description.warnings == ()
    assert model.body_names[-1] == "rod_999" and (model.topology[:, 0] == np.arange(1000)).all()


@pytest.mark.parametrize("wrong", [{"n": 0}, {"n": 2, "base": "auto"}, {"n": 2, "axes": "x"}])
def test_chains_that_are_none(wrong):
    with pytest.raises(ValueError, match="expected"):
        chain(**wrong)
