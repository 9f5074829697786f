# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A thousand random clutch requests while the walker walks, without ROS."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from walker_runs import PERIOD, roll_pitch_yaw, walk, walker

from mbsim_ros import Simulation
from mbsim_ros.control.clutches.logic import ENGAGED, REFUSED, WAITING, ClutchLogic, ClutchRequest
from mbsim_ros.control.walker.legs import LEGS, MOTORS
from mbsim_ros.dynamics import centre_of_mass

REQUESTS = 1000
EVERY = 7  # control instants between two requests
ENDS = REQUESTS * EVERY * PERIOD
FRESH = 17  # control instants between two looks at the forces under the feet: 30 a second, as over ROS
COUPLINGS = ("turn", "hold", "femurs_reversed", "nonsense", *(f"{leg}_released" for leg in LEGS))


class Requests:
    """Asks at random, does what the logic says, and keeps the books."""

    def __init__(self):
        self.logic, self.rng = ClutchLogic(walker()), np.random.default_rng(7)
        self.events, self.asked, self.lost, self.instant = [], [], 0.0, 0
        self.forces = None
        self.refused_loaded = []  # snapshots, the leg that would have been released, and whether the other frame carries

    def __call__(self, t, sim, state):
        if self.instant % FRESH == 0:
            self.forces = state.contact_values
        state = replace(state, contact_values=self.forces)
        if t < ENDS and self.instant % EVERY == 0:
            name = "normal" if self.rng.random() < 0.5 else str(self.rng.choice(COUPLINGS))
            self.asked.append(ClutchRequest(name, soft=bool(self.rng.random() < 0.5)))
            self.logic.request(self.asked[-1])
        elif t >= ENDS and sim.coupling.name != "normal" and self.logic.waiting is None:
            self.asked.append(ClutchRequest("normal"))
            self.logic.request(self.asked[-1])
        self.instant += 1
        chosen, events = self.logic.decide(t, state)
        self.events += events
        for event in events:
            if event.outcome == REFUSED and "is loaded" in event.reason and len(self.refused_loaded) < 200:
                self.refused_loaded.append((sim.snapshot(), event.request.coupling))
        if chosen == sim.coupling.name:
            return None
        self.lost += sim.couple(chosen).loss
        return sim.state()


@pytest.fixture(scope="module")
def done():
    requests = Requests()
    return walk(ENDS + 5.0, [(0.0, 0.22, 0.0, 0.0)], every=requests), requests


@pytest.mark.slow
def test_every_request_is_answered_once_and_refusals_have_a_reason(done):
    _, requests = done
    assert len(requests.asked) >= REQUESTS
    outcomes = Counter(event.outcome for event in requests.events)
    assert outcomes[ENGAGED] + outcomes[REFUSED] == len(requests.asked)
    assert outcomes[WAITING] > 0
    assert min(outcomes[ENGAGED], outcomes[REFUSED]) > 100
    assert all(event.reason for event in requests.events if event.outcome == REFUSED)
    nonsense = [event for event in requests.events if event.request.coupling == "nonsense"]
    assert nonsense and {event.outcome for event in nonsense} == {REFUSED}


def test_nothing_drops_it_and_it_still_walks(done):
    walked, _ = done
    assert np.isfinite(walked.base).all() and np.isfinite(walked.sim.q).all() and np.isfinite(walked.sim.v).all()
    assert np.abs(walked.angles[:, :2]).max() <= 0.01
    assert walked.base[:, 2].min() > 0.38
    assert walked.sim.coupling.name == "normal"
    assert walked.speed(ENDS + 1.6, ENDS + 4.8) >= 0.20  # two whole cycles
    assert walked.base[round(ENDS / PERIOD), 0] > 0.5  # and it walked while it was asked


def test_every_loss_is_booked(done):
    walked, requests = done
    ledger = walked.sim.ledger()
    losses = [event.loss for event in requests.events if event.outcome == ENGAGED]
    assert ledger.clutch_loss == pytest.approx(requests.lost, rel=1e-12)
    assert ledger.clutch_loss == pytest.approx(sum(losses), rel=1e-9)
    assert requests.logic.total_loss == pytest.approx(sum(losses), rel=1e-12)
    assert min(losses) > -1e-12 and sum(losses) > 0.01
    assert ledger.relative_residue < 1e-3


def test_what_was_refused_would_have_dropped_it(done):
    """Released all the same, a loaded leg of the only frame that stands lets it tip where the other three feet do not
    have its centre of mass between them."""
    _, requests = done
    tilts = []
    for snapshot, coupling in requests.refused_loaded:
        sim = Simulation(walker(), coupling="normal")
        sim.restore(snapshot)
        if outside(sim, coupling) < 0.003:  # m
            continue
        sim.couple(coupling)
        places = dict(zip(sim.motor_names, sim.motor_position.tolist(), strict=True))
        sim.drive_motors(position={motor: places[motor] for motor in MOTORS}, velocity=dict.fromkeys(MOTORS, 0.0))
        tilts.append(0.0)
        for _ in range(75):
            sim.advance(20)
            tilts[-1] = max(tilts[-1], *np.abs(roll_pitch_yaw(sim.q)[:2]))
        if len(tilts) == 8:
            break
    assert len(tilts) >= 2
    assert min(tilts) > 0.05


def outside(sim, coupling):
    """How far the centre of mass lies outside of what the other feet stand on without this coupling's leg [m]."""
    released = coupling.removesuffix("_released")
    feet = {report.link.removesuffix("_tibia"): report for report in sim.contacts()}
    if any(feet[leg].penetration > -0.03 for leg in LEGS if leg[0] != released[0]):
        return 0.0  # the other frame stands, or is close to the ground and would catch it
    points = [feet[leg].position[:2] for leg in LEGS if leg[0] == released[0] and leg != released]
    middle = np.mean(points, axis=0)
    far = []
    for k in range(3):
        a, b = points[k], points[(k + 1) % 3]
        normal = np.array([b[1] - a[1], a[0] - b[0]]) / np.hypot(*(b - a))
        normal *= -np.sign(normal @ (middle - a))  # outward
        far.append(float(normal @ (centre_of_mass(walker(), sim.q)[:2] - a)))
    return max(far)
