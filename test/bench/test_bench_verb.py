# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim bench` runs and writes what it says. How fast anything is, no test judges."""

from __future__ import annotations

import importlib.util
import json

import pytest

from mbsim_ros.bench import cases, warm_up
from mbsim_ros.bench.peers import pinocchio as pinocchio_peer
from mbsim_ros.bench.result import NoProgress, Options
from mbsim_ros.bench.suite_table import SUITES
from mbsim_ros.bench.suites import dynamics as dynamics_suite
from mbsim_ros.bench.timing import Timing
from mbsim_ros.bench.works import WORKS
from mbsim_ros.cli.main import main

with_pinocchio = pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed")


def bench(tmp_path, *arguments):
    file = tmp_path / "bench.json"
    assert main(["bench", *arguments, "--quick", "--json", str(file)]) == 0
    return json.loads(file.read_text())


def test_dynamics_suite(tmp_path, capsys):
    written = bench(tmp_path, "dynamics")
    assert set(written) == {"schema", "version", "commit", "date", "machine", "suites"}
    assert {"cpu", "cores", "python", "numba", "llvm", "numpy", "peers"} <= set(written["machine"])
    suite = written["suites"]["dynamics"]
    assert set(suite) == {"measurements", "goals", "notes"}
    for record in suite["measurements"]:
        assert set(record) == {
            "function", "case", "dofs", "contender", "median_us", "low_us", "high_us", "batches", "calls_per_batch",
        }  # fmt: skip
        assert 0 < record["low_us"] <= record["median_us"] <= record["high_us"]
    assert {record["contender"] for record in suite["measurements"]} == {"compiled", "public"}
    assert {record["function"] for record in suite["measurements"]} == {work.name for work in WORKS}
    assert {record["case"] for record in suite["measurements"]} == {"walker", "chain 3", "chain 10", "chain 30"}
    shown = capsys.readouterr().out
    assert "forward_dynamics" in shown
    assert "walker" in shown


@with_pinocchio
def test_ratios_come_from_the_medians(tmp_path):
    suite = bench(tmp_path, "dynamics", "--peers")["suites"]["dynamics"]
    median = {(r["function"], r["case"], r["contender"]): r["median_us"] for r in suite["measurements"]}
    goals = {goal["what"]: goal["measured"] for goal in suite["goals"]}
    for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        compiled, public, peer = (median[function, "walker", who] for who in ("compiled", "public", "pinocchio"))
        assert goals[f"{function}, walker: faster than Pinocchio"] == pytest.approx(peer / compiled)
        assert goals[f"{function}, walker: public call over Pinocchio's"] == pytest.approx(public / peer)


def test_start_suite(tmp_path):
    suite = bench(tmp_path, "start")["suites"]["start"]
    assert [record["what"] for record in suite["measurements"]] == [
        "import mbsim_ros", "import of the whole core", "first calls",
    ]  # fmt: skip
    assert all(record["wall_s"] > 0 for record in suite["measurements"])
    assert suite["measurements"][-1]["calls_s"]["forward_dynamics"] > 0


def test_list_and_mistakes(capsys, tmp_path):
    assert main(["bench", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(SUITES)
    with pytest.raises(SystemExit):
        main(["bench", "dynamic"])
    assert "no suite named dynamic; there are: dynamics" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["bench", "--json", str(tmp_path / "nowhere" / "bench.json")])
    assert "there is no folder" in capsys.readouterr().err


def test_robots_that_are_not_installed_are_noted(monkeypatch):
    monkeypatch.setattr(cases, "robots_folder", lambda: None)
    found, notes = cases.all_cases()
    assert [case.name for case in found] == ["walker", *(f"chain {n}" for n in cases.CHAINS)]
    assert notes == ["ANYmal, Talos, Panda skipped: pip install example-robot-data"]


def test_peers_that_are_not_installed_are_noted(monkeypatch):
    monkeypatch.setattr(pinocchio_peer, "is_installed", lambda: False)
    monkeypatch.setattr(
        dynamics_suite, "interleave", lambda contenders, *_: {c.name: Timing(1, 1, 1, 1, 1) for c in contenders}
    )
    result = dynamics_suite.run(Options(peers=True, quick=True), NoProgress())
    assert "peers skipped: pip install pin" in result.notes


def test_the_walker_has_the_size_it_stands_for():
    found, _ = cases.all_cases(quick=True)
    assert found[0].name == "walker"
    assert found[0].model.nv == 23
    assert found[0].model.n_bodies == 18


def test_warming_up_compiles_every_kernel_of_the_core():
    told = []
    seconds = warm_up.compile_all(lambda done, total, name: told.append((done, total, name)))
    kernels = warm_up.kernels()
    assert len(kernels) > 30
    assert [name for name, kernel in kernels.items() if not kernel.overloads] == []
    assert told[0][0] == 0
    assert told[-1] == (len(seconds), len(seconds), "")
