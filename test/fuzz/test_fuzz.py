# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim soak --fuzz` in its short form, and whether it sees what it is there for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mbsim_ros.contact.mesh_faces import read_parts
from mbsim_ros.contact.mesh_points import read_vertices
from mbsim_ros.fuzz import runner
from mbsim_ros.fuzz.families import FAMILIES, case, family, makers
from mbsim_ros.fuzz.mesh_seeds import DAE, OBJ, STL_BYTES, STL_TEXT
from mbsim_ros.fuzz.mjcf import ROBOT as MJCF
from mbsim_ros.fuzz.seeds import HOPPER, HOPPER_SIDECAR, LAUNCH, PENDULUM, SIDECAR, TERRAINS, URDFS
from mbsim_ros.fuzz.verdict import ACCEPTED, FAILED, REFUSED, judged, refuse_not_finite
from mbsim_ros.launcher.plan import plan_launch
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

SHORT = {"urdf": 400, "files": 150, "api": 150, "bags": 60, "snapshots": 100, "meshes": 300, "mjcf": 100}


def test_the_seeds_are_valid(tmp_path):
    for text in (*URDFS, MJCF):
        load_urdf(text)
    for ending, content in ((".stl", STL_TEXT), (".stl", STL_BYTES), (".obj", OBJ), (".dae", DAE.encode())):
        mesh = tmp_path / f"mesh{ending}"
        mesh.write_bytes(content)
        assert sum(len(part.faces) for part in read_parts(mesh)) == 6 and len(read_vertices(mesh)) >= 5
    for robot, text in ((PENDULUM, SIDECAR), (HOPPER, HOPPER_SIDECAR)):
        parse_sidecar(text, parse_urdf(robot))
    for text in TERRAINS:
        chosen_terrain(text)
    file = tmp_path / "seed.launch.xml"
    file.write_text(LAUNCH)
    assert len(plan_launch(file, {}).nodes) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_no_defect_in_the_short_form(name, tmp_path):
    """Both outcomes that are right have to be among the cases: material that is always refused tries nothing."""
    maker = makers(name, tmp_path)
    kinds = set()
    for number in range(SHORT[name]):
        verdict = judged(case(maker, name, 0, number).run)
        assert verdict.kind != FAILED, f"mbsim soak --fuzz --only {name}:{number}\n{verdict.text}"
        kinds.add(verdict.kind)
    assert kinds == {ACCEPTED, REFUSED}


def test_every_family_without_ros_is_in_the_short_form():
    assert {each.name for each in FAMILIES if each.home} == set(SHORT)
    assert sum(each.cases for each in FAMILIES) == 205_000


def test_a_case_is_the_same_again(tmp_path):
    made = [case(makers("urdf", tmp_path), "urdf", 5, number).given for number in (3, 3, 4)]
    assert made[0] == made[1] != made[2]


def test_an_undocumented_error_is_a_defect():
    def raises(error: Exception) -> None:
        raise error

    assert judged(lambda: raises(ValueError("of a library"))).kind == FAILED  # not by a line of the package
    assert judged(lambda: raises(MemoryError())).kind == FAILED
    assert judged(lambda: refuse_not_finite("q", [float("nan")])).kind == FAILED
    assert judged(lambda: load_urdf("<robot/>")).kind == REFUSED
    assert judged(lambda: family("none")).kind == REFUSED


def test_it_goes_on_after_crashes_and_hangs(monkeypatch):
    """Case 2 ends its process, case 5 computes for ever, case 6 fails."""
    monkeypatch.setattr(runner, "worker_of", lambda name: "crashing_worker")
    monkeypatch.setattr(runner, "HANG", 0.5)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    told: list[int] = []
    found = runner.fuzz("any", 0, range(9), 2, told.append)
    assert [number for number, _ in found.failures] == [2, 5, 6]
    assert [text for _, text in found.failures] == ["the process ended with 7", "it hangs", "seen"]
    assert not found.is_well
    assert max(told) <= 9


@pytest.mark.slow
def test_a_single_case_is_shown():
    command = [sys.executable, "-m", "mbsim_ros", "soak", "--fuzz", "--only", "urdf:3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'name="hopper"' in done.stdout
    assert "refused: UrdfError" in done.stdout
    done = subprocess.run([*command[:-1], "moon:3"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no family 'moon': there are urdf, files" in done.stderr
