# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W section 4.3, experiment 2: a block is thrown at the back of the biped while it rises; and faster blocks."""

from __future__ import annotations

import numpy as np

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.experiments.timing import MACHINE, this_machine
from mbsim_ros.experiments.wendlandt.biped_blocks import SPEEDS, fastest_survived, sweep, sweep_figure
from mbsim_ros.experiments.wendlandt.biped_figures import block_figure, impact_figure, standard_figures
from mbsim_ros.experiments.wendlandt.biped_runs import SET_POINTS, BipedRun, computing_time, feet_of, run_experiment

TITLE = "The biped balances: experiment 2, a block is thrown at it"
SOURCE = "Wendlandt 4.3, Figures 4.11 to 4.19"

OPTIONS: dict[str, dict[str, object]] = {"minimum norm (published)": {}, "within cones": {"distribution": "cones"}}
LANDED = 0.05  # s: the feet are on the ground
SEEN = 5e-3  # m: a height that one sees
PRINTED = {
    "the block hits [s]": 0.08,
    "left heel rises [s]": 0.13,
    "right heel rises [s]": 0.13,
    "left heel is back [s]": 0.38,
    "right heel is back [s]": 0.36,
    "left heel is 5 mm high [s]": 0.13,
    "right heel is 5 mm high [s]": 0.13,
    "computing time of 3 s [s]": 2066.0,
    "computing time of a control update [ms]": 7.0,
}
WHERE = {
    key: "4.3, on an SGI Indigo, R4000 at 100 MHz" if key.startswith("computing") else "4.3, experiment 2"
    for key in PRINTED
}
PARAMETERS = (
    ExperimentParameter(
        "speeds", SPEEDS, "m/s", 0.5, 20.0, "of the blocks that are thrown besides W's of 4.5 m/s", is_free=True
    ),
)


def run(progress: Progress, *, speeds: tuple[float, ...] = SPEEDS) -> Outcome:
    """The experiment as stated, and a sweep of the block's speed."""
    progress(0.0, "experiment 2")
    found = run_experiment(2)
    whole, update = (float(each) for each in np.median([computing_time(2) for _ in range(3)], axis=0))
    metrics = {
        **metrics_of(found),
        "computing time of 3 s [s]": whole,
        "computing time of a control update [ms]": 1e3 * update,
    }
    sweeps = {}
    for k, (name, parameters) in enumerate(OPTIONS.items()):
        sweeps[name] = sweep(parameters, progress, 0.3 + 0.3 * k, 0.6 + 0.3 * k, name, speeds)
        metrics[f"fastest block survived, {name} [m/s]"] = fastest_survived(sweeps[name])
    progress(0.95, "figures")
    figures = {
        **standard_figures(found, 2), "5-block": block_figure(found), "6-impact": impact_figure(found),
        "7-speeds": sweep_figure(sweeps),
    }  # fmt: skip
    parameters = {
        "set point in our axes": SET_POINTS[2], "dt [s]": 1e-3, "control period [s]": 2e-3, "friction": 0.3,
        "restitution": 0.2, "mass of the block [kg]": 1.8, "speeds of the block [m/s]": speeds,
        MACHINE: this_machine(),
    }  # fmt: skip
    return Outcome(parameters, metrics, dict(PRINTED), _notes(), figures, WHERE)


def metrics_of(run: BipedRun) -> dict[str, object]:
    """What W tells of the run, and how near it came."""
    touching = np.flatnonzero(run.block_force.any(axis=1))
    step = run.contact_seconds[1] - run.contact_seconds[0]
    heels = {}
    for foot, side in enumerate(("left", "right")):
        heels[f"{side} heel rises [s]"], heels[f"{side} heel is back [s]"] = heel_off(run, foot, 0.0)
        heels[f"{side} heel is 5 mm high [s]"] = heel_off(run, foot, SEEN)[0]
        heels[f"{side} heel rises by [mm]"] = -1e3 * run.depths[run.contact_seconds > LANDED, foot, 2:].min()
    feet = [feet_of(run.model, run.q[row]) for row in (500, -1)]
    return {
        "position error at 3 s [mm]": 1e3 * float(np.linalg.norm(run.position_error[-1])),
        "orientation error at 3 s [deg]": float(np.rad2deg(run.turn[-1])),
        "the block hits [s]": float(run.contact_seconds[touching[0]]),
        "impulse of the block on the body, X [N s]": step * run.block_force[:, 0].sum(),
        **heels,
        "desired force Z, largest [N]": run.force[:, 2].max(),
        "desired torque Y, largest [N m]": run.torque[np.abs(run.torque[:, 1]).argmax(), 1],
        "feet move from 1 s to 3 s [mm]": 1e3 * float(np.abs(feet[1] - feet[0]).max()),
    }


def heel_off(run: BipedRun, foot: int, height: float) -> tuple[float, float]:
    """When both corners of a heel are higher than this, and when one touches the ground again [s]; NaN for never."""
    seconds, heights = run.contact_seconds, -run.depths[:, foot, 2:].max(axis=1)
    off = np.flatnonzero((heights > height) & (seconds > LANDED))
    if not len(off):
        return float("nan"), float("nan")
    back = np.flatnonzero((heights < 0.0) & (seconds > seconds[off[0]]))
    return float(seconds[off[0]]), float(seconds[back[0]]) if len(back) else float("nan")


def _notes() -> list[str]:
    return [
        "W's axes: X backward, Y to the right, forces and torques in axes of the central body.",
        "The printed quaternion of the set point is that of experiment 1, about -X; the words say -Y, and so do the "
        "curves that W describes. Both converge; this is -Y.",
        "The block's size is not printed: 6 x 15 x 20 cm is 1.8 kg of water. A heel rises when both of its corners "
        "leave the ground, which no eye sees: it is 5 mm high at W's 0.13 s.",
        "Heels are back before W's 0.36 and 0.38 s because the torques act from 0 s on. With torques from touch-down "
        "on, as experiment 1's peaks have it, the left heel is back at 0.355 s and the right one at 0.388 s. A sole "
        "that is 1.5 cm shorter before the ankle does as much (0.383, 0.424 s); one that is 3.9 cm shorter behind it 4 "
        "ms, friction between 0.2 and 1 up to 18 ms. Why W's right foot is the first is not found: by the block, which "
        "hits to the right, ours rises higher there and returns later.",
        "Computing times are CPU times, medians of three runs.",
        "Speeds: survived means within 1 cm of the set point at 3 s, with the block thrown from the same place.",
    ]
