# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Clutches of the walker: what is refused and why, what an engagement costs, and that it still walks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from walker_runs import foot_forces, walk, walker

from mbsim_ros import Simulation
from mbsim_ros.control.clutches.logic import (
    ENGAGED,
    MOST_ASKED,
    REFUSED,
    WAITING,
    ClutchLogic,
    ClutchRequest,
    parse_request,
)
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.legs import LEGS
from mbsim_ros.dynamics import momentum

STANDING = dict.fromkeys(LEGS, 32.0)


def still(coupling="normal", forces=STANDING, motor_velocity=None, q=None):
    columns = len(ClutchLogic(walker()).couplings[coupling].column_names) - 6
    speeds = np.zeros(columns) if motor_velocity is None else np.array(motor_velocity, dtype=float)
    q = walker().neutral if q is None else q
    links = () if forces is None else tuple(f"{leg}_tibia" for leg in forces)
    contacts = None if forces is None else np.array([[0.0, 0.0, force, 0.0, 0.0, 0.0] for force in forces.values()])
    return RobotState(
        0, q, np.zeros(23), motor_velocity=speeds, coupling=coupling, contact_links=links, contact_values=contacts
    )


def answer(request, state, logic=None):
    logic = logic or ClutchLogic(walker())
    logic.request(parse_request(request))
    command = logic.update(0.0, state)
    (event,) = logic.events
    return command.coupling, event


def test_unknown_couplings_are_refused_with_a_hint():
    chosen, event = answer("norml", still("hold"))
    assert (chosen, event.outcome) == ("hold", REFUSED)
    assert "did you mean" in event.reason
    assert "normal" in event.reason


def test_requests_do_not_pile_up_while_time_stands_still():
    logic = ClutchLogic(walker())
    for _ in range(MOST_ASKED):
        logic.request(ClutchRequest("norml"))
    with pytest.raises(ValueError, match="'hold': 1000 requests wait for the next instant already"):
        logic.request(ClutchRequest("hold"))
    assert len(logic.decide(0.0, still())[1]) == MOST_ASKED
    logic.request(ClutchRequest("hold"))


def test_a_loaded_leg_is_not_released_unless_forced():
    chosen, event = answer("AFL_released", still())
    assert (chosen, event.outcome) == ("normal", REFUSED)
    assert "AFL is loaded with 32 N" in event.reason
    assert answer("AFL_released force", still())[0] == "AFL_released"
    assert answer("AFL_released", still(forces={**STANDING, "AFL": 0.0}))[0] == "AFL_released"


def test_single_femurs_are_braked_by_the_gait_alone():
    chosen, event = answer("braked_AFL", still())
    assert (chosen, event.outcome) == ("normal", REFUSED)
    assert "rough" in event.reason
    assert answer("braked_AFL force", still())[0] == "braked_AFL"
    assert answer("normal", still("braked_AFL"))[0] == "normal"


def test_no_leg_is_released_while_one_frame_is_in_the_air():
    in_the_air = {leg: 0.0 if leg[0] == "A" else 64.0 for leg in LEGS}
    chosen, event = answer("AFL_released", still(forces=in_the_air))
    assert chosen == "normal"
    assert "frame A stands on 0 feet" in event.reason


def test_no_leg_is_released_blindly():
    chosen, event = answer("BRR_released", still(forces=None))
    assert chosen == "normal"
    assert "not known" in event.reason


def test_a_leg_far_off_is_not_engaged_unless_forced():
    q = walker().neutral.copy()
    q[walker().joint("AFL_f").iq] = 0.5
    q[walker().joint("AFL_t").iq] = -0.5
    chosen, event = answer("normal", still("AFL_released", q=q))
    assert chosen == "AFL_released"
    assert "femur is 0.5 rad off" in event.reason
    assert answer("normal force", still("AFL_released", q=q))[0] == "normal"


