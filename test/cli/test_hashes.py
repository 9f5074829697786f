# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The table of hashes: another process makes the same, and a last bit makes another."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from mbsim_ros.cli.main import main
from mbsim_ros.cli.parts import run_hashes


def test_another_process_makes_the_same_hashes(tmp_path, capsys):
    file = tmp_path / "hashes.json"
    command = [sys.executable, "-m", "mbsim_ros", "hashes", "--short", "--json", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    assert main(["hashes", "--short", "--compare", str(file)]) == 0
    assert "0 of 4 changed" in capsys.readouterr().out
    before = json.loads(file.read_text())
    assert len(set(before.values())) == 4
    file.write_text(json.dumps({**before, "arm, drives": "0" * 64}))
    assert main(["hashes", "--short", "--only", "arm", "--compare", str(file)]) == 1
    assert "CHANGED" in capsys.readouterr().out


def test_the_last_bit_of_one_number_makes_another_hash(monkeypatch):
    before = run_hashes.box_drop("lie_variational", 0.01)
    reset = run_hashes.Simulation.reset

    def a_bit_higher(sim, q=None, v=None):
        reset(sim, q if q is None else [*q[:2], np.nextafter(q[2], 1.0), *q[3:]], v)

    monkeypatch.setattr(run_hashes.Simulation, "reset", a_bit_higher)
    assert run_hashes.box_drop("lie_variational", 0.01) != before


def test_a_file_that_is_none_of_hashes_is_refused(tmp_path, capsys):
    file = tmp_path / "hashes.json"
    file.write_text("[1, 2]")
    try:
        main(["hashes", "--compare", str(file)])
    except SystemExit as end:
        assert end.code == 2
    assert "is not a file of `mbsim hashes --json`" in capsys.readouterr().err
