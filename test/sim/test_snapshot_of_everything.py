# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A snapshot in the midst of sticking feet, an engaged clutch, springs and bodies that touch; steps in any portions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sim_robots import crawler

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.bench.walker import case as walker_case
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.integrators.lie_variational.solve_kernel import FACTORED_STEP
from mbsim_ros.model.sidecar.settings import Attachment, Spring
from mbsim_ros.sim import Snapshot

CONTINUE = """
import sys
sys.path[:0] = sys.argv[1:3]
from test_snapshot_of_everything import yard
from mbsim_ros.sim import Snapshot
sim = yard()
sim.restore(Snapshot.load(sys.argv[3]))
sim.advance(7)
sim.advance(113)
sim.snapshot().save(sys.argv[4])
"""


def yard():
    """A cart with two arms on the ground, a spring between the arms, and a block that lies on the cart."""
    builder = ModelBuilder("yard").link("world").link("cart", mass=4.0, box=(0.5, 0.4, 0.2), collision=True)
    builder.joint("cart_flight", "floating", "world", "cart")
    for arm, y in (("left", 0.25), ("right", -0.25)):
        builder.link(arm, mass=0.5, com=(0, 0, 0.15), box=(0.04, 0.04, 0.3))
        builder.joint(f"{arm}_joint", "continuous", "cart", arm, xyz=(0, y, 0.1), axis=(0, 1, 0), damping=0.05)
    builder.link("block", mass=1.8, box=(0.1, 0.1, 0.1), collision=True)
    builder.joint("block_flight", "floating", "world", "block")
    ends = (Attachment("left", (0, 0, 0.25)), Attachment("cart", (0.2, 0, 0.1)), Attachment("right", (0, 0, 0.25)))
    return Simulation(
        builder.build(), terrain="flat", contact={"friction": 0.7}, body_contact=[("block", "cart")],
        springs=[Spring("band", ends, 60.0, 0.5, 0.4)],
    )  # fmt: skip


def busy():
    """The yard after a while: the block has landed, the arms are on one motor with a rotor."""
    sim = yard()
    places = {joint.name: joint for joint in sim.model.joints}
    q = sim.q
    q[places["cart_flight"].iq + 2], q[places["block_flight"].iq + 2] = 0.1, 0.251
    sim.reset(q)
    sim.advance(200)
    sim.couple({"motors": {"drum": {"left_joint": 1.0, "right_joint": -1.0}}, "rotor_inertia": {"drum": 0.01}})
    sim.drive_motors(position={"drum": 0.3}, kp={"drum": 20.0}, kd={"drum": 0.5})
    sim.push("cart", (1.0, 0.5, 0.0))
    sim.advance(211)
    while sim.integrator.state.memory[FACTORED_STEP] == 0.0:  # until there are factors that the next step will use
        sim.step()
    return sim


def check_busy(sim):
    reports = sim.contacts()
    assert sum(report.mode is ContactMode.STICKING for report in reports if report.other == "") >= 4
    assert sum(report.mode is ContactMode.STICKING for report in reports if report.other) >= 4
    assert "drum" in sim.coupling.motors
    assert sim.energy().elastic > 1e-3


def test_it_continues_bit_for_bit_in_another_process(tmp_path):
    sim = busy()
    check_busy(sim)
    sim.snapshot().save(tmp_path / "begin.npz")
    sim.advance(120)
    here, project = Path(__file__).parent, Path(__file__).resolve().parents[2]
    arguments = [str(here), str(project), str(tmp_path / "begin.npz"), str(tmp_path / "end.npz")]
    subprocess.run([sys.executable, "-c", CONTINUE, *arguments], check=True)
    assert Snapshot.load(tmp_path / "end.npz") == sim.snapshot()


def walking():
    sim = Simulation(walker_case.walker(), terrain="flat", coupling=walker_case.five_motors())
    targets = walker_case.gait(2e-3)
    sim.reset(walker_case.state_on_feet(targets[-1]))
    sim.integrator.motor_position[6:] = targets[-1]
    sim.drive_motors(position=targets[80], kp=walker_case.STIFFNESS, kd=walker_case.DAMPING)
    sim.advance(30)
    return sim


def crawling():
    sim = Simulation(crawler())
    sim.reset("tossed")
    sim.advance(100)
    return sim


@pytest.mark.parametrize("make", [busy, walking, crawling])
def test_steps_in_any_portions_are_the_same_steps(make):
    """Factors are kept over calls as over steps: 10 = 7 + 3 = ten times 1, also where feet land and slip."""
    sim = make()
    start = sim.snapshot()
    for rounds in range(12):
        ends = []
        for portions in ((10,), (7, 3), (1,) * 10):
            sim.restore(start)
            for steps in portions:
                sim.advance(steps)
                sim.q, sim.v, sim.energy(), sim.contacts(), sim.ledger()
            ends.append(sim.snapshot())
        assert ends[0] == ends[1] == ends[2], rounds
        start = ends[0]
    assert np.isfinite(sim.q).all()
