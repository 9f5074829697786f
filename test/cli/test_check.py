# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim check`: every problem with its line, the right exit code, and never a traceback."""

import io
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from rich.console import Console

from mbsim_ros.cli.parts.check_json import as_json
from mbsim_ros.cli.parts.check_report import report
from mbsim_ros.model.assembly.checking import check_file
from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.parser import parse_urdf

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "test/model"
GOOD = MODELS / "good/leg.urdf"
ROBOT = '<robot name="r"><link name="a"/></robot>'
_SHARES = [Path(entry) / "cmeel.prefix/share/example-robot-data/robots" for entry in sys.path]
ROBOTS = next((share for share in _SHARES if share.is_dir()), Path("/nowhere"))
REAL = sorted(ROBOTS.rglob("*.urdf"))


def mbsim_check(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "check", *map(str, arguments)],
        capture_output=True, text=True, cwd=ROOT, timeout=120, env={**os.environ, "COLUMNS": "100", **environment},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def shown(check, width=100, **options):
    """What is printed about a file."""
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    report(check, console=console, **options)
    return console.file.getvalue()


def test_a_good_file():
    done = mbsim_check("urdf/double_pendulum.urdf")
    assert done.returncode == 0 and done.stderr == ""
    assert "3 links" in done.stdout and "2 joints" in done.stdout
    assert "double_pendulum: fixed base 'world', 2 bodies, 2 moving joints, nq = 2, nv = 2, 2 kg" in done.stdout
    assert done.stdout.endswith("Fine: 0 errors, 0 warnings.\n")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_a_broken_file_among_good_ones():
    file = "test/model/broken/many_problems.urdf"
    done = mbsim_check("urdf/double_pendulum.urdf", file)
    assert done.returncode == 1
    for line, words in (
        (5, "negative mass, -2 kg"),
        (12, "wrong count"),
        (13, "zero axis"),
        (20, "not a finite number"),
    ):
        assert any(text.startswith(f"error: {file}:{line}: ") and words in text for text in done.stdout.splitlines())
    assert "Not usable: 4 errors, 0 warnings." in done.stdout


def test_warnings_are_allowed_unless_strict():
    file = "test/model/imperfect/triangle_rule_with_box.urdf"
    done = mbsim_check(file, "--base", "fixed")
    assert done.returncode == 0
    assert (
        "warning: inertia breaks the triangle rule\n  line 20: link 'upper', principal moments 0.01 0.01 0.05"
        in done.stdout
    )
    assert "its collision shape, filled evenly, would have" in done.stdout
    assert 'ixx="0.01083" ixy="0" ixz="0" iyy="0.008333" iyz="0" izz="0.004167"' in done.stdout
    assert "fixed base 'base'" in done.stdout
    strict = mbsim_check(file, "--strict", "--brief")
    assert strict.returncode == 1
    assert "contact: 8 points of 1 link; it stands with its base at z = 0.04925 m on upper" in strict.stdout
    assert "Not usable (strict): 0 errors, 1 warning." in strict.stdout and "links" not in strict.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: FILE"),
        (["a:=1"], "no FILE given"),
        (["a.urdf", "--base", "flying"], "invalid choice: 'flying'"),
        (["a.urdf", "b.urdf", "--sidecar", "c.yaml"], "--sidecar goes with one FILE"),
        (["--frobnicate", "a.urdf"], "unrecognized arguments"),
    ],
)
def test_wrong_calls(arguments, words):
    done = mbsim_check(*arguments)
    assert done.returncode == 2 and words in done.stderr


def test_files_that_are_none(tmp_path):
    done = mbsim_check("missing.urdf", tmp_path, "missing.mbsim.yaml", "/dev/zero", "", "<robot", "no.xacro")
    assert done.returncode == 1
    assert "error: missing.urdf: file: cannot be read, No such file or directory" in done.stdout
    assert f"error: {tmp_path}: file: is a folder" in done.stdout
    assert "error: missing.mbsim.yaml: file: cannot be read" in done.stdout
    assert "error: /dev/zero: file: is not an ordinary file" in done.stdout


def test_hostile_files_are_refused_at_once(tmp_path):
    huge = tmp_path / "huge.urdf"
    with open(huge, "wb") as stream:
        stream.write(b'<robot name="r">')
        stream.truncate(100_000_000)
    bomb = tmp_path / "bomb.urdf"
    entities = ['<!ENTITY l0 "ha">'] + [f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12)]
    bomb.write_text(f'<?xml version="1.0"?>\n<!DOCTYPE robot [{"".join(entities)}]>\n<robot name="&l11;"/>')
    for file, line, words in (
        (huge, "", "too large for a URDF file"),
        (bomb, ":2", "DOCTYPE and entities are refused"),
    ):
        check_file(GOOD)  # imports are not what is measured
        start = time.process_time()
        text = shown(check_file(file))
        assert time.process_time() - start < 1.0
        assert f"error: {file}{line}: file: {words}" in text
        assert mbsim_check(file).returncode == 1


