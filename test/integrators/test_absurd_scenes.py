# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Absurd contact, springs, couplings, gains and pushes: a step integrates or raises a named error and changes nothing.

Nothing that can be read is ever no number, and no step takes more than a bounded number of iterations.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from integrator_robots import move

from mbsim_ros.contact.body_pairs import body_pairs
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor
from mbsim_ros.coupling.configuration import couple
from mbsim_ros.elastic import attach
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance.newton_kernel import (
    ITERATIONS as NEWTON_ITERATIONS,
    newton_step_into,
)
from mbsim_ros.integrators.lie_variational.acceptance.recovery import MOST_TRIALS
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.solve_kernel import MAX_ITERATIONS
from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.sidecar.settings import Attachment, Spring

NAMED = (SimulationDiverged, ValueError)
STEPS = 3
CASES = {"crawler": 480, "blocks": 400, "arm": 400, "long": 100}
LONG = 30  # links: enough for the recursive factors


@cache
def robot(name):
    """A floating body on two legs with ball feet; two boxes that fly; a fork of rods; a long chain."""
    if name == "long":
        return chain(LONG)
    builder = ModelBuilder(name)
    if name == "crawler":
        builder.link("body", mass=3.0, box=(0.3, 0.2, 0.1))
        for leg, x in (("front", 0.15), ("rear", -0.15)):
            builder.link(leg, mass=0.4, com=(0, 0, -0.1), sphere=0.03, collision=True)
            builder.joint(f"{leg}_hip", "continuous", "body", leg, xyz=(x, 0, -0.05), axis=(0, 1, 0))
        return builder.build("floating")
    builder.link("world")
    if name == "blocks":
        for block, mass in (("a", 2.0), ("b", 0.5)):
            builder.link(block, mass=mass, box=(0.2, 0.2, 0.2), collision=True)
            builder.joint(f"{block}_flight", "floating", "world", block)
        return builder.build()
    for rod, parent in (("upper", "world"), ("left", "upper"), ("right", "upper")):
        builder.link(rod, mass=1.0, com=(0, 0, -0.2), cylinder=(0.02, 0.4))
        xyz = (0, 0.1 if rod == "left" else -0.1, -0.4)
        builder.joint(f"{rod}_joint", "continuous", parent, rod, xyz=xyz, axis=(0, 0.6, 0.8))
    return builder.build()


def power(rng, low, high):
    return float(10.0 ** rng.uniform(low, high))


def at_times(rng, probability, low, high):
    """0, or with this probability a number of any size."""
    return power(rng, low, high) if rng.random() < probability else 0.0


def law(rng):
    """Contact of any stiffness, damping and friction."""
    k = power(rng, -3, 12)
    static = at_times(rng, 0.8, -2, 6)
    dynamic = static * float(rng.choice([1.0, 0.5, 0.0]))
    return ContactParameters(
        k, at_times(rng, 0.8, -3, 8), k, at_times(rng, 0.8, -3, 8), static, dynamic, power(rng, -6, 0), power(rng, -9, -1), 1.0
    )  # fmt: skip


def springs(rng, model):
    """Two springs, one past a joint; slack, tight, of no length, of any stiffness."""
    places = [Attachment(link, tuple(rng.uniform(-0.2, 0.2, 3))) for link in ("body", "front", "rear")]
    made = [
        Spring("one", (places[0], places[1]), at_times(rng, 0.9, -3, 12), at_times(rng, 0.8, -3, 2), at_times(rng, 0.5, -3, 8), bool(rng.integers(2))),
        Spring("two", (places[1], places[0], places[2]), power(rng, -3, 9), at_times(rng, 0.5, -3, 1), at_times(rng, 0.5, -3, 6), bool(rng.integers(2))),
    ]  # fmt: skip
    return attach(model, made)


def coupling(rng, model):
    """None, or two joints on a motor with ratios of any size and a rotor."""
    names = [joint.name for joint in model.joints if joint.nv == 1][:2]
    if rng.random() < 0.4 or len(names) < 2:
        return None
    ratios = {name: float(rng.choice([-1, 1])) * power(rng, -9, 9) for name in names}
    return couple(model, {"motor": ratios}, rotor_inertia={"motor": at_times(rng, 0.5, -9, 6)})


def scene(rng, name):
    model, options = robot(name), {}
    if name in ("crawler", "blocks"):
        options |= {"points": contact_points(model), "ground": floor(), "contact": law(rng)}
    if name == "blocks":
        options |= {"pairs": body_pairs(model, options["points"]), "pair_contact": law(rng)}
    if name == "crawler":
        options["springs"] = springs(rng, model)
    if name in ("crawler", "arm"):
        options["coupling"] = coupling(rng, model)
    scheme = {
        "quadrature": str(rng.choice(["midpoint", "trapezoidal"])),
        "retraction": str(rng.choice(["cayley", "exp"])),
    }
    engine = LieVariational(model, power(rng, -9, 3) if rng.random() < 0.5 else power(rng, -4, -2), **scheme, **options)
    return engine, coupling(rng, model) if name in ("crawler", "arm") else None


