# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Springs within the step: against the differential equation, going slack, their ledger, momentum of free bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.elastic import attach, spring_energy, spring_forces, spring_lengths
from mbsim_ros.integrators.lie_variational.matrix_kernel import DENSE, TREE
from mbsim_ros.lie import quaternion
from mbsim_ros.model.sidecar.settings import Attachment, Spring

SPAN = 0.5
ARMS = ("left", "right")


def at(link, *point):
    return Attachment(link, point)


def forked():
    """A post that turns about z and carries two arms of two joints each."""
    builder = ModelBuilder("forked").link("world").link("post", mass=1.5, com=(0, 0, 0.2), box=(0.1, 0.1, 0.4))
    builder.joint("turn", "continuous", "world", "post", axis=(0, 0, 1))
    for arm, side in zip(ARMS, (1.0, -1.0), strict=True):
        for part, parent, xyz, axis in (
            ("upper", "post", (0, 0.1 * side, 0.4), (1, 0, 0)),
            ("lower", f"{arm}_upper", (0.02, 0.0, -0.3), (0, 1, 0)),
        ):
            builder.link(f"{arm}_{part}", mass=0.8, com=(0, 0, -0.15), box=(0.05, 0.04, 0.3))
            builder.joint(f"{arm}_{part}_joint", "continuous", parent, f"{arm}_{part}", xyz=xyz, axis=axis)
    return builder.build()


SPRINGS = (
    # along one arm past two joints, with a damper
    Spring("tendon", (at("post", 0.05, 0, 0.3), at("left_upper", 0, 0.03, -0.2), at("left_lower", 0, 0, -0.2)), 60.0, 0.3, 0.5),
    # from one branch to the other, and to the world
    Spring("across", (at("left_lower", 0, 0, -0.25), at("right_lower", 0, 0, -0.25)), 40.0, 0.2, 0.3),
    Spring("anchor", (at("world", 0.4, 0.1, 0.0), at("right_upper", 0, 0, -0.3)), 25.0, 0.5),
)  # fmt: skip
CABLE = Spring("cable", (at("world", 0.3, 0.5, 0.2), at("left_lower", 0, 0, -0.3)), 150.0, 0.5, 0.0, True)


def free_pair():
    """Two boxes that fly freely."""
    builder = ModelBuilder("pair").link("world")
    for name, mass in (("big", 2.0), ("small", 0.5)):
        builder.link(name, mass=mass, com=(0.02, -0.01, 0.03), box=(0.3, 0.2, 0.1))
        builder.joint(f"{name}_flight", "floating", "world", name)
    return builder.build()


BETWEEN = (
    Spring("band", (at("big", 0.15, 0.1, 0.05), at("small", -0.15, 0.0, 0.05)), 80.0, 0.3, 0.2),
    Spring("cord", (at("big", -0.15, 0.1, 0.0), at("small", 0.1, -0.1, 0.0), at("big", 0.1, -0.1, 0.05)), 50.0, 0.4, 0.0, True),
)  # fmt: skip


def flight(model):
    """q and v of the two boxes, tumbling."""
    q, v = model.neutral.copy(), np.array([0.3, -0.2, 0.1, 2.0, -1.0, 3.0, -0.5, 0.4, 0.2, -4.0, 2.0, 1.0])
    q[7:10] = 0.5, 0.2, 0.1
    return q, v


def rate_of(model, q, v):
    """dq/dt (nq,) for continuous and floating joints."""
    rate = np.zeros(model.nq)
    for joint in model.joints:
        if joint.type == "floating":
            unit = quaternion.from_ros(q[joint.iq + 3 : joint.iq + 7])
            rate[joint.iq : joint.iq + 3] = quaternion.to_matrix(unit) @ v[joint.iv : joint.iv + 3]
            turning = np.array([0.0, *(0.5 * v[joint.iv + 3 : joint.iv + 6])])
            rate[joint.iq + 3 : joint.iq + 7] = quaternion.to_ros(quaternion.multiply(unit, turning))
        else:
            rate[joint.iq] = v[joint.iv]
    return rate


def unit_joints(model, q):
    q = np.array(q)
    for joint in model.joints:
        if joint.type == "floating":
            q[joint.iq + 3 : joint.iq + 7] /= np.linalg.norm(q[joint.iq + 3 : joint.iq + 7])
    return q


def exact(model, springs, q, v, gravity, events=None):
    """q and v after SPAN by DOP853, from forward_dynamics and spring_forces."""
    attached = attach(model, springs)

    def rate(t, y):
        q, v = unit_joints(model, y[: model.nq]), y[model.nq :]
        a = forward_dynamics(model, q, v, spring_forces(model, attached, q, v), gravity=gravity)
        return np.concatenate([rate_of(model, q, v), a])

    kinks = None
    if events is not None:

        def kinks(t, y):
            return spring_lengths(model, attached, unit_joints(model, y[: model.nq]))[0] - springs[0].rest_length

    done = solve_ivp(
        rate, (0, SPAN), np.concatenate([q, v]), method="DOP853", rtol=1e-11, atol=1e-12, events=kinks, max_step=0.01
    )
    if events is not None:
        events.extend(done.t_events[0])
    return done.y[: model.nq, -1], done.y[model.nq :, -1]


