# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gait, clutches and controllers of one's own go through `Simulation.run`, with the numbers that they always had."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest
from walker_runs import ROOT, walker

from mbsim_ros import Simulation
from mbsim_ros.control import Command, Targets, Together
from mbsim_ros.control.clutches.logic import ENGAGED, ClutchLogic, ClutchRequest
from mbsim_ros.control.command import command_from, listed
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.walk import walk


def started(**parameters):
    gait = WalkerGait(walker(), WalkerGaitParameters(**parameters))
    gait.ask(0.22)
    return Simulation(walker(), coupling="normal"), gait


def test_the_period_of_the_gait_is_that_of_its_launch_file():
    arguments = ElementTree.parse(ROOT / "launch" / "walker.launch.xml").getroot().iter("arg")
    launched = next(each.get("default") for each in arguments if each.get("name") == "control_period")
    assert float(launched) == WalkerGait.control_period
    asked = []

    class Watched(WalkerGait):
        def update(self, t, state):
            asked.append(t)
            return super().update(t, state)

    Simulation(walker(), coupling="normal").run(0.012, Watched(walker(), WalkerGaitParameters(rough=True)))
    assert asked == [0.0, 0.004, 0.008]


@pytest.mark.parametrize("rough", [False, True])
def test_a_gait_runs_as_any_controller_does(rough):
    """One that is asked at every instant, in tables, and for a recording walks one walk, bit for bit."""
    one, gait = started(rough=rough)
    for _ in range(500):
        command = gait.update(one.seconds, one.state())
        one.drive_motors(
            position=dict(zip(command.motor.names, command.motor.position, strict=True)),
            velocity=dict(zip(command.motor.names, command.motor.velocity, strict=True)),
        )
        if command.coupling is not None and command.coupling != one.coupling.name:
            one.couple(command.coupling)
        one.advance(4)
    other, gait = started(rough=rough)
    other.run(2.0, gait)
    recorded, gait = started(rough=rough)
    recording = recorded.run(2.0, gait, record=["q"])
    for sim in (other, recorded):
        assert sim.snapshot() == one.snapshot()
    assert (recording["q"][-1] == one.q).all()
    assert one.q[0] > 0.05


def test_a_period_that_is_no_multiple_of_the_step_is_refused():
    sim = Simulation(walker(), coupling="normal", dt=0.0015)
    with pytest.raises(ValueError, match="control_period: expected a multiple of dt = 0.0015 s, got 0.002"):
        walk(sim, WalkerGait(walker()), 0.1)


def test_gait_and_clutches_together():
    sim, gait = started()
    logic = ClutchLogic(walker())
    both = Together(walker(), gait, logic)
    sim.run(2.0, both)
    logic.request(ClutchRequest("hold"))
    sim.run(0.004, both)
    assert [event.outcome for event in logic.events] == [ENGAGED]
    assert sim.coupling.name == "hold"
    assert sim.ledger().clutch_loss == pytest.approx(logic.total_loss, rel=1e-9) != 0.0
    before = sim.q
    sim.run(0.1, both)  # there is nothing left to drive
    np.testing.assert_allclose(sim.q[7:], before[7:], atol=1e-12)


class Says:
    def __init__(self, command):
        self.command = command

    def update(self, t, state):
        return self.command


def test_two_controllers_do_not_command_the_same():
    sim = Simulation(walker(), coupling="normal")
    waist = Command(motor={"waist": 0.1})
    with pytest.raises(ValueError, match="one of them to command motors, got 2"):
        sim.run(0.01, Together(walker(), Says(waist), Says(waist)))
    sim.run(0.01, Together(walker(), Says(waist), Says(Command(coupling="normal")), Says(None)))


def test_targets_of_motors_have_gains_and_efforts():
    told, driven = (Simulation(walker(), coupling="normal") for _ in range(2))
    motor = Targets(("waist",), np.array([0.1]), effort=np.array([0.5]), kp=np.array([50.0]), kd=np.array([3.0]))
    told.run(0.1, Says(Command(motor=motor)))
    driven.drive_motors(position={"waist": 0.1}, kp={"waist": 50.0}, kd={"waist": 3.0})
    driven.advance(100, motor={"waist": 0.5})
    np.testing.assert_array_equal(told.q, driven.q)
    assert told.q[walker().joint("body").iq] > 0.001


def test_every_answer_can_be_listed_as_a_message_has_it():
    names = ("shoulder", "elbow")
    assert listed(command_from(None, names), names) == Command()
    for answer in ([1.0, 2.0], {"shoulder": 1.0, "elbow": 2.0}, Command(effort=[1.0, 2.0])):
        found = listed(command_from(answer, names), names)
        assert (found.names, found.effort.tolist()) == (names, [1.0, 2.0])

    found = listed(command_from(SimpleNamespace(position={"elbow": 0.3}), names), names)
    assert (found.names, found.position.tolist()) == (("elbow",), [0.3])
    motors = listed(Command(motor={"waist": 0.1}), names)
    assert (motors.motor.names, motors.motor.effort.tolist()) == (("waist",), [0.1])
    with pytest.raises(ValueError, match="2 names, got 3"):
        listed(Command(names, position=[0.0, 0.0, 0.0]), names)
