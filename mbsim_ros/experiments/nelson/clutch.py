# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Clutches and brakes of the walker: what closing them costs, and random requests while it walks."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.control.clutches.logic import ENGAGED, REFUSED, WAITING, ClutchEvent, ClutchLogic, ClutchRequest
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.legs import LEGS
from mbsim_ros.dynamics.momentum import momentum
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.nelson.walker_figures import clutch_events, on_a_plate, prices
from mbsim_ros.experiments.nelson.walker_walks import Walk, normal_forces, roll_pitch_yaw, walk, walker
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.sim.simulation import Simulation

TITLE = "Clutches and brakes of the walker while it walks"
SOURCE = "Nelson and Quinn, sections 3.1.1 and 5.3.1"
NAMES = ("normal", "turn", "hold", "femurs_reversed", *(f"{leg}_released" for leg in LEGS))
REQUESTS, EVERY, AFTER = 200, 0.04, 5.0  # how many, s between two of them, s of walking after the last
PLATE = 8.0  # s of walking over the plate
CYCLE = (3.0, 4.6)  # s, in which prices are looked at
VELOCITY, SEED = 0.22, 1  # m/s asked for
PARAMETERS = (
    ExperimentParameter("velocity", VELOCITY, "m/s", 0.05, 0.3, "asked for while clutches are closed"),
    ExperimentParameter("requests", REQUESTS, "", 1, 10_000, "for random couplings"),
    ExperimentParameter("seed", SEED, "", 0, 2**31, "of the requests"),
)
BY_ENERGIES = "lost in clutches: kinetic energy before less after, against the ledger [J]"


@dataclass
class Prices:
    """What engaging a coupling would cost at every instant of a cycle; nothing is engaged."""

    logic: ClutchLogic = field(default_factory=lambda: ClutchLogic(walker()))
    t: list[float] = field(default_factory=list)
    losses: dict[str, list[float]] = field(default_factory=lambda: {"hold": [], "turn": [], "femurs_reversed": []})
    impulses: dict[str, list[float]] = field(
        default_factory=lambda: {"AFL_f": [], "AFL_t": [], "BFL_f": [], "BFL_t": []}
    )
    stands: list[bool] = field(default_factory=list)

    def __call__(self, t: float, sim: Simulation, state: RobotState) -> bool:
        """Note the prices; changes nothing."""
        if CYCLE[0] <= t <= CYCLE[1]:
            self.t.append(t)
            self.stands.append(bool(normal_forces(sim).min() > 1.0))
            for name, losses in self.losses.items():
                loss, impulses = self.logic.price(name, state)
                losses.append(loss)
                if name == "hold":
                    for joint, values in self.impulses.items():
                        values.append(impulses.get(joint, 0.0))
        return False


@dataclass
class RandomRequests:
    """Asks at random, and does what the logic says."""

    number: int = REQUESTS
    logic: ClutchLogic = field(default_factory=lambda: ClutchLogic(walker()))
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    events: list[ClutchEvent] = field(default_factory=list)
    asked: int = 0
    lost: float = 0.0  # kinetic energies before less those after [J]
    largest_error: float = 0.0  # of what was promised against that [J]

    def __call__(self, t: float, sim: Simulation, state: RobotState) -> bool:
        """One request after the other; whether the coupling was changed."""
        if self.asked < self.number and t >= EVERY * (self.asked + 1):
            name = "normal" if self.rng.random() < 0.5 else str(self.rng.choice(NAMES[1:]))
            self.logic.request(ClutchRequest(name, soft=bool(self.rng.random() < 0.5)))
            self.asked += 1
        elif self.asked >= self.number and sim.coupling.name != "normal" and self.logic.waiting is None:
            self.logic.request(ClutchRequest("normal"))
        chosen, events = self.logic.decide(t, state)
        self.events += events
        if chosen == sim.coupling.name:
            return False
        promised = next(event.loss for event in events if event.outcome == ENGAGED)
        before = sim.energy().kinetic
        sim.couple(chosen)
        lost = before - sim.energy().kinetic
        self.lost += lost
        self.largest_error = max(self.largest_error, abs(lost - promised))
        return True


def run(progress: Progress, *, velocity: float = VELOCITY, requests: int = REQUESTS, seed: int = SEED) -> Outcome:
    """Prices over one cycle, momentum in free flight, then random requests while it walks."""
    asked = [(0.0, velocity, 0.0)]
    progress(0.0, "prices over one cycle")
    cycle = Prices()
    walk(CYCLE[1] + 0.1, asked, cycle)
    progress(0.2, "momentum")
    kept = momentum_change()
    progress(0.25, f"{requests} requests while it walks")
    asking = RandomRequests(requests, rng=np.random.default_rng(seed))
    walked = walk(EVERY * requests + AFTER, asked, asking)
    progress(0.6, "a plate under one side")
    plate = {
        "rigid coupling": walk(PLATE, asked, terrain="plate"),
        "legs braked at touch-down": walk(PLATE, asked, terrain="plate", rough=True),
    }
    progress(0.9, "figures")
    losses = {name: np.array(values) for name, values in cycle.losses.items()}
    impulses = {name: np.array(values) for name, values in cycle.impulses.items()}
    metrics = {
        "largest change of momentum by a clutch, relative": kept,
        **_price_metrics(losses, impulses), **_request_metrics(walked, asking),
        **_plate_metrics(plate),
    }  # fmt: skip
    figures = {
        "price": prices(
            np.array(cycle.t), losses, {f"hold: {k}": v for k, v in impulses.items()}, np.array(cycle.stands)
        ),
        "events": clutch_events(walked, asking.events, NAMES),
        "plate": on_a_plate(plate),
    }
    parameters = {
        "velocity [m/s]": velocity, "requests": requests, "time between requests [s]": EVERY, "seed": seed,
        "couplings": list(NAMES), "share of soft requests": 0.5, "share of requests for normal": 0.5,
        "height of the plate [mm]": 30.0, "walk over the plate [s]": PLATE,
    }  # fmt: skip
    return Outcome(parameters, metrics, {}, list(NOTES), figures)


