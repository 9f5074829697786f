# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W section 4.3, experiment 1: the biped moves to a pose; and how hard it may be pushed."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.experiments.wendlandt.biped_figures import standard_figures
from mbsim_ros.experiments.wendlandt.biped_pushes import DIRECTIONS, PUSH_LASTS, push_figure, push_map
from mbsim_ros.experiments.wendlandt.biped_runs import (
    CONTROL_PERIOD,
    SET_POINTS,
    TO_W,
    BipedRun,
    begin_experiment,
    feet_of,
    run_experiment,
)

TITLE = "The biped balances: experiment 1, and a map of the pushes that it survives"
SOURCE = "Wendlandt 4.3, Figures 4.3 to 4.10"

TOUCH_DOWN = 0.032  # s: the first control instant after a free fall to the ground
RISEN = 1e-3  # m
MAPS: dict[str, dict[str, object]] = {"minimum norm (published)": {}, "within cones": {"distribution": "cones"}}
FROM_TOUCH_DOWN = "with torques from touch-down on"
STIFFNESS = 200.0  # 1/s², of the height, W 4.3
PARAMETERS = (
    ExperimentParameter(
        "stiffness", STIFFNESS, "1/s²", 20.0, 1000.0, "K_c^p of the height, K_c^v is its root: damped as W has it"
    ),
    ExperimentParameter("push_time", PUSH_LASTS, "s", 0.01, 1.0, "how long a push lasts", is_free=True),
)
# What stands in W. Experiment 1 starts slightly above the ground; W does not say from when on the torques act.
PRINTED: dict[str, object] = {
    "desired force Z, largest [N]": 1687.0,
    "desired force Z at 3 s [N]": 594.0,
    "right knee torque, largest [N m]": 192.0,
    "desired torque Y, largest [N m]": -49.0,
    "desired torque X, from and to [N m]": [-20.0, 0.0],
    "desired torque Z, from and to [N m]": [-2.0, 2.0],
    "front of the left foot rises [s]": 0.18,
    "desired force Z at touch-down after a free fall [N]": 1687.0,
    "right knee torque at touch-down after a free fall [N m]": 192.0,
    "desired torque Y at touch-down after a free fall [N m]": -49.0,
    f"desired torque X {FROM_TOUCH_DOWN}, least [N m]": -20.0,
    f"desired torque X {FROM_TOUCH_DOWN} stays below 0": True,
    f"desired torque Z {FROM_TOUCH_DOWN} stays within 2 N m": True,
}
WHERE = {
    **{key: "4.3, text to Figure 4.10" for key in PRINTED if "desired torque" in key},
    **{key: "4.3, text to Figure 4.9" for key in PRINTED if "desired force" in key},
    **{key: "4.3, text to Figure 4.4" for key in PRINTED if "knee" in key},
    "front of the left foot rises [s]": "4.3, experiment 1",
}