def test_a_terminal_is_not_told_what_to_do(tmp_path):
    path = tmp_path / "odd\x1b[31m[red].urdf"
    path.write_text(f'<robot name="[bold]r[/bold] :smile:"><link name="[/]a"/>{"<oops/>" * 3}</robot>')
    text = shown(check_file(path))
    assert "\x1b" not in text and "[red].urdf" in text
    assert "[bold]r[/bold] :smile:: floating base '[/]a'" in text


def test_output_that_is_not_utf8():
    done = mbsim_check(GOOD, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0 and "Fine" in done.stdout


def test_a_reader_that_goes_away():
    command = f"{sys.executable} -m mbsim_ros check {GOOD} --json | head -c 10"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr


def test_json_says_everything():
    done = mbsim_check("--json", GOOD, "test/model/broken/zero_axis.urdf", "test/model/imperfect/triangle_rule.urdf")
    data = json.loads(done.stdout)
    assert done.returncode == 1 and data["ok"] is False
    good, broken, imperfect = data["files"]
    assert good["ok"] and good["robot"]["nv"] == 9 and good["sidecar"].endswith("leg.mbsim.yaml")
    assert [joint["iv"] for joint in good["joints"]] == [7, 8, 6, None]
    assert sum(link["contact_points"] for link in good["links"]) == 20
    assert good["joints"][0]["axis"] == [0.0, 0.0, 1.0]
    assert good["links"][0]["principal_moments"] == pytest.approx([0.0399, 0.0501, 0.06], rel=1e-2)
    assert good["ignored_tags"] == {"gazebo": 1, "joint/safety_controller": 1, "transmission": 1}
    assert not broken["ok"] and broken["robot"] is None and broken["errors"][0]["rule"] == "zero axis"
    assert broken["errors"][0]["line"] > 0
    assert imperfect["ok"] and imperfect["warnings"][0]["rule"] == "inertia breaks the triangle rule"
    assert imperfect["links"][1]["suggestion"]["from"].startswith("a ball of 1000 kg/m³")


def test_the_sidecar_is_checked_too(tmp_path):
    bad = "test/model/sidecars_broken/coupling_unknown_joint.yaml"
    done = mbsim_check(GOOD, "--sidecar", bad)
    assert done.returncode == 1
    assert f"error: {bad}:4: couplings 'normal': unknown joint, 'kne', did you mean 'knee'?" in done.stdout
    (tmp_path / "leg.urdf").write_text(GOOD.read_text())
    (tmp_path / "leg.mbsim.yaml").write_text("damping: {kne: 1}\n")
    assert "leg.mbsim.yaml:1: damping: unknown joint, 'kne'" in shown(check_file(tmp_path / "leg.urdf"))


def test_a_sidecar_alone(tmp_path):
    found = check_file(MODELS / "good/leg.mbsim.yaml")
    assert found.is_fine() and "names were checked against" in found.sidecar_note
    path = tmp_path / "lonely.mbsim.yaml"
    path.write_text("damping: {knee: -1}\n")
    text = shown(check_file(path))
    assert "lonely.mbsim.yaml:1: damping: number out of range" in text
    assert "names were not checked: no lonely.urdf lies beside it" in text
    (tmp_path / "lonely.urdf").write_text("<robot>")
    assert "lonely.urdf could not be read" in shown(check_file(path))


def test_a_broken_robot_and_its_broken_sidecar(tmp_path):
    (tmp_path / "r.urdf").write_text('<robot name="r"><link/></robot>')
    (tmp_path / "r.mbsim.yaml").write_text("dampign: {}\n")
    found = check_file(tmp_path / "r.urdf")
    assert [problem.rule for problem in found.errors] == ["missing link name", "unknown key"]
    assert "names in it were not checked" in shown(found)


def test_xacro_files_and_their_arguments(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "r.urdf.xacro"
    inertial = '<inertial><mass value="$(arg m)"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m" default="-3"/>'
    path.write_text(f'{head}<link name="a">{inertial}</link></robot>')
    assert "negative mass, -3 kg" in mbsim_check(path).stdout
    done = mbsim_check(path, "m:=7")
    assert done.returncode == 0 and "7 kg" in done.stdout


@pytest.mark.parametrize(
    ("inertial", "shape", "doubt"),
    [
        ("0 0 0|1|0.4 0.4 0.4", "sphere radius='0.1'", "inertia of a much larger body than its shape"),
        ("0 0 0|1|1e-6 1e-6 1e-6", "box size='0.2 0.2 0.2'", "inertia of a much smaller body than its shape"),
        ("1 0 0|1|1e-2 1e-2 1e-2", "box size='0.2 0.2 0.2'", "centre of mass outside its shape"),
        ("0 0 0|900|2 2 2", "cylinder radius='0.1' length='0.2'", "density 1.43e+05 kg/m³ in its shape"),
        ("0 0 0|8|0.05 0.05 0.05", "capsule radius='0.1' length='0.2'", ""),
    ],
)
def test_doubts_about_possible_inertias(inertial, shape, doubt, tmp_path):
    xyz, mass, moments = inertial.split("|")
    xx, yy, zz = moments.split()
    path = tmp_path / "r.urdf"
    path.write_text(
        f'<robot name="r"><link name="a"><inertial><origin xyz="{xyz}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
        f"<collision><geometry><{shape}/></geometry></collision></link></robot>"
    )
    found = check_file(path)
    assert found.warnings == () and found.masses[0].doubts == ((doubt,) if doubt else ())
    assert (found.masses[0].suggestion is None) == (not doubt)
    assert (doubt in shown(found)) and found.is_fine(strict=True)


@pytest.mark.parametrize(("moment", "is_odd"), [(0.01, True), (1e-5, False)])
def test_an_inertia_that_does_not_fit_into_its_mesh(moment, is_odd, tmp_path):
    """13 g within 3 cm: 1e-5 kg m² at most, and placeholders of 0.01 are common."""
    corners = [f"v {x} {y} {z}" for x in (0, 0.03) for y in (0, 0.03) for z in (0, 0.03)]
    (tmp_path / "cube.obj").write_text("\n".join([*corners, "f 1 2 3 4"]))
    path = tmp_path / "r.urdf"
    path.write_text(
        f'<robot name="r"><link name="a"><inertial><mass value="0.013"/><inertia ixx="{moment}" ixy="0" ixz="0" '
        f'iyy="{moment}" iyz="0" izz="{moment}"/></inertial><collision><geometry><mesh filename="cube.obj"/></geometry>'
        "</collision></link></robot>"
    )
    assert ("inertia of a much larger body than its mesh" in shown(check_file(path))) == is_odd


@pytest.mark.parametrize("folder", ["broken", "imperfect", "good", "sidecars_broken"])
def test_the_corpus_is_reported_with_every_line(folder):
    for path in sorted((MODELS / folder).iterdir()):
        found = check_file(GOOD, sidecar=path) if folder == "sidecars_broken" else check_file(path)
        text = shown(found, width=80)
        assert found.is_fine() == (folder in ("imperfect", "good")), path
        for problem in found.errors:
            assert f"error: {str(problem).strip()}" in text
        for problem in found.warnings:
            assert f"line {problem.line}: " in text and problem.rule in text
        json.dumps(as_json(found), allow_nan=False)


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="example-robot-data is not installed")
def test_every_real_robot_is_shown():
    for path in REAL:
        found = check_file(path, package_dirs=[ROBOTS.parents[1]])
        assert found.is_fine() == (path.name != "ur3.urdf"), path
        assert ("Fine" if found.is_fine() else "Not usable") in shown(found)
        json.dumps(as_json(found), allow_nan=False)
        if found.model is not None:
            assert len(str(found.model).splitlines()) <= 60


@pytest.mark.parametrize("path", [*sorted((MODELS / "broken").iterdir()), *REAL], ids=lambda path: path.name)
def test_the_parser_raises_nothing_but_urdf_errors(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parse_urdf(path)
        except UrdfError as error:
            assert error.problems


def test_a_robot_of_ten_thousand_links(tmp_path):
    links = "".join(f'<link name="l{i}"/>\n' for i in range(10_000))
    joint = '<joint name="j{0}" type="fixed"><parent link="l{1}"/><child link="l{0}"/></joint>\n'
    path = tmp_path / "long.urdf"
    path.write_text(f'<robot name="r">{links}{"".join(joint.format(i, i - 1) for i in range(1, 10_000))}</robot>')
    start = time.process_time()
    text = shown(check_file(path))
    assert time.process_time() - start < 60
    assert "… and 9500 more" in text and len(text.splitlines()) < 2000
