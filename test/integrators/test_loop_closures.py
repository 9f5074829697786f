# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Closed loops, in maximal and in joint coordinates: a four-bar linkage against its one equation of motion, closure."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros.dynamics import energy
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import Attachment, Closure

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.45
SCHEMES = pytest.mark.parametrize("scheme", [QuaternionVariational, LieVariational])
PIN = "closures: {pin: {from: {link: coupler, point: [0.5, 0, 0]}, to: {link: rocker, point: [0.4, 0, 0]}%s}}"


@functools.cache
def linkage(density=1.0):
    builder = ModelBuilder("four_bar").link("world")
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        builder.link(name, mass=density * length, com=(0.5 * length, 0.0, 0.0), box=(length, 0.03, 0.03))
    builder.joint("a", "continuous", "world", "crank", axis=(0, 1, 0))
    builder.joint("b", "continuous", "crank", "coupler", xyz=(CRANK, 0, 0), axis=(0, 1, 0))
    builder.joint("d", "continuous", "world", "rocker", xyz=(GROUND, 0, 0), axis=(0, 1, 0))
    return builder.build("fixed")


def closure(hinge=True):
    axes = ((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)) if hinge else None
    return [Closure("pin", (Attachment("coupler", (COUPLER, 0, 0)), Attachment("rocker", (ROCKER, 0, 0))), axes)]


def angles(crank):
    """q of the closed linkage at this angle of the crank, by the law of cosines."""
    pin = np.array([CRANK * np.cos(crank), CRANK * np.sin(crank)])
    way = np.array([GROUND, 0.0]) - pin
    distance = np.hypot(*way)
    at_pin = np.arccos((COUPLER**2 + distance**2 - ROCKER**2) / (2.0 * COUPLER * distance))
    coupler = np.arctan2(way[1], way[0]) + at_pin
    end = pin + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(end[1], end[0] - GROUND)
    return -np.array([crank, coupler - crank, rocker])  # turns about y go from x to −z


@SCHEMES
def test_it_moves_as_the_linkage_with_one_coordinate(scheme):
    """Oracle: Lagrange's equation of the crank's angle, with energies of the robot and derivatives by differences."""
    model = linkage()

    def inertia_and_height(crank):
        rates = (angles(crank + 1e-6) - angles(crank - 1e-6)) / 2e-6
        found = energy(model, angles(crank), rates)
        return 2.0 * found.kinetic, found.potential

    def motion(_, y):
        (m, _), (m1, u1), (m0, u0) = (inertia_and_height(y[0] + d) for d in (0.0, 1e-4, -1e-4))
        return [y[1], -(0.5 * (m1 - m0) / 2e-4 * y[1] ** 2 + (u1 - u0) / 2e-4) / m]

    true = solve_ivp(motion, (0.0, 0.4), [0.3, 5.0], rtol=1e-9, atol=1e-9).y[0, -1]
    errors = []
    for h in (4e-3, 2e-3):
        ours = scheme(model, h, closures=closure())
        rates = (angles(0.3 + 1e-6) - angles(0.3 - 1e-6)) / 2e-6 * 5.0
        ours.reset(angles(0.3), rates)
        np.testing.assert_allclose(ours.v, rates, atol=1e-8)
        ours.step(steps=round(0.4 / h))
        errors.append(abs(-ours.q[0] - true))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@SCHEMES
@pytest.mark.parametrize("hinge", [True, False])
def test_it_stays_closed(hinge, scheme):
    """A planar loop says some things twice; those rows are left out and hold by themselves. 100 s: the experiment."""
    ours = scheme(linkage(), 0.02, closures=closure(hinge))
    ours.reset(angles(0.3), [-1.0, 0.0, 0.0])
    kept = ours.loops.closures.kept if scheme is QuaternionVariational else ours.loops.arrays.kept
    assert (kept >= 0).sum() == 2
    seconds, worst = 10.0 if hinge else 5.0, 0.0
    start = sum(ours.energies())
    for _ in range(round(seconds / ours.dt / 25.0)):
        ours.step(steps=25)
        worst = max(worst, ours.closure_error())
    assert worst < 1e-10
    assert ours.time == pytest.approx(seconds)
    assert abs(sum(ours.energies()) - start) < 0.1 * abs(start)
    assert ours.counts.halvings == 0


@SCHEMES
def test_a_start_that_is_nearly_closed_is_closed_and_another_refused(scheme):
    ours = scheme(linkage(), 1e-3, closures=closure())
    ours.reset(angles(0.3) + np.array([0.0, 1e-4, 0.0]))
    assert ours.closure_error() < 1e-12
    np.testing.assert_allclose(ours.q, angles(0.3), atol=3e-4)
    with pytest.raises(ValueError, match="the closures pin are open by 0.1.*no q nearby closes them"):
        ours.reset([0.0, 0.0, 0.0])


@SCHEMES
def test_a_snapshot_of_a_closed_loop_continues_bit_for_bit(scheme):
    ours, other = (scheme(linkage(), 1e-2, closures=closure()) for _ in range(2))
    ours.reset(angles(0.3), [-3.0, 0.0, 0.0])
    ours.step(steps=10)
    other.restore(ours.saved())
    for each in (ours, other):
        each.step(steps=10)
    assert ours.q.tobytes() == other.q.tobytes() and ours.v.tobytes() == other.v.tobytes()


def test_a_sidecar_closes_loops():
    robot = linkage().description
    sidecar = parse_sidecar(PIN % ", axes: [[0, 1, 0], [0, 1, 0]]", robot)
    assert list(sidecar.closures.values()) == closure()
    assert parse_sidecar(PIN % "", robot).closures["pin"].axes is None
    with pytest.raises(SidecarError, match="wrong number of axes"):
        parse_sidecar(PIN % ", axes: [[0, 1, 0]]", robot)
    with pytest.raises(SidecarError, match="axis of zero"):
        parse_sidecar(PIN % ", axes: [[0, 0, 0], [0, 1, 0]]", robot)
    with pytest.raises(SidecarError, match="missing key 'to'|missing key"):
        parse_sidecar("closures: {pin: {from: {link: crank}}}", robot)
    with pytest.raises(SidecarError, match="closure within one link"):
        parse_sidecar("closures: {pin: {from: {link: crank}, to: {link: crank}}}", robot)
