# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The sidecar: what it may say, and what it is told when it says something else."""

import math
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.name_patterns import BadPattern, matching
from mbsim_ros.model.sidecar.parser import MAX_BYTES, SECTIONS, find_sidecar, load_sidecar, parse_sidecar
from mbsim_ros.model.sidecar.settings import (
    Attachment,
    ContactSettings,
    Coupling,
    Gains,
    Sidecar,
    Terrain,
    with_sidecar,
)
from mbsim_ros.model.states import state_vectors
from mbsim_ros.model.urdf.parser import parse_urdf

FOLDER = Path(__file__).parent
ODD = ["", "{", "}", "[", "]", ":", "\n", "- ", "*a", "&a ", "!!int ", "~", "nan", "x", "1"]
GOOD = FOLDER / "good" / "leg.mbsim.yaml"
LEG = parse_urdf(FOLDER / "good" / "leg.urdf", strict=True)

# File -> every problem it must report against the robot `leg`: line, and how the message goes on after the name.
BROKEN = {
    "base_unknown": [(1, "neither floating nor fixed, 'floatin', did you mean 'floating'?")],
    "contact_dynamic_above_static": [(3, "dynamic friction above static, 0.6 > 0.5")],
    "contact_friction_twice": [(2, "friction given twice, friction, friction_static")],
    "contact_negative_friction": [(2, "number out of range, friction: -0.1")],
    "contact_not_a_number": [
        (2, "not a finite number, stiffness: 'high'"),
        (3, "not a finite number, damping: '.nan'"),
        (4, "not a finite number, friction: '0,8'"),
    ],
    "contact_points_not_vectors": [
        (3, "wrong count of numbers, point: 2"),
        (4, "not a list, '0'"),
        (4, "not a list, '0'"),
        (4, "not a list, '1'"),
    ],
    "contact_quoted_number": [(2, "not a finite number, friction: '0.8'")],
    "contact_unknown_key": [(3, "unknown key, 'frictoin'")],
    "contact_unknown_link": [(3, "unknown link, 'feet'")],
    "contact_zero_penetration": [(2, "number out of range, max_penetration: 0")],
    "coupling_driven_and_locked": [(5, "joint both driven and locked, 'knee'")],
    "coupling_idle_motor": [(4, "motor drives nothing, 'drive'")],
    "coupling_locked_twice": [(3, "joint locked twice, 'knee'")],
    "coupling_locks_a_mimic_joint": [(4, "joint mimics another, 'ankle'")],
    "coupling_motor_named_like_a_joint": [(4, "motor named like a free joint, 'knee'")],
    "coupling_not_a_mapping": [(2, "not a mapping, a list")],
    "coupling_unknown_joint": [(4, "unknown joint, 'kne'")],
    "coupling_zero_ratio": [(4, "ratio of zero, knee")],
    "damping_not_a_mapping": [(1, "not a mapping, '0.1'")],
    "feet_unknown": [
        (2, "unknown link, 'food', did you mean 'foot'?"),
        (3, "pattern without a link, '.*_hoof'"),
        (4, "foot without a collision shape, 'thigh', list its points under contact.points"),
    ],
    "pattern_without_a_joint": [
        (2, "pattern without a joint, 'kne[f]', did you mean 'knee'?"),
        (2, "number out of range, kd: -1"),
        (3, "not a usable pattern, '[a', a [ that is no set of characters"),
        (3, "not a usable pattern, '(a*)*', groups may not repeat"),
        (3, "not a usable pattern, 'a{2}', '{' has no meaning here"),
        (6, "position outside the limits, z_hip: 9"),
        (6, "position outside the limits, knee: 9"),
    ],
    "gains_negative": [(2, "number out of range, kp: -1")],
    "gains_without_values": [(2, "missing key, 'kp'"), (3, "unknown key, 'ki'")],
    "list_at_the_top": [(1, "not a mapping, a list")],
    "merge_key": [(4, "unknown key, '<<'"), (4, "missing key, 'kp'")],
    "not_yaml": [(2, "not YAML")],
    "python_object": [(1, "not a mapping, a list")],
    "rotor_inertia_negative": [(2, "number out of range, knee: -0.1")],
    "rotor_inertia_unknown": [(2, "unknown joint or motor, 'motor_7'")],
    "section_twice": [(3, "key given twice, 'damping'")],
    "spring_incomplete": [(3, "missing key, 'to'"), (3, "missing key, 'rest_length'")],
    "spring_negative": [
        (5, "number out of range, stiffness: -100"),
        (6, "number out of range, rest_length: -0.1"),
        (7, "not true or false, tension_only: 'maybe'"),
    ],
    "spring_unknown_link": [(3, "unknown link, 'thihg'")],
    "spring_within_one_link": [(3, "spring within one link, 'foot'")],
    "spring_without_link": [(3, "missing key, 'link'")],
    "state_base_vector": [
        (4, "wrong count of numbers, xyz: 2"),
        (5, "not a list, '1'"),
        (6, "unknown key, 'quaternion'"),
    ],
    "state_outside_limits": [(4, "position outside the limits, knee: 0.5")],
    "state_unknown_joint": [(3, "unknown joint, 'elbow'"), (4, "unknown joint, 'wrist'")],
    "tab_indentation": [(2, "not YAML")],
    "terrain_file_missing": [(4, "table not found, 'hills.npy'")],
    "terrain_file_outside": [(4, "table outside the folder, '../../secret.csv'")],
    "terrain_incline_without_angle": [(1, "missing key, 'angle'")],
    "terrain_key_of_other_type": [(3, "unknown key, 'angle'")],
    "terrain_no_heights": [(2, "heights or file, neither")],
    "terrain_ragged_heights": [(6, "rows of different length, 2 numbers")],
    "terrain_too_steep": [(3, "number out of range, angle: 10")],
    "terrain_unknown_type": [(2, "unknown terrain type, 'inclined'")],
    "terrain_without_type": [(2, "missing key, 'type'")],
    "terrain_zero_spacing": [(3, "number out of range, spacing: 0")],
    "two_documents": [(2, "not YAML")],
    "unknown_section": [(2, "unknown key, 'coupling'")],
    "unknown_section_key_type": [(1, "not a name, a list")],
}


