# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker's experiments: what they claim, against limits that do not come from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mbsim_ros.experiments.experiment import Experiment, find
from mbsim_ros.experiments.nelson import clutch as nelson_clutch, walker as nelson_walker
from mbsim_ros.experiments.writing import write


def quiet(share, what):
    assert 0.0 <= share <= 1.0 and what


@pytest.fixture(scope="module")
def walker_outcome():
    return nelson_walker.run(quiet)


@pytest.fixture(scope="module")
def clutch_outcome():
    return nelson_clutch.run(quiet)


def test_walker_metrics(walker_outcome):
    metrics = walker_outcome.metrics
    assert metrics["largest difference of accelerations, relative"] <= 1e-9
    assert metrics["walk: velocity [m/s]"] >= 0.20
    assert metrics["backward: velocity [m/s]"] <= -0.20
    assert metrics["fast: velocity [m/s]"] >= 0.45
    assert metrics["turn: turn [rad/s]"] >= 0.1
    for gait in nelson_walker.GAITS:
        assert metrics[f"{gait}: largest roll or pitch [rad]"] <= 0.01
        assert metrics[f"{gait}: clearance of the swinging feet [mm]"] >= 40.0
        assert metrics[f"{gait}: energy left over / turned over"] < 1e-4
    assert metrics["walk: sideways drift / way"] <= 0.02


def test_printed_values_are_those_of_the_paper(walker_outcome):
    differs = [key for key, value in walker_outcome.printed.items() if walker_outcome.metrics[key] != value]
    assert differs == ["generalised coordinates"]  # 11, as the printed D3 itself has it; a note says so
    assert any("11" in note for note in walker_outcome.notes)


def test_femurs_carry_the_weight(walker_outcome):
    """Standing still on one frame, N's virtual work: the motor's torque times dφ lifts the weight by l cos φ dφ."""
    carries = 0.2 * 9.81 * walker_outcome.metrics["mass [kg]"]
    share = np.sqrt(0.5)  # each frame stands half of the time
    for frame in "AB":
        mean = walker_outcome.metrics["turn: torques, root mean square [N m]"][f"femur {frame}"]
        assert mean == pytest.approx(share * carries, rel=0.2)


def test_cost_of_transport_is_the_ledgers_work(walker_outcome):
    metrics = walker_outcome.metrics
    for gait in nelson_walker.GAITS:
        assert metrics[f"{gait}: work of the motors / booked work"] == pytest.approx(1.0, abs=0.005)
    for gait in nelson_walker.STRAIGHT:
        net, positive = (metrics[f"{gait}: cost of transport, {what} work"] for what in ("net", "positive"))
        assert 0.0 < net < positive


def test_clutch_metrics(clutch_outcome):
    metrics = clutch_outcome.metrics
    assert metrics["largest change of momentum by a clutch, relative"] <= 1e-12
    assert metrics["requests"] >= nelson_clutch.REQUESTS
    assert metrics["engaged"] + metrics["refused"] == metrics["requests"]
    assert sum(metrics["refused because"].values()) == metrics["refused"]
    assert metrics["lost in clutches [J]"] > 0.1
    assert metrics[nelson_clutch.BY_ENERGIES] <= 1e-9
    assert metrics["largest error of a promised loss [J]"] <= 1e-9
    assert metrics["largest loss of a soft one [J]"] <= 0.01 < metrics["largest loss of one [J]"]
    assert metrics["largest roll or pitch [rad]"] <= 0.01
    assert metrics["velocity afterwards [m/s]"] >= 0.20
    assert metrics["everything finite"] is True


def test_clutching_keeps_it_level_on_a_plate(clutch_outcome):
    metrics = clutch_outcome.metrics
    rigid, braked = "plate, rigid coupling", "plate, legs braked at touch-down"
    share = "all feet of the frame that stands carry, share of time"
    assert metrics[f"{rigid}: largest roll [rad]"] >= 0.05
    assert metrics[f"{braked}: largest roll [rad]"] <= 0.01
    assert metrics[f"{rigid}: {share}"] < 0.8 <= metrics[f"{braked}: {share}"]
    assert metrics[f"{braked}: lost in clutches [J]"] > 0.0


@pytest.mark.parametrize("name", ["nelson-walker", "nelson-clutch"])
def test_files(name, walker_outcome, clutch_outcome, tmp_path):
    outcome = {"nelson-walker": walker_outcome, "nelson-clutch": clutch_outcome}[name]
    experiment = find(name)
    assert isinstance(experiment, Experiment)
    files = write(tmp_path, experiment, outcome)
    content = json.loads(files[0].read_text())
    assert content["experiment"] == name and content["notes"]
    assert len(files) == 1 + len(outcome.figures) >= 4
    assert all(np.isfinite(value) for value in content["metrics"].values() if isinstance(value, float))
