# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controllers of entities of a scene: each as if its robot were alone, to the tolerance of the solve."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation, load_urdf
from mbsim_ros.control.command import Command
from mbsim_ros.control.walker.gait import WalkerGait

ROOT = Path(__file__).resolve().parents[2]
BOX = ModelBuilder("box").link("box", mass=1.0, box=(0.2, 0.2, 0.2), collision=True).build("floating")


class Reach:
    """Holds a joint somewhere and pushes the hand, and remembers what it saw."""

    def __init__(self, elbow: float, control_period: float | None = None):
        self.elbow, self.control_period, self.seen = elbow, control_period, []

    def update(self, t, state):
        self.seen.append((t, state.q, state.effort))
        return Command(("elbow",), position=np.array([self.elbow]), effort=np.array([0.1 * t]))


def test_controllers_of_two_arms_are_as_of_one_alone():
    arm = load_urdf(ROOT / "urdf/arm.urdf.xacro")
    sim = Simulation({"left": arm, "box": BOX, "right": arm}, terrain=False)
    both = {"left": Reach(0.3, 0.002), "right": Reach(-0.4, 0.005)}  # each in its own time
    sim.run(0.1, both)
    for name, each in both.items():
        alone, controller = Simulation(arm, terrain=False), Reach(each.elbow, each.control_period)
        alone.run(0.1, controller)
        np.testing.assert_allclose(sim.entity(name).q, alone.q, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(sim.entity(name).v, alone.v, rtol=0.0, atol=1e-9)
        assert [t for t, *_ in each.seen] == [t for t, *_ in controller.seen]
        for (_, q, effort), (_, q_alone, effort_alone) in zip(each.seen, controller.seen, strict=True):
            np.testing.assert_allclose(q, q_alone, rtol=0.0, atol=1e-11)
            np.testing.assert_allclose(effort, effort_alone, rtol=0.0, atol=1e-6)
        own, state = sim.entity(name).state(), alone.state()
        assert own.coupling == state.coupling and own.contact_links == ()
        np.testing.assert_allclose(own.motor_position, state.motor_position, rtol=0.0, atol=1e-11)


def test_a_gait_with_its_coupling_walks_in_a_scene():
    walker = load_urdf(ROOT / "urdf/walker.urdf.xacro")
    gait, alone_gait = WalkerGait(walker), WalkerGait(walker)
    sim = Simulation({"box": BOX, "it": walker}, coupling="it/normal")
    alone = Simulation(walker, coupling="normal")
    q = sim.q
    q[sim.entities["box"].in_q[:3]], q[sim.entities["it"].in_q] = (5.0, 0.0, 0.1), alone.q
    sim.reset(q, np.zeros(sim.model.nv))
    sim.run(0.3, {"it": gait})
    alone.run(0.3, alone_gait)
    np.testing.assert_allclose(sim.entity("it").q, alone.q, rtol=0.0, atol=1e-6)  # the tolerance where feet push


def test_what_is_no_controller_of_an_entity():
    sim = Simulation({"one": BOX, "two": BOX}, terrain=False)
    with pytest.raises(ValueError, match="controller: no entity named 'tow': there are one, two"):
        sim.run(0.01, {"tow": Reach(0.0)})
    with pytest.raises(ValueError, match="expected 'one' to have update"):
        sim.run(0.01, {"one": 3})
    with pytest.raises(ValueError, match="no entity named 'box'.*one robot"):
        Simulation(BOX, terrain=False).run(0.01, {"box": Reach(0.0)})
    with pytest.raises(ValueError, match=r"'one': expected 0 efforts"):

        class Wrong:
            def update(self, t, state):
                return [1.0, 2.0]

        sim.run(0.01, {"one": Wrong()})