def test_the_table_covers_the_folder():
    assert {path.stem for path in (FOLDER / "sidecars_broken").iterdir()} == set(BROKEN)
    assert len(BROKEN) >= 20


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_sidecar_is_refused_with_every_problem(name):
    path = FOLDER / "sidecars_broken" / f"{name}.yaml"
    with pytest.raises(SidecarError) as caught:
        load_sidecar(path, LEG)
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(BROKEN[name]), "\n".join(found)
    for text, (line, words) in zip(found, BROKEN[name], strict=True):
        assert text.startswith(f"{path}:{line}: "), text
        assert f": {words}" in text, text


def test_every_section_is_read():
    sidecar = load_sidecar(GOOD, LEG)
    points = {"foot": ((0.0, 0.0, -0.03), (0.01, 0.0, -0.03))}
    assert sidecar.contact == ContactSettings(1e-3, 1.0, 0.8, 0.8, None, None, points)
    assert sidecar.couplings["normal"] == Coupling("normal", {"drive": {"z_hip": 1.0, "knee": -2.0}}, ("a_wheel",))
    assert sidecar.couplings["free"] == Coupling("free")
    spring = sidecar.springs["calf"]
    assert spring.points[1:] == (Attachment("shin", (0.02, 0.0, 0.0)), Attachment("foot", (0.0, 0.0, 0.0)))
    assert (spring.stiffness, spring.rest_length, spring.damping, spring.tension_only) == (4000, 0.2, 5, True)
    home = sidecar.initial_states["home"]
    assert home.joints == {"z_hip": 0.3, "knee": -0.6} and home.velocities == {"z_hip": 0.1}
    assert (home.base_xyz, home.base_linear, home.base_angular) == ((0, 0, 0.5), (1, 0, 0), (0, 0, 0))
    assert sidecar.gains == {"knee": Gains(80, 2), "drive": Gains(10, 1)}
    assert sidecar.rotor_inertia == {"drive": 0.01, "knee": 0.002}
    assert sidecar.terrain == Terrain("incline", 0.0, 0.1, 1.57)


