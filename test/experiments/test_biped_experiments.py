# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's biped experiments: what stands in the thesis beside what comes out, the pushes and the blocks that it survives."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.experiments.comparing import verdict
from mbsim_ros.experiments.wendlandt import (
    biped_1 as wendlandt_biped_1,
    biped_2 as wendlandt_biped_2,
    biped_blocks,
    biped_figures,
)
from mbsim_ros.experiments.wendlandt.biped_pushes import DIRECTIONS, PushedBiped, push_figure
from mbsim_ros.experiments.wendlandt.biped_runs import CONTROL_PERIOD, begin_experiment, of_biped, run_experiment


@pytest.fixture(scope="module")
def second():
    return run_experiment(2)


def test_experiment_1_has_the_metrics_that_are_printed():
    run = run_experiment(1)
    metrics = {**wendlandt_biped_1.metrics_of(run), **wendlandt_biped_1.at_touch_down()}
    printed = wendlandt_biped_1.PRINTED
    assert set(printed) <= set(metrics)
    assert metrics["position error at 3 s [mm]"] < 1.0 and metrics["orientation error at 3 s [deg]"] < 0.2
    assert metrics["feet move from 1 s to 3 s [mm]"] < 0.1
    for key in printed:
        if wendlandt_biped_1.FROM_TOUCH_DOWN in key:
            assert verdict(metrics[key], printed[key]) == "met"
    low, high = metrics["desired torque X, from and to [N m]"]  # the feet are turned in the air, and swing
    assert low < -22.0 and high > 30.0
    after = run.torque[run.seconds > 0.018, 0]
    assert -20.7 < after.min() < after.max() < 0.0
    for key, share in (("force Z", 0.002), ("torque Y", 0.02)):
        name = next(name for name in printed if key in name and "touch-down" in name)
        np.testing.assert_allclose(metrics[name], printed[name], rtol=share)
    np.testing.assert_allclose(metrics["desired force Z at 3 s [N]"], 594.0, rtol=0.02)
    figures = biped_figures.standard_figures(run, 1)
    titles = [axis.get_title() for figure in figures.values() for axis in figure.axes]
    assert all(any(f"Figure 4.{k}:" in title for title in titles) for k in range(3, 11))


def test_experiment_2_has_the_metrics_that_are_printed(second):
    metrics = wendlandt_biped_2.metrics_of(second)
    assert {key for key in wendlandt_biped_2.PRINTED if "computing" not in key} <= set(metrics)
    assert metrics["position error at 3 s [mm]"] < 1.0 and metrics["orientation error at 3 s [deg]"] < 0.2
    assert abs(metrics["the block hits [s]"] - 0.08) <= 0.01
    for side in ("left", "right"):
        rises, back = metrics[f"{side} heel rises [s]"], metrics[f"{side} heel is back [s]"]
        assert metrics["the block hits [s]"] < rises < back < 0.5
    # the block brings 1.8 kg · 4.5 m/s forward, towards W's −X, and bounces off with at most 0.2 of it
    assert -1.2 * 8.1 < metrics["impulse of the block on the body, X [N s]"] < -8.1
    figures = biped_figures.standard_figures(second, 2)
    titles = [axis.get_title() for figure in figures.values() for axis in figure.axes]
    assert all(any(f"Figure 4.{k}:" in title for title in titles) for k in range(12, 20))
    biped_figures.block_figure(second)
    biped_figures.impact_figure(second)


def test_watching_does_not_change_a_run(second):
    _, sim, controller = begin_experiment(2)
    sim.run(3.0, of_biped(sim, controller), control_period=CONTROL_PERIOD)
    assert (second.q[-1] == sim.entity("biped").q).all() and (second.block_q[-1] == sim.entity("block").q).all()


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "survived"), [({}, "f"), ({"distribution": "cones"}, "flbr")])
def test_pushes_of_15_newton_seconds(parameters, survived):
    """The published minimum norm turns the feet over their edges, but for pushes forward.

    A biped on the edges of its feet falls or not by a change of its push in the ninth digit: survived is a direction in
    which it does not fall by any of three.
    """
    biped = PushedBiped(**parameters)
    directions = {"f": 0.0, "l": 0.5 * np.pi, "b": np.pi, "r": 1.5 * np.pi}
    found = [name for name, way in directions.items() if all(biped.survives(push, way) for push in (14.9, 15.0, 15.1))]
    assert "".join(found) == survived
    assert biped.survives(3.0, 0.5 * np.pi)  # and it can be pushed again after a fall


@pytest.mark.slow
def test_the_largest_push_is_at_the_edge():
    biped = PushedBiped()
    found = biped.largest_push(0.5 * np.pi)
    assert biped.survives(found, 0.5 * np.pi) and not biped.survives(found + 0.5, 0.5 * np.pi)
    axis = push_figure({"some": np.full(len(DIRECTIONS), found)}).axes[0]
    assert len(axis.lines[0].get_xdata()) == 2 * len(DIRECTIONS) - 1


def test_a_block_that_is_too_fast_throws_it_over():
    hits = [biped_blocks.throw(speed) for speed in (biped_blocks.PUBLISHED_SPEED, 9.0)]
    assert [hit.recovered for hit in hits] == [True, False]
    assert biped_blocks.fastest_survived(hits) == biped_blocks.PUBLISHED_SPEED
    biped_blocks.sweep_figure({"published": hits})


def test_the_published_speed_is_that_of_the_initial_state():
    _, sim, _ = begin_experiment(2)
    np.testing.assert_array_equal(biped_blocks.with_block_speed(sim, biped_blocks.PUBLISHED_SPEED), sim.v)