def test_soft_waits_until_speeds_match():
    logic = ClutchLogic(walker())
    logic.request(ClutchRequest("hold", soft=True))
    moving = still(motor_velocity=[0.0, 0.0, 2.0, 0.0, 0.0])
    chosen, (event,) = logic.decide(0.0, moving)
    assert (chosen, event.outcome) == ("normal", WAITING)
    assert logic.decide(1.0, moving) == ("normal", [])
    chosen, (event,) = logic.decide(1.5, still())
    assert (chosen, event.outcome, event.loss) == ("hold", ENGAGED, 0.0)


def test_soft_gives_up():
    logic = ClutchLogic(walker())
    logic.request(ClutchRequest("hold", soft=True))
    moving = still(motor_velocity=[0.0, 0.0, 2.0, 0.0, 0.0])
    logic.update(0.0, moving)
    chosen, (event,) = logic.decide(logic.parameters.patience, moving)
    assert (chosen, event.outcome) == ("normal", REFUSED)
    assert "did not match" in event.reason
    assert logic.waiting is None


def test_hard_takes_the_loss():
    chosen, event = answer("hold hard", still(motor_velocity=[0.0, 0.0, 2.0, 0.0, 0.0]))
    assert (chosen, event.outcome) == ("hold", ENGAGED)
    assert event.loss > 0.01
    assert event.impulses["AFL_t"] != 0.0


@pytest.mark.parametrize("text", ["", "normal gently", "hold soft hard"])
def test_requests_that_cannot_be_read(text):
    with pytest.raises(ValueError, match="request"):
        parse_request(text)


def test_a_clutch_keeps_momentum():
    """Walker in free flight, legs moving: whatever is engaged, its momentum stays, to 1e-12 of what the links carry."""
    sim = Simulation(walker(), coupling="normal", terrain=False, gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    q, u = walker().neutral.copy(), rng.normal(size=sim.coupling.nu)
    q[7:] = sim.coupling.D[6:, 6:] @ (0.3 * rng.normal(size=5))
    sim.reset(q, sim.coupling.velocities(u))
    logic = ClutchLogic(walker())
    before = momentum(walker(), sim.q, sim.v)
    for name in ("hold", "normal", "AFL_released", "turn", "femurs_reversed", "normal"):
        promised, _ = logic.price(name, sim.state())
        lost = sim.couple(name).loss
        assert lost == pytest.approx(promised, rel=1e-9, abs=1e-12)
        after = momentum(walker(), sim.q, sim.v)
        assert np.abs(after - before).max() <= 1e-12 * max(1.0, np.abs(before).max())
        sim.advance(20)
        assert np.abs(momentum(walker(), sim.q, sim.v) - before).max() <= 1e-11 * max(1.0, np.abs(before).max())


def test_it_walks_on_through_random_requests():
    """Requests all the time while it walks: nothing drops it, every loss is in the ledger, and it still walks."""
    rng = np.random.default_rng(0)
    logic = ClutchLogic(walker())
    names = ["turn", "hold", "femurs_reversed", "nonsense", *(f"{leg}_released" for leg in LEGS)]
    outcomes = Counter()
    ends = 6.0

    def every(t, sim, state):
        if t < ends and rng.random() < 0.05:
            name = "normal" if rng.random() < 0.5 else str(rng.choice(names))
            logic.request(ClutchRequest(name, bool(rng.random() < 0.5)))
        elif t >= ends and sim.coupling.name != "normal":
            logic.request(ClutchRequest("normal"))
        chosen, events = logic.decide(t, state)
        outcomes.update(event.outcome for event in events)
        if chosen == sim.coupling.name:
            return None
        sim.couple(chosen)
        return sim.state()

    walked = walk(9.0, [(0.0, 0.22, 0.0, 0.0)], every=every)
    assert outcomes[ENGAGED] > 20
    assert outcomes[REFUSED] > 20
    assert np.isfinite(walked.base).all()
    assert np.abs(walked.angles[:, :2]).max() <= 0.01
    assert walked.base[:, 2].min() > 0.38
    assert walked.sim.ledger().clutch_loss == pytest.approx(logic.total_loss, rel=1e-9)
    assert logic.total_loss > 0.0
    assert walked.speed(ends + 1.4, 9.0 - 0.01) > 0.15
    assert sum(force > 1.0 for force in foot_forces(walked.sim).values()) >= 4