def test_joints_of_several_axes_are_placed_by_lists():
    """Turns as roll, pitch and yaw, velocities as v has them; how many numbers there are follows from the joint."""
    builder = ModelBuilder("free").link("world")
    for kind in ("spherical", "planar", "floating"):
        builder.link(kind, mass=1.0, sphere=0.1).joint(f"of_{kind}", kind, "world", kind)
    robot = builder.description()
    text = """
        initial_states:
          home:
            joints: {of_spherical: [0, 0, 1.2], of_planar: [1, 2, 0.5], of_floating: [1, 2, 3, 1.2, 0, 0]}
            velocities: {of_spherical: [1, 2, 3], of_planar: [4, 5, 6], of_floating: [1, 2, 3, 4, 5, 6]}
        """
    model = make_model(robot, "fixed", parse_sidecar(text, robot))
    q, v = state_vectors(model, model.sidecar.initial_states["home"])
    half = [math.sin(0.6), math.cos(0.6)]
    assert q.tolist() == [1, 2, 3, half[0], 0, 0, half[1], 1, 2, 0.5, 0, 0, *half]  # by name: floating, planar, …
    assert v.tolist() == [1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3]
    assert parse_sidecar(text).initial_states["home"].joints["of_planar"] == (1, 2, 0.5)
    with pytest.raises(SidecarError) as caught:
        parse_sidecar("initial_states: {home: {joints: {of_spherical: [1, 2], of_planar: 1}}}", robot)
    problems = [str(problem) for problem in caught.value.problems]
    assert "wrong count of numbers, position of of_spherical: 2, 3 numbers are expected" in problems[0]
    assert "not a list, '1'" in problems[1] and len(problems) == 2


def test_a_pattern_means_every_joint_that_it_matches():
    text = """
        gains: {knee: {kp: 9, kd: 9}, ".*e.*": {kp: 1, kd: 1}, "(z_hip|a_.*)": {kp: 2, kd: 2}, "driv[e]": {kp: 3, kd: 3}}
        damping: {".*_(hip|wheel)": 0.5}
        couplings: {normal: {motors: {drive: {z_hip: 1}}}}
        feet: ["f.*"]
        base: fixed
        initial_states: {home: {joints: {".*(hip|knee)": 0.2, knee: -0.1}}}
        """
    sidecar = parse_sidecar(text, LEG)
    assert {name: gains.kp for name, gains in sidecar.gains.items()} == {
        "knee": 9, "a_wheel": 2, "z_hip": 2, "drive": 3,
    }  # fmt: skip
    assert sidecar.damping == {"z_hip": 0.5, "a_wheel": 0.5}
    assert (sidecar.feet, sidecar.base) == (("foot",), "fixed")
    assert sidecar.initial_states["home"].joints == {"z_hip": 0.2, "knee": -0.1}


@given(st.text("ab.*+?|()[]^", max_size=8), st.lists(st.text("ab^", max_size=6), min_size=3, max_size=3))
def test_patterns_mean_what_regular_expressions_mean(pattern, names):
    try:
        found = matching(pattern, names)
    except BadPattern:
        return
    expression = re.compile(pattern)
    assert found == [name for name in names if expression.fullmatch(name)]


def test_no_pattern_takes_long():
    """Each of these takes Python longer than anybody lives."""
    for pattern in ("a?" * 30 + "a" * 30 + "b", "(a|a)" * 19 + "b", "a*" * 40 + "b"):
        assert matching(pattern, ["a" * 64] * 20) == []


