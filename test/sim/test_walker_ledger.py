# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ledger of the walker over 20 s: contact, damping, motors, springs and clutches that close and open as it walks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.bench.walker import case
from mbsim_ros.coupling.configuration import couple
from mbsim_ros.model.sidecar.settings import Attachment, Spring

SECONDS, CONTROL = 20.0, 2e-3
# [s] the tibias' cables are let go while the femurs of one frame lift, and taken up again 30 ms later
RELEASES, LENGTH = (0.06, 0.86, 8.06, 12.06, 17.66), 0.03
ALLOWED = 2e-3  # of the energy turned over


@cache
def couplings():
    """The transmission, and the same with cables that do not follow the femurs."""
    walking = case.five_motors()
    model, ratios = walking.model, {}
    for motor in walking.motors:
        column = walking.D[:, walking.column_of(motor)]
        ratios[motor] = {joint.name: float(column[joint.iv]) for joint in model.joints if column[joint.iv] != 0.0}
    loose = {
        motor: {j: r for j, r in of.items() if motor[0] != "f" or j.endswith("_f")} for motor, of in ratios.items()
    }
    return walking, couple(model, loose, rotor_inertia={})


def springs():
    """One from a plate to each tibia, with a damper."""
    made = []
    for frame, plate in (("A", "top"), ("B", "bottom")):
        for leg in case.legs(frame):
            corner = (0.1 if leg[1] == "F" else -0.1, 0.1 if leg[2] == "L" else -0.1, 0.0)
            ends = (Attachment(plate, corner), Attachment(f"{leg}_tibia", (0, 0, -0.2)))
            made.append(Spring(f"{leg}_tendon", ends, 120.0, 0.25, 2.0))
    return made


@cache
def walk(dt):
    """The simulation at the end, its ledgers at every second, and what each change of coupling took."""
    walking, loose = couplings()
    sim = Simulation(
        case.walker(), dt, terrain="flat", contact={"friction": case.FRICTION}, coupling=walking, springs=springs()
    )
    sim.integrator.joints.damping[6:] = case.JOINT_DAMPING
    targets, books, losses = case.gait(CONTROL), [], []
    sim.reset(case.state_on_feet(targets[-1]))
    sim.integrator.motor_position[6:] = targets[-1]
    sim.drive_motors(position=targets[-1], kp=case.STIFFNESS, kd=case.DAMPING)
    changes = {round(t / CONTROL): loose for t in RELEASES}
    changes |= {round((t + LENGTH) / CONTROL): walking for t in RELEASES}
    for k in range(round(SECONDS / CONTROL)):
        if k in changes:
            losses.append(sim.couple(changes[k]).loss)
        sim.drive_motors(position=targets[k % len(targets)])
        sim.advance(round(CONTROL / dt))
        if (k + 1) % round(1.0 / CONTROL) == 0:
            books.append(sim.ledger())
    return sim, books, losses


def test_nearly_nothing_is_left_over():
    sim, books, losses = walk(1e-3)
    assert len(books) == SECONDS and len(losses) == 10
    assert min(losses) > 0.05  # every change meets moving parts
    last = books[-1]
    for name in ("actuator_work", "damping", "spring_damping", "contact_dissipated", "contact_friction", "clutch_loss"):
        assert abs(getattr(last, name)) > 1.0, name
    assert last.elastic > 1.0 and last.contact_stored > 1e-3
    assert last.turned_over > 100.0
    assert last.clutch_loss == pytest.approx(sum(losses), rel=1e-12)
    assert max(each.relative_residue for each in books) < 0.01 * ALLOWED
    assert sim.q[0] > 3.0 and sim.q[2] > 0.9 * case.STANDING_HEIGHT  # it walked, and stands


def test_what_is_left_over_does_not_drift():
    """The scheme's own error swings; a straight line through it rises by less than its swing over the whole run."""
    _, books, _ = walk(1e-3)
    left = np.array([each.residue for each in books])
    slope, start = np.polyfit(np.arange(len(left)), left, 1)
    swing = np.ptp(left - (start + slope * np.arange(len(left))))
    assert abs(slope) * len(left) < 2.0 * swing
    assert np.abs(left[-5:]).max() < 20.0 * np.abs(left[:5]).max()
    shares = np.array([each.relative_residue for each in books])
    assert shares[-5:].max() < 2.0 * shares[:5].max()


def test_it_falls_with_the_step():
    coarse, fine = (np.abs([each.residue for each in walk(dt)[1]]).max() for dt in (2e-3, 5e-4))
    assert fine < coarse / 8.0  # 16 for smooth motion