NOTES = (
    "N prints no numbers about clutches: a simple momentum balance gives the transient torques (3.1.1), which is what "
    "the impulses here are.",
    "N models clutches by sign changes in D (5.3.1). That only reverses a drive; engaging or releasing changes the "
    "number of columns of D.",
    "A soft request waits until the loss is at most 0.01 J, a hard one is engaged at once. A leg is released only "
    "where it carries nothing and both frames stand, so while the frames step in turn such requests are refused.",
    "N names rough ground as what clutching is for (5.2) and shows no run: the plate of 30 mm is ours.",
    "In the figure of prices, all feet stand where the ground is grey.",
)


def momentum_change() -> float:
    """The walker in free flight with its legs moving: largest change of its momentum by any clutch, relative."""
    sim = Simulation(walker(), coupling="normal", terrain=False, gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    sim.reset(walker().neutral, sim.coupling.velocities(rng.normal(size=sim.coupling.nu)))
    before = momentum(walker(), sim.q, sim.v)
    worst = 0.0
    for name in (*NAMES[1:], "normal"):
        sim.couple(name)
        after = momentum(walker(), sim.q, sim.v)
        worst = max(worst, float(np.abs(after - before).max() / np.abs(before).max()))
        sim.couple("normal")
    return worst


def _price_metrics(losses: dict[str, np.ndarray], impulses: dict[str, np.ndarray]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, values in losses.items():
        words = name.replace("_", " ")
        found[f"{words}: largest loss in a cycle [J]"] = float(values.max())
        found[f"{words}: smallest loss in a cycle [J]"] = float(values.min())
    for joint, values in impulses.items():
        found[f"hold: largest impulse on {joint} [N m s]"] = float(np.abs(values).max())
    return found


def _request_metrics(walked: Walk, requests: RandomRequests) -> dict[str, object]:
    outcomes = Counter(event.outcome for event in requests.events)
    losses = [event.loss for event in requests.events if event.outcome == ENGAGED]
    soft = [event.loss for event in requests.events if event.outcome == ENGAGED and event.request.soft]
    ledger, end = walked.sim.ledger(), EVERY * requests.number
    reasons = Counter(_kind(event.reason) for event in requests.events if event.outcome == REFUSED)
    level = max(*np.abs(walked.angles[:, 0]), *np.abs(walked.angles[:, 1]))
    return {
        "requests": sum(outcomes[outcome] for outcome in (ENGAGED, REFUSED)),
        "engaged": outcomes[ENGAGED],
        "refused": outcomes[REFUSED],
        "had to wait": outcomes[WAITING],
        "refused because": dict(reasons),
        "lost in clutches [J]": ledger.clutch_loss,
        "largest loss of one [J]": max(losses, default=0.0),
        "largest loss of a soft one [J]": max(soft, default=0.0),
        BY_ENERGIES: abs(requests.lost - ledger.clutch_loss),
        "largest error of a promised loss [J]": requests.largest_error,
        "energy left over / turned over": ledger.relative_residue,
        "largest roll or pitch [rad]": float(level),
        "lowest height [m]": float(walked.base[:, 2].min()),
        "velocity afterwards [m/s]": walked.speed(end + 1.6, end + 4.8),
        "everything finite": bool(np.isfinite(walked.base).all() and np.isfinite(roll_pitch_yaw(walked.sim.q)).all()),
    }


def _plate_metrics(plate: dict[str, Walk]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, walked in plate.items():
        changes = sum(a != b for a, b in itertools.pairwise(walked.couplings))
        found[f"plate, {name}: largest roll [rad]"] = float(np.abs(walked.angles[:, 0]).max())
        found[f"plate, {name}: largest pitch [rad]"] = float(np.abs(walked.angles[:, 1]).max())
        found[f"plate, {name}: all feet of the frame that stands carry, share of time"] = walked.all_carry
        found[f"plate, {name}: changes of the coupling"] = changes
        found[f"plate, {name}: lost in clutches [J]"] = walked.sim.ledger().clutch_loss
        found[f"plate, {name}: way [m]"] = float(walked.base[-1, 0])
    return found


def _kind(reason: str) -> str:
    """One word for each kind of refusal."""
    for words, kind in (
        ("is loaded", "leg loaded"), ("stands on", "frame in the air"), ("rad off", "leg too far off"),
        ("was asked for meanwhile", "another was asked for"), ("did not match", "speeds did not match"),
    ):  # fmt: skip
        if words in reason:
            return kind
    return reason
