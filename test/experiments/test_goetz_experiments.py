# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""G's experiments: what stands in the reference and in the thesis, computed again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.experiments.experiment import find
from mbsim_ros.experiments.goetz.order import STEPS
from mbsim_ros.experiments.writing import write

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "goetz.json").read_text())


def outcome(name, folder):
    told = []
    found = find(name).run(lambda share, what: told.append((share, what)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] >= 0.0 and shares[-1] <= 1.0 and all(what for _, what in told)
    files = write(folder, find(name), found)
    assert len(files) == 1 + len(found.figures) >= 2
    return found


@pytest.mark.slow
def test_energies_constraints_and_the_printed_mass_matrix(tmp_path):
    found = outcome("goetz-energy", tmp_path)
    metrics, printed = found.metrics, found.printed
    assert metrics["energy error, energy-stable, weight [J]"] <= 1e-13
    assert metrics["energy error, energy-stable, Gauss 3, mono [J]"] <= 1e-13
    weight, mono = REFERENCE["gravity"], REFERENCE["mono"]
    expected = {
        "variational, weight": weight["c_variational"]["printed_sin_noCos"]["maxE_midpoint_state"],
        "variational, symplectic, weight": weight["c_variational"]["angle"]["maxE_midpoint_state"],
        "reference, weight": weight["d_midpoint_min"]["maxE"],
        "energy-stable, mono": mono["a_midpoint_ES"]["maxE"],
        "variational, mono": mono["c_variational"]["printed_sin_noCos"]["maxE_midpoint_state"],
        "reference, mono": mono["d_midpoint_min"]["maxE"],
    }
    for name, value in expected.items():
        assert metrics[f"energy error, {name} [J]"] == pytest.approx(value, rel=1e-5)
    levels = [key for key in printed if key.startswith("energy error") and printed[key] > 1e-12]
    assert len(levels) == 4
    for key in levels:  # “in the range of”
        assert 1 / 4 < metrics[key] / printed[key] < 4
    constraints = [key for key in printed if key.startswith(("constraint error", "norm error"))]
    assert len(constraints) == 4 and all(metrics[key] <= 5e-14 for key in constraints)
    assert metrics["angle error with the printed M (3.32), 1 s [rad]"] == pytest.approx(0.21, abs=0.01)
    assert metrics["energy error with the printed M (3.32), 1 s [J]"] <= 1e-13
    shares = [key for key in metrics if key.startswith("CPU time over real time")]
    assert len(shares) == 9 and all(metrics[key] > 0.0 for key in shares)


@pytest.mark.slow
def test_orders_are_two_two_two_and_six(tmp_path):
    found = outcome("goetz-order", tmp_path)
    assert sorted(found.printed.values()) == [2.0, 2.0, 2.0, 2.0, 6.0]
    for key, order in found.printed.items():
        assert found.metrics[key] == pytest.approx(order, abs=0.03)
    assert found.metrics["order, variational, mixed, weight"] == pytest.approx(1.0, abs=0.01)  # ERRATA A18
    assert found.metrics["mean error at any step, energy-stable, weight [J]"] <= 2e-13
    curves = {"a_mono": "energy-stable, mono", "b_mono": "energy-stable, Gauss 3, mono", "a_multi": "energy-stable, multi",
              "b_multi": "energy-stable, Gauss 3, multi", "d_grav": "reference, weight"}  # fmt: skip
    for name, key in curves.items():
        means = found.metrics[f"mean errors, {key} [J]"]
        for dt, expected in zip(REFERENCE["order"]["dt"], REFERENCE["order"][name], strict=True):
            n = round(10.0 / dt)
            if abs(n * dt - 10.0) < 1e-9 and expected > 1e-12:  # above rounding; the reference divides by one more
                mean = means[np.flatnonzero(np.isclose(STEPS, dt))[0]]
                assert mean * n / (n + 1) == pytest.approx(expected, rel=1e-2)


@pytest.mark.slow
def test_every_scheme_meets_the_solution_with_every_spring(tmp_path):
    found = outcome("goetz-springs", tmp_path)
    errors = {key: value for key, value in found.metrics.items() if key.startswith("angle error")}
    assert len(errors) == 18 and max(errors.values()) <= 1e-5
    orders = [value for key, value in found.metrics.items() if key.startswith("its order")]
    np.testing.assert_allclose(orders, 2.0, atol=0.01)
    multi = REFERENCE["multi"]
    assert found.metrics["energy error in 50 s, energy-stable, multi [J]"] == pytest.approx(
        multi["a_midpoint_ES"]["maxE"], rel=1e-5
    )
    assert found.metrics["energy error in 50 s, energy-stable, Gauss 3, multi [J]"] <= 2 * multi["b_gauss3_ES"]["maxE"]
    for kind in ("mono", "multi"):  # ERRATA A5: s stays in [0.67703, 1.47703], s_0 = 0.2
        assert found.metrics[f"shortest segment over rest length, {kind}"] == pytest.approx(0.67703 / 0.2, rel=1e-3)
