# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The K²T Walker of Nelson and Quinn: its equations in both formulations, and how it walks on five motors."""

from __future__ import annotations

import numpy as np

from mbsim_ros.control.walker import quasicoordinates as nq
from mbsim_ros.control.walker.legs import MOTORS
from mbsim_ros.coupling.configuration import named
from mbsim_ros.coupling.coupled_dynamics import coupled_forward_dynamics
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.nelson.walker_figures import body_motion, costs, footfall, motor_torques
from mbsim_ros.experiments.nelson.walker_walks import Velocity, Walk, walk as take_walk, walker
from mbsim_ros.experiments.parameters import ExperimentParameter

TITLE = "The eight-legged walker on five motors"
SOURCE = "Nelson and Quinn, sections 3 to 5"
STATES = 10  # random ones at which accelerations are compared
GAITS = ("walk", "backward", "fast", "curve", "turn")
STRAIGHT = ("walk", "backward", "fast")  # of which there is a cost of transport
WALK, FAST, TURN = 0.22, 0.5, 0.125  # m/s, m/s, rad/s
PARAMETERS = (
    ExperimentParameter("walk", WALK, "m/s", 0.05, 0.5, "velocity of the walks forward and backward"),
    ExperimentParameter("fast", FAST, "m/s", 0.05, 0.5, "velocity of the fast walk"),
    ExperimentParameter("turn", TURN, "rad/s", 0.02, 0.3, "rate of the turn in place"),
)


def run(progress: Progress, *, walk: float = WALK, fast: float = FAST, turn: float = TURN) -> Outcome:
    """Compare accelerations, then walk forward, backward, fast, and turn in place."""
    gaits = _gaits(walk, fast, turn)
    progress(0.0, "accelerations by both formulations")
    model, configuration = walker(), named(walker())["normal"]
    metrics: dict[str, object] = {
        "joints": configuration.D.shape[0] - 6,
        "motors": len(configuration.motors),
        "degrees of freedom without the motors' coupling": model.nv,
        "generalised coordinates": configuration.nu,
        "size of D1": list(nq.D1().shape),
        "size of D2": list(nq.D2().shape),
        "size of D3": list(nq.D3().shape),
        "mass [kg]": model.mass,
        "largest difference of accelerations, relative": largest_difference(),
    }
    walks: dict[str, Walk] = {}
    for k, (name, (velocity, seconds, _)) in enumerate(gaits.items()):
        progress(0.1 + 0.16 * k, f"{name}: {seconds:g} s")
        walks[name] = take_walk(seconds, [velocity])
    net, positive = [], []
    for name, walked in walks.items():
        between = gaits[name][2]
        metrics[f"{name}: velocity [m/s]"] = walked.speed(*between)
        metrics[f"{name}: turn [rad/s]"] = walked.turn_rate(*between)
        metrics[f"{name}: largest roll or pitch [rad]"] = walked.roll_pitch
        metrics[f"{name}: clearance of the swinging feet [mm]"] = 1e3 * walked.clearance
        metrics[f"{name}: peak torques [N m]"] = _by_motor(np.nanmax(np.abs(walked.torques), axis=0))
        metrics[f"{name}: torques, root mean square [N m]"] = _by_motor(
            np.sqrt(np.nanmean(walked.torques[walked.between(*between)] ** 2, axis=0))
        )
        metrics[f"{name}: work of the motors / booked work"] = float(
            walked.power.sum() * (walked.t[1] - walked.t[0]) / walked.sim.ledger().actuator_work
        )
        metrics[f"{name}: energy left over / turned over"] = walked.sim.ledger().relative_residue
        if name in STRAIGHT:
            costs_of = walked.cost_of_transport(*between)
            net.append(costs_of[0])
            positive.append(costs_of[1])
            metrics[f"{name}: sideways drift / way"] = abs(walked.base[-1, 1] / walked.base[-1, 0])
            metrics[f"{name}: cost of transport, net work"] = costs_of[0]
            metrics[f"{name}: cost of transport, positive work"] = costs_of[1]
    progress(0.9, "figures")
    figures = {
        "footfall": footfall({name: walks[name] for name in ("walk", "fast", "turn")}, 1.8, 5.0),
        "torques": motor_torques(walks["walk"], 1.8, 5.0, f"Motors, two cycles of the walk at {walk:g} m/s"),
        "torques-fast": motor_torques(walks["fast"], 2.2, 5.0, f"Motors, two cycles of the walk at {fast:g} m/s"),
        "body": body_motion(walks),
        "cost-of-transport": costs(STRAIGHT, net, positive),
    }
    return Outcome(_parameters(gaits), metrics, dict(PRINTED), list(NOTES), figures, WHERE)