def errors_of(model, springs, q, v, gravity, expected, counts, **scheme):
    errors = []
    for n in counts:
        sim = Simulation(model, SPAN / n, gravity=gravity, springs=springs, **scheme)
        sim.reset(q, v)
        sim.advance(n)
        errors.append(max(np.abs(sim.q - expected[0]).max(), np.abs(sim.v - expected[1]).max()))
    return np.array(errors)


@pytest.mark.parametrize("quadrature", ["midpoint", "trapezoidal"])
def test_springs_past_joints_and_between_branches_are_of_second_order(quadrature):
    model = forked()
    q, v = np.array([0.2, 0.5, -0.4, -0.3, 0.6]), np.array([1.0, -0.5, 0.8, 0.3, -1.0])
    expected = exact(model, SPRINGS, q, v, (0, 0, -9.81))
    errors = errors_of(model, SPRINGS, q, v, (0, 0, -9.81), expected, (250, 500, 1000), quadrature=quadrature)
    assert np.abs(np.log2(errors[:-1] / errors[1:]) - 2.0).max() < 0.05, errors
    assert errors[-1] < 3e-4
    sim = Simulation(model, springs=SPRINGS)
    assert sim.integrator._system.scheme.factorisation == DENSE
    assert Simulation(model).integrator._system.scheme.factorisation == TREE


def test_springs_between_free_bodies_are_of_second_order():
    model = free_pair()
    q, v = flight(model)
    expected = exact(model, BETWEEN[:1], q, v, (0, 0, 0))
    errors = errors_of(model, BETWEEN[:1], q, v, (0, 0, 0), expected, (250, 500, 1000))
    assert np.abs(np.log2(errors[:-1] / errors[1:]) - 2.0).max() < 0.05, errors
    assert errors[-1] < 3e-4


def test_a_cable_that_goes_slack_and_taut_again():
    """Its force has a kink, which a step may have inside: still of second order, not as evenly."""
    model, events = forked(), []
    q, v = np.array([0.0, 0.6, 0.2, 0.0, 0.0]), np.array([0.5, 1.0, 0.0, 0.0, 0.0])
    expected = exact(model, [CABLE], q, v, (0, 0, -9.81), events)
    assert len(events) >= 2
    errors = errors_of(model, [CABLE], q, v, (0, 0, -9.81), expected, (125, 500, 2000))
    slopes = np.log2(errors[:-1] / errors[1:]) / 2.0
    assert (slopes > 1.7).all(), (slopes, errors)
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("springs", [SPRINGS, (CABLE,), (*SPRINGS, CABLE)], ids=["springs", "cable", "both"])
def test_the_ledger_has_what_dampers_take_and_springs_hold(springs):
    model, left = forked(), []
    attached = attach(model, springs)
    q, v = np.array([0.2, 0.5, -0.4, -0.3, 0.6]), np.array([1.0, -0.5, 0.8, 0.3, -1.0])
    for n in (250, 500, 1000):
        sim = Simulation(model, SPAN / n, springs=springs)
        sim.reset(q, v)
        sim.advance(n)
        books = sim.ledger()
        assert books.elastic == pytest.approx(spring_energy(model, attached, sim.q), rel=1e-14)
        left.append(abs(books.residue))
    damped = any(spring.damping > 0.0 for spring in springs)
    assert (books.spring_damping < -1e-3) == damped
    assert left[-1] < 1e-5 * books.turned_over
    assert left[-1] < 0.3 * left[0]
    assert sum(abs(getattr(books, name)) for name in ("damping", "friction", "stops", "actuator_work")) == 0.0


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_momentum_is_kept_with_springs_between_free_bodies(dt):
    model = free_pair()
    q, v = flight(model)
    sim = Simulation(model, dt, gravity=(0, 0, 0), springs=BETWEEN)
    sim.reset(q, v)
    start, slack, taut = sim.momentum(), False, False
    attached = attach(model, BETWEEN)
    for _ in range(40):
        sim.advance(25)
        assert np.abs(sim.momentum() - start).max() < 1e-12 * np.abs(start).max()
        stretched = spring_lengths(model, attached, sim.q)[1] > BETWEEN[1].rest_length
        slack, taut = slack or not stretched, taut or stretched
    assert slack and taut
    assert sim.ledger().spring_damping < -1e-2


def test_a_stiff_spring_is_solved_with_the_step():
    """A rod of 5e7 N/m on a body of 0.8 kg: ω h = 16, where an explicit step must have ω h < 2."""
    model, q = forked(), np.array([0.0, 0.6, 0.2, 0.0, 0.0])
    ends = (at("world", 0.0, 0.6, 0.2), at("left_lower", 0, 0, -0.3))
    length = float(spring_lengths(model, attach(model, [Spring("rod", ends, 1.0, 0.0)]), q)[0])
    rod = Spring("rod", ends, 5e7, length, 100.0)
    sim = Simulation(model, 2e-3, springs=[rod])
    sim.reset(q)
    attached, start, longest = attach(model, [rod]), sim.energy().total, 0.0
    for _ in range(100):
        sim.advance(10)
        longest = max(longest, abs(spring_lengths(model, attached, sim.q)[0] - length))
    assert longest < 1e-5
    assert np.abs(sim.q - q).max() > 0.5
    assert sim.energy().total < start + 1e-3
    assert sim.integrator.counts.halvings == 0