def test_names_are_not_checked_without_a_robot():
    assert parse_sidecar("damping: {anything: 1}").damping == {"anything": 1.0}


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "".join(f"{section}:\n" for section in SECTIONS[:-1])])
def test_an_empty_sidecar_leaves_everything_open(text):
    sidecar = parse_sidecar(text)
    assert sidecar in (Sidecar(), Sidecar(contact=ContactSettings()))


def test_names_and_numbers_are_read_as_written():
    sidecar = parse_sidecar("damping: {on: 1e-3, 12: 5, null: .5}")
    assert sidecar.damping == {"on": 1e-3, "12": 5.0, "null": 0.5}


def test_one_friction_of_two_stands_for_both():
    contact = parse_sidecar("contact: {friction_static: 0.7}").contact
    assert contact is not None and (contact.friction_static, contact.friction_dynamic) == (0.7, 0.7)


def test_a_motor_without_joints_may_have_a_rotor():
    sidecar = parse_sidecar("couplings: {a: {motors: {drive: {}}}}\nrotor_inertia: {drive: 0.1}", LEG)
    assert sidecar.couplings["a"].motors == {"drive": {}}


def test_heightfields_inline_and_from_a_file(tmp_path):
    table = "terrain: {type: heightfield, spacing: 0.5, heights: [[0, 1], [2, 3]], origin: [1, 2]}"
    assert parse_sidecar(table).terrain == Terrain("heightfield", heights=((0, 1), (2, 3)), spacing=0.5, origin=(1, 2))
    (tmp_path / "hills.csv").write_text("0,1\n2,3\n")
    (tmp_path / "a.mbsim.yaml").write_text("terrain: {type: heightfield, spacing: 1, file: hills.csv}")
    assert load_sidecar(tmp_path / "a.mbsim.yaml").terrain.file == (tmp_path / "hills.csv").resolve()


def test_damping_and_rotor_inertia_reach_the_joints():
    robot = with_sidecar(LEG, load_sidecar(GOOD, LEG))
    assert robot.joint("z_hip").damping == 0.3
    assert robot.joint("ankle").damping == 1.0
    assert robot.joint("knee").rotor_inertia == 0.002
    assert robot.joint("knee").damping == LEG.joint("knee").damping


def test_a_sidecar_is_found_beside_its_robot_and_in_config(tmp_path):
    assert find_sidecar(FOLDER / "good" / "leg.urdf") == GOOD
    (tmp_path / "urdf").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "arm.mbsim.yaml").write_text("")
    assert find_sidecar(tmp_path / "urdf" / "arm.urdf.xacro") == tmp_path / "config" / "arm.mbsim.yaml"
    assert find_sidecar(tmp_path / "urdf" / "other.urdf") is None


def _alias_bomb():
    lines = ["contact:", "  points:", "    a: &a [[0, 0, 0]]"]
    lines += ["    b: &b [" + ", ".join(["[0, 0, 0]"] * 2000) + "]"]
    return "\n".join(lines + [f"    c{i}: *b" for i in range(5000)])


@pytest.mark.parametrize(
    "text, words",
    [
        (_alias_bomb(), "too many values"),
        ("[" * 20_000, "nested too deeply"),
        ("contact: &a [*a]", "not a mapping"),
        (b"\xff\xfe\x00\x01\x80", "not text"),
        (b"\x00\x01\x02", "not text"),
        ("a" * (MAX_BYTES + 1), "too large for a sidecar file"),
    ],
)
def test_hostile_text_is_refused_quickly(text, words):
    start = time.process_time()
    with pytest.raises(SidecarError, match=words):
        parse_sidecar(text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("path", ["/no/such/file.yaml", FOLDER, "", "a\nb", "/dev/null"])
def test_paths_that_are_no_files(path):
    with pytest.raises(SidecarError):
        load_sidecar(path)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_only_sidecar_errors_escape(data):
    text = GOOD.read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        piece = data.draw(st.sampled_from(ODD))
        text = text[:start] + piece + text[end:]
    try:
        assert isinstance(parse_sidecar(text, LEG), Sidecar)
    except SidecarError as error:
        assert error.problems and all(math.isfinite(problem.line) for problem in error.problems)