def load(rng, engine):
    """Drives, friction, stops and pushes, each at times, of any size."""
    for drives in (engine.drives, engine.motors):
        at = rng.integers(len(drives.kp))
        drives.kp[at], drives.kd[at] = at_times(rng, 0.4, -3, 12), at_times(rng, 0.4, -3, 12)
        drives.position[at], drives.velocity[at] = rng.normal(size=2)
        drives.limit[at] = power(rng, -3, 12) if rng.random() < 0.3 else np.inf
    constants = 6 * len(engine.state.mu)
    engine.drives.effort[constants:] = rng.normal(size=len(engine.drives.effort) - constants) * at_times(
        rng, 0.3, -3, 12
    )
    joints, at = engine.joints, rng.integers(len(engine.joints.damping))
    joints.damping[at], joints.friction[at] = at_times(rng, 0.4, -3, 12), at_times(rng, 0.4, -3, 6)
    if rng.random() < 0.3:
        joints.lower[at], joints.upper[at] = -0.1, 0.1
        joints.stop_stiffness[at], joints.stop_damping[at] = power(rng, -3, 12), at_times(rng, 0.7, -3, 9)
    engine.external[rng.integers(len(engine.external))] = rng.normal(size=6) * at_times(rng, 0.3, -3, 12)


def start(rng, model):
    step = rng.uniform(-0.5, 0.5, model.nv)
    v = rng.normal(size=model.nv) * (power(rng, -2, 1) if rng.random() < 0.9 else power(rng, 1, 200))
    return move(model, model.neutral, step), v


def readable(engine):
    """All that a user can read of it, as arrays."""
    found = {
        name: np.array(array) for name, array in engine.saved().items() if name not in ("joints", "drives", "motors")
    }
    for k, report in enumerate((*engine.contacts.reports(), *engine.pair_contacts.reports())):
        found |= {
            f"report {k} {what}": np.array(getattr(report, what)) for what in ("penetration", "force", "position")
        }
    found |= {"v": engine.v, "u": engine.u, "energies": np.array(engine.energies()), "work": engine.work_done.copy()}
    return found


def kept(engine):
    """What a step that fails must leave bit for bit: all but the factors and what the solver remembers of them."""
    state = {name: array for name, array in engine.saved().items() if not name.startswith("matrix")}
    del state["state.memory"], state["counts"]
    reports = [engine.contacts.results, engine.pair_contacts.results]
    return {**state, "steps": np.array(engine.step_count), **{f"results {k}": r.copy() for k, r in enumerate(reports)}}


def check(engine):
    for name, array in readable(engine).items():
        assert np.isfinite(array).all(), name


def is_solution(engine, before):
    """Whether Newton's method, begun with the velocities that the last step found, stays with them.

    None where it does not solve the step. `before` is what the engine saved before that step.
    """
    after, u, nu = engine.saved(), engine.mean_velocity.copy(), len(engine.mean_velocity)
    engine.restore(before)
    engine.state.u[:] = u
    solved = newton_step_into(engine._system, engine.dt, np.empty((nu, nu)), np.empty(nu), np.empty(nu)) > 0
    left = np.abs(engine.mean_velocity - u).max()
    engine.restore(after)
    return bool(left <= 1e-6 * np.abs(u).max() + 1e-12) if solved else None


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_absurd_scenes(name):
    rng = np.random.default_rng(list(CASES).index(name))
    integrated = refused = solutions = 0
    # the iteration, Newton's, and parts of the step by either measure
    most = STEPS * (MAX_ITERATIONS + NEWTON_ITERATIONS + 2 * MOST_TRIALS * MAX_ITERATIONS)
    for case in range(CASES[name]):
        try:
            engine, other = scene(rng, name)
        except ValueError as error:
            assert str(error)
            refused += 1
            continue
        load(rng, engine)
        q, v = start(rng, engine.model)
        before = kept(engine)
        try:
            with np.errstate(all="ignore"):
                u = None if engine._system.coupling.is_identity else np.resize(v, engine.configuration.nu)
                engine.reset(q, v if u is None else None, u=u)
                check(engine)
                for k in range(STEPS):
                    before, saved = kept(engine), engine.saved() if k == 1 and case % 3 == 0 else None
                    engine.step()
                    assert 0 < engine.iterations <= most
                    if saved is not None and engine.counts == (*saved["counts"][1:2] + engine.iterations, 0, 0, 0):
                        found = is_solution(engine, saved)
                        assert found is not False, case
                        solutions += found is True
                    if k == 0 and other is not None:
                        before = kept(engine)
                        engine.engage(other)
            integrated += 1
        except NAMED as error:
            assert str(error) and "nan" not in str(error)
            for what, array in kept(engine).items():
                assert np.array_equal(array, before[what]), what
            refused += 1
        check(engine)
    # what is solved, but makes energy from nothing, counts as refused
    assert integrated > 0.15 * CASES[name] and refused > 0.02 * CASES[name]
    assert solutions > 0.03 * CASES[name]  # of those taken as they were, without a look at their energy