def run(progress: Progress, *, stiffness: float = STIFFNESS, push_time: float = PUSH_LASTS) -> Outcome:
    """The experiment as stated, and what would be wanted if the torques began at touch-down; the push map."""
    progress(0.0, "experiment 1")
    gains = _gains(stiffness)
    found = run_experiment(1, **gains)
    metrics = {**metrics_of(found), **at_touch_down(**gains)}
    maps = {}
    for k, (name, options) in enumerate(MAPS.items()):
        maps[name] = push_map({**options, **gains}, progress, 0.1 + 0.4 * k, 0.5 + 0.4 * k, name, push_time)
        for direction, which in ((0, "forward"), (len(DIRECTIONS) // 2, "sideways"), (-1, "backward")):
            metrics[f"largest push {which}, {name} [N s]"] = maps[name][direction]
    progress(0.95, "figures")
    figures = {**standard_figures(found, 1), "5-pushes": push_figure(maps)}
    parameters = {
        "set point in our axes": SET_POINTS[1], "dt [s]": 1e-3, "control period [s]": 2e-3, "friction": 0.3,
        "restitution": 0.2, "directions of the pushes from forward [deg]": np.rad2deg(DIRECTIONS),
        "largest pushes [N s]": maps,
    }  # fmt: skip
    return Outcome(parameters, metrics, dict(PRINTED), _notes(), figures, WHERE)


def _gains(stiffness: float) -> dict[str, Any]:
    """Parameters of the controller; none where it is W's."""
    if stiffness == STIFFNESS:
        return {}
    return {"position_kp": (50.0, 50.0, stiffness), "position_kv": (7.07, 7.07, float(np.sqrt(stiffness)))}


def metrics_of(run: BipedRun) -> dict[str, object]:
    """What W tells of the run, and how near it came."""
    feet = [feet_of(run.model, run.q[row]) for row in (500, -1)]
    return {
        "position error at 3 s [mm]": 1e3 * float(np.linalg.norm(run.position_error[-1])),
        "orientation error at 3 s [deg]": float(np.rad2deg(run.turn[-1])),
        "desired force Z, largest [N]": run.force[:, 2].max(),
        "desired force Z at 3 s [N]": run.force[-1, 2],
        "right knee torque, largest [N m]": run.torques[:, 1, 3].max(),
        "desired torque Y, largest [N m]": run.torque[np.abs(run.torque[:, 1]).argmax(), 1],
        "desired torque X, from and to [N m]": [run.torque[:, 0].min(), run.torque[:, 0].max()],
        "desired torque Z, from and to [N m]": [run.torque[:, 2].min(), run.torque[:, 2].max()],
        "front of the left foot rises [s]": rises(run, foot=0, corners=slice(0, 2)),
        "front of the left foot is least loaded at [s]": _least_loaded(run, foot=0, corners=slice(0, 2)),
        "feet move from 1 s to 3 s [mm]": 1e3 * float(np.abs(feet[1] - feet[0]).max()),
    }


def rises(run: BipedRun, foot: int, corners: slice) -> float | str:
    """When corners of a sole are all off the ground once it has landed [s], or "never"."""
    off = (run.depths[:, foot, corners] < -RISEN).all(axis=1) & (run.contact_seconds > 0.05)
    return float(run.contact_seconds[np.flatnonzero(off)[0]]) if off.any() else "never"


def _least_loaded(run: BipedRun, foot: int, corners: slice) -> float:
    """When corners of a sole are least deep in the ground once it has landed [s]."""
    landed = run.contact_seconds > 0.05
    return float(run.contact_seconds[landed][run.depths[landed, foot, corners].max(axis=1).argmin()])


def at_touch_down(**gains: Any) -> dict[str, object]:
    """Wrench and knee torque that are wanted first where nothing acts before the feet are on the ground, and then."""
    _, sim, controller = begin_experiment(1, **gains)
    sim.run(TOUCH_DOWN)
    command = controller.update(sim.seconds, sim.state())
    assert command.effort is not None
    wrenches = [controller.desired_wrench]
    for _ in range(round((3.0 - TOUCH_DOWN) / CONTROL_PERIOD)):
        sim.run(CONTROL_PERIOD, controller, control_period=CONTROL_PERIOD)
        wrenches.append(controller.desired_wrench)
    first, torques = wrenches[0], np.array(wrenches)[:, 3:] * TO_W
    return {
        "desired force Z at touch-down after a free fall [N]": first[2],
        "right knee torque at touch-down after a free fall [N m]": command.effort[command.names.index("right_knee")],
        "desired torque Y at touch-down after a free fall [N m]": torques[0, 1],
        f"desired torque X {FROM_TOUCH_DOWN}, least [N m]": torques[:, 0].min(),
        f"desired torque X {FROM_TOUCH_DOWN}, greatest [N m]": torques[:, 0].max(),
        f"desired torque X {FROM_TOUCH_DOWN} stays below 0": bool((torques[:, 0] < 0.0).all()),
        f"desired torque Z {FROM_TOUCH_DOWN} stays within 2 N m": bool((np.abs(torques[:, 2]) < 2.0).all()),
    }


def _notes() -> list[str]:
    return [
        "W's axes: X backward, Y to the right, forces and torques in axes of the central body.",
        "The printed peaks at 0 s do not follow from the stated initial state (1359.5 N, 152.3 N m, -36.8 N m). They "
        "do if the torques begin at the first control instant after a free fall of 4.6 mm; the knee stays 3 % below.",
        "The torque about X tells the same: with torques that act from 0 s on, the feet are turned in the air before "
        "they land, and it swings from -23 to +38 N m in the first 16 ms; after that it goes from -20.5 to -2 N m. "
        "With torques from touch-down on, or from a start with the soles on the ground, it does not swing.",
        "W's feet slip all the time in the impulse-based simulator, which W calls an artefact; ours do not. With feet "
        "that slip the force at 3 s is 589 to 595 N.",
        "The front of the left foot is least loaded at W's 0.18 s, when the rise is braked and the force is least, but "
        "it does not leave the ground. The sole is not the cause: ending 0 to 3.9 cm behind the ankle it stays down. "
        "In W's simulator resting feet are impulses that rebound with 0.2 of their speed, which our contact does not "
        "do.",
        "Pushes: a force of 0.1 s at the centre of mass of the central body of the biped at rest over the middle of "
        "its soles; survived means at rest at the set point again within 3 s. Found to 0.5 N s; one side, mirrored.",
        "The published minimum norm weighs a newton metre like a newton and turns the feet rather than load one more "
        "than the other: sideways it asks each sole for more than 18 N m at about 30 ms of a push of 15 N s, and a "
        "sole of 10 cm gives no more. Within cones and centre-of-pressure limits the load goes to one foot instead.",
    ]
