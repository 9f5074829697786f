# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Factors and rates that are kept from step to step never decide what a step's solution is.

Each step is taken twice from the same state, once as it comes and once by a solver that remembers nothing: stops,
limits, cables and gains that change are met by factors which know nothing of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mbsim_ros.contact.body_pairs import body_pairs
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor
from mbsim_ros.elastic import attach, spring_lengths
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.solve_kernel import FACTORED_STEP, SOLVER_RATE
from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.sidecar.settings import Attachment, Spring

DT, STEPS = 1e-3, 1500


@cache
def slider():
    """A block on a rail: its equations are linear, so a solver learns that one iteration is enough."""
    builder = ModelBuilder("slider").link("world").link("block", mass=2.0, box=(0.1, 0.1, 0.1))
    builder.joint("rail", "prismatic", "world", "block", axis=(1, 0, 0), lower=-9, upper=9, effort=1e6, velocity=99)
    return builder.build()


def on_rail(**options):
    engine = LieVariational(slider(), DT, tolerance=0.0, **options)
    engine.reset([0.0], [1.0])
    engine.drives.kp[:] = 500.0
    return engine


def stopped():
    engine = on_rail()
    engine.joints.upper[:], engine.joints.stop_stiffness[:], engine.joints.stop_damping[:] = 0.03, 1e5, 100.0
    return engine


def rubbing():
    engine = on_rail()
    engine.joints.friction[:] = 5.0
    return engine


def tied():
    ends = (Attachment("world", (0, 0, 0)), Attachment("block", (0, 0, 0)))
    return on_rail(springs=attach(slider(), [Spring("cable", ends, 5e4, 0.03, 10.0, True)]), gravity=(0, 0, 0))


def swinging():
    engine = LieVariational(chain(3), DT, tolerance=0.0)
    engine.reset([0.3, 0.2, 0.1], [0.1, 0.0, 0.0])
    engine.drives.kp[:], engine.drives.limit[:] = 100.0, 5.0
    engine.joints.lower[:], engine.joints.upper[:] = -0.35, 0.35
    engine.joints.stop_stiffness[:], engine.joints.stop_damping[:] = 1e5, 10.0
    return engine


def bouncing():
    ball = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.05, collision=True).build("floating")
    engine = LieVariational(ball, DT, points=contact_points(ball), ground=floor(), tolerance=0.0)
    engine.reset([0, 0, 0.2, 0, 0, 0, 1], [0.5, 0, 0, 0, 1, 0])
    return engine


def gains(engine, k):
    engine.drives.kp[:] = 500.0 if (k // 200) % 2 else 5e5


def targets(engine, k):
    engine.drives.position[:] = 0.5 * np.sin(0.01 * k)


def nothing(engine, k):
    pass


@pytest.mark.parametrize(
    ("make", "change"),
    [(stopped, nothing), (rubbing, nothing), (tied, nothing), (on_rail, gains), (swinging, targets), (bouncing, nothing)],
    ids=["stop", "friction", "cable", "gains", "limits", "ground"],
)  # fmt: skip
def test_a_step_is_solved_whatever_the_steps_before_have_taught(make, change):
    engine, other = make(), make()
    began_with_old_factors = 0
    for k in range(STEPS):
        change(engine, k)
        other.restore(engine.saved())
        other.state.memory[FACTORED_STEP], other.state.memory[SOLVER_RATE] = 0.0, 1.0
        began_with_old_factors += engine.state.memory[FACTORED_STEP] == DT
        engine.step()
        other.step()
        u = other.mean_velocity
        assert np.abs(engine.mean_velocity - u).max() < 1e-11 * max(1.0, np.abs(u).max()), k
        assert np.abs(engine.p - other.p).max() < 1e-11 * max(1.0, np.abs(other.p).max()), k
    assert began_with_old_factors > 0.5 * STEPS


def test_stiff_forces_at_rest_are_solved_to_rounding():
    """Nothing moves, so all that the iteration could be small against is the rounding of the forces themselves."""
    rod = chain(2)
    ends = (Attachment("world", (0, 0.3, 0.2)), Attachment(rod.link_names[-1], (0, 0, 0.1)))
    q = np.array([0.4, -0.3])
    length = float(spring_lengths(rod, attach(rod, [Spring("rod", ends, 1.0, 0.0)]), q)[0])
    for k in (1e7, 1e9, 1e11):
        engine = LieVariational(rod, 2e-3, springs=attach(rod, [Spring("rod", ends, k, length, 100.0)]))
        engine.reset(q)
        engine.step(steps=200)
        assert engine.counts.halvings == engine.counts.newton_steps == 0
    held = LieVariational(rod, 2e-3)
    held.reset(q)
    held.drives.kp[:], held.drives.kd[:], held.drives.position[:] = 1e12, 1e3, q
    held.step(steps=200)
    assert np.abs(held.q - q).max() < 1e-9 and held.counts.halvings == 0


def test_stiff_ground_far_away():
    """A ball at rest a kilometre from the origin on ground of 1e9 N/m: its place is known to 1e-13 m only."""
    ball = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.05, collision=True).build("floating")
    law = ContactParameters(1e9, 1e4, 1e9, 1e4, 0.8, 0.8, 1e-3, 1e-9, 1.0)
    engine = LieVariational(ball, DT, points=contact_points(ball), ground=floor(), contact=law)
    engine.reset([1000.0, -500.0, 0.05 - 1e-9, 0, 0, 0, 1], [0.0] * 6)
    engine.step(steps=500)
    assert engine.counts.halvings == 0
    assert np.abs(engine.q[:3] - [1000.0, -500.0, 0.05]).max() < 1e-6


def test_an_iteration_that_runs_away_is_not_taken_for_converged():
    """Two boxes inside each other on a stiff law: far out any residual is small beside the matrix of such a place."""
    builder = ModelBuilder("blocks").link("world")
    for block, mass in (("a", 2.0), ("b", 0.5)):
        builder.link(block, mass=mass, box=(0.2, 0.2, 0.2), collision=True)
        builder.joint(f"{block}_flight", "floating", "world", block)
    model, solved = builder.build(), 0
    points, rng = contact_points(model), np.random.default_rng(2)
    for _ in range(150):
        k = 10.0 ** rng.uniform(6, 11)
        law = ContactParameters(k, 1e3, k, 1e3, 100.0, 100.0, 1e-5, 1e-5, 1.0)
        engine = LieVariational(
            model, 1e-3, retraction="exp", points=points, ground=floor(), contact=law, pairs=body_pairs(model, points),
            pair_contact=law,
        )  # fmt: skip
        q = model.neutral.copy()
        q[:3], q[7:10] = rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.1, 0.1, 3)
        engine.reset(q, rng.normal(size=12))
        stored = 0.5 * k * 32 * 0.3**2 * 2.0  # more than all of the springs could hold
        for _ in range(5):
            try:
                engine.step()
            except RuntimeError:
                break
            solved += 1
            assert engine.energies()[0] < 10.0 * (stored + 1e3)
    assert solved > 200