Gait = tuple[Velocity, float, tuple[float, float]]  # velocity, how long [s], two times between whole cycles [s]


def _gaits(walk: float, fast: float, turn: float) -> dict[str, Gait]:
    """Velocities asked for from the start on, and two times between which there are whole cycles [s]."""
    velocities = {"walk": (walk, 0.0), "backward": (-walk, 0.0), "fast": (fast, 0.0), "curve": (0.2, 0.1),
                  "turn": (0.0, turn)}  # fmt: skip
    return {name: ((0.0, *velocities[name]), 5.2, (2.2, 5.0) if name == "fast" else (1.8, 5.0)) for name in GAITS}


PRINTED: dict[str, object] = {
    "joints": 17, "motors": 5, "degrees of freedom without the motors' coupling": 23, "generalised coordinates": 5,
    "size of D1": [68, 26], "size of D2": [26, 23], "size of D3": [23, 11],
}  # fmt: skip
WHERE = {
    **dict.fromkeys(("joints", "motors"), "5.2"),
    "degrees of freedom without the motors' coupling": "5.3.1, below (47)",
    "generalised coordinates": "5.3",
    "size of D1": "(44) to (46)", "size of D2": "(47)", "size of D3": "(48), (49)",
}  # fmt: skip
NOTES = (
    "N counts 5 generalized coordinates, one for each motor (5.3); with the six of the base there are 11, as the "
    "printed D3 has it.",
    "N prints no dimensions, masses or results of the walker. Dimensions, gains and gait are ours; the sizes of D1, D2 "
    "and D3 follow from the blocks printed in (44) to (49).",
    "Accelerations are compared with the equations as corrected: the printed (1), (19), (20) and (39) are misprinted.",
    "Torques are those of the drives, means over a control period of 2 ms. Net work counts what the motors take back "
    "while they brake; positive work does not.",
    "At full speed feet begin to move on while they are still being lifted; clearance is that of fully lifted feet.",
    "A turn in place has no way, and so no cost of transport.",
)


def largest_difference() -> float:
    """Of accelerations by N's quasicoordinates and by the simulator, at random states under random motor torques."""
    model, configuration, D = walker(), named(walker())["normal"], nq.D3()
    limbs, rng = nq.walker_limbs(model), np.random.default_rng(0)
    motors = ["waist", "femur_B", "tibia_B", "femur_A", "tibia_A"]  # in the order of D3
    columns = [configuration.column_of(motor) for motor in motors]
    worst = 0.0
    for _ in range(STATES):
        x, u = 0.4 * rng.normal(size=11), rng.normal(size=11)
        x[3:6], u[3:6] = 0.0, 0.0  # level and not turning, where Euler rates are those of the base
        torque = 20.0 * rng.normal(size=5)
        alpha, rate = D @ x, D @ u
        rotors = np.full(17, 0.02)
        found = nq.accelerations(limbs, alpha, rate, np.concatenate([np.zeros(6), torque]), D, rotor_inertia=rotors)
        q = model.neutral.copy()
        q[:3] = alpha[:3]
        names = ["body", *(f"{leg}_{part}" for leg in nq.LIMBS for part in "ft")]
        for name, angle in zip(names, nq.joint_rates_matrix() @ alpha, strict=True):
            q[model.joint(name).iq] = angle
        rates, motor = np.concatenate([rate[:6], np.zeros(5)]), np.zeros(configuration.nu)
        rates[columns], motor[columns] = u[6:], torque
        a = coupled_forward_dynamics(model, configuration, q, rates, motor)
        ours = np.concatenate([a[:6], a[columns]])
        worst = max(worst, float(np.abs(ours - found).max() / np.abs(found).max()))
    return worst


def _by_motor(values: np.ndarray) -> dict[str, float]:
    return {motor.replace("_", " "): float(value) for motor, value in zip(MOTORS, values, strict=True)}


def _parameters(chosen: dict[str, Gait]) -> dict[str, object]:
    gaits = {
        name: {
            "forward [m/s]": forward,
            "turn [rad/s]": turn,
            "time [s]": seconds,
            "measured between [s]": list(between),
        }
        for name, ((_, forward, turn), seconds, between) in chosen.items()
    }
    return {"step [s]": 1e-3, "control period [s]": 2e-3, "random states": STATES, "gaits": gaits}
