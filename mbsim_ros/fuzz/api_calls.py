# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Calls of `Simulation` and of `dynamics` with arguments that no one should give, and valid steps after them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mbsim_ros import dynamics
from mbsim_ros.fuzz.mutations import VALUES
from mbsim_ros.fuzz.seeds import GRIPPER, HOPPER, PENDULUM
from mbsim_ros.fuzz.verdict import Case, is_documented, refuse_bad_motion, refuse_not_finite
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation

METHODS = ("reset", "step", "advance", "drive", "drive_motors", "release_drives", "push", "couple", "run", "restore")
READS = ("state", "energy", "ledger", "momentum", "contacts", "step_bound", "snapshot")
FUNCTIONS = tuple(name for name in dynamics.__all__ if name[0].islower())
OPTIONS: dict[str, tuple[object, ...]] = {
    "dt": (1e-3, 1e-2, 1e-4, 1.0),
    "integrator": ("lie_variational", "quaternion_variational", "rk4", "lie_euler"),
    "order": (2, 4), "terrain": (None, "flat", False), "gravity": ((0, 0, -9.81), (0, 0, 0), (1e9, 0, 0)),
    "quadrature": ("midpoint", "trapezoidal"), "retraction": ("cayley", "exp"), "stops": (None, True, False),
    "body_contact": (None, "all"),
}  # fmt: skip
_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
SCALES = (0.0, 1e-300, 1e-9, 1e-3, 1.0, 1.0, 1.0, 10.0, 1e3, 1e6, 1e12, 1e100, 1e200, 1e308)


class ApiCases:
    """Cases of calls on a few simulations, which are put back before each."""

    def __init__(self, folder: Path):
        self._models = [load_urdf(text) for text in (PENDULUM, HOPPER, GRIPPER)]
        self._sims = [
            Simulation(self._models[0]),
            Simulation(self._models[0], integrator="quaternion_variational"),
            Simulation(self._models[1], terrain="flat"),
            Simulation(self._models[1], order=4, stops=False, terrain=False),
            Simulation(self._models[2]),
        ]
        for sim in self._sims:
            sim.advance(2)
        self._snapshots = [sim.snapshot() for sim in self._sims]

    def make(self, random: Random) -> Case:
        """Some bad calls and then good ones, a call of dynamics, or a simulation of odd options."""
        kind = random.random()
        if kind < 0.3:
            model, name = random.choice(self._models), random.choice(FUNCTIONS)
            arguments = _arguments(getattr(dynamics, name), model, random)
            return Case(f"dynamics.{name}{_shown(arguments)}", lambda: _finite_call(getattr(dynamics, name), arguments))
        if kind < 0.4:
            model, options = random.choice(self._models), _odd_options(random)
            return Case(f"Simulation{_shown(options)}", lambda: _simulate(model, options))
        which = random.randrange(len(self._sims))
        sim = self._sims[which]
        calls = []
        for _ in range(random.choice((1, 2, 4))):
            name = random.choice(METHODS if random.random() < 0.85 else READS)
            calls.append((name, _arguments(getattr(sim, name), sim.model, random)))
        shown = "; ".join(f"simulation {which}.{name}{_shown(arguments)}" for name, arguments in calls)
        return Case(shown, lambda: self._call(which, calls))

    def _call(self, which: int, calls: list[tuple[str, list[object]]]) -> None:
        sim = self._sims[which]
        sim.restore(self._snapshots[which])
        for name, arguments in calls:
            try:
                getattr(sim, name)(*arguments)
            except Exception as error:
                if not is_documented(error):
                    raise
        refuse_bad_motion(sim)


def _odd_options(random: Random) -> dict[str, object]:
    chosen = random.sample(sorted(OPTIONS), random.choice((1, 2, 3)))
    return {name: _value(random) if random.random() < 0.4 else random.choice(OPTIONS[name]) for name in chosen}


def _simulate(model: Model, options: dict[str, Any]) -> None:
    sim = Simulation(model, **options)
    sim.advance(2)
    refuse_not_finite("q", sim.q)
    refuse_not_finite("v", sim.v)


def _finite_call(function: Callable[..., object], arguments: list[object]) -> None:
    result = function(*arguments)
    values = result.values() if isinstance(result, dict) else [result]
    for value in values:
        if isinstance(value, (float, np.ndarray)) or (isinstance(value, tuple) and value):
            refuse_not_finite(function.__name__, *(value if isinstance(value, tuple) else (value,)))


def _arguments(function: Callable[..., object], model: Model, random: Random) -> list[object]:
    """Arguments by their places: about right, of an odd size, or anything."""
    places = [each for each in inspect.signature(function).parameters.values() if each.kind is _PLACE]
    needed = sum(each.default is each.empty for each in places)
    given = random.randint(needed, len(places)) if random.random() < 0.3 else len(places)
    return [model if each.name == "model" else _argument(each.name, model, random) for each in places[:given]]


def _argument(name: str, model: Model, random: Random) -> object:
    if name == "controller":
        return None
    if name in ("steps", "seconds"):  # not a number that would take hours
        return random.choice((0, 1, 2, 0.001, 0.0015, -1, None, "1", math.nan, math.inf, 1e308, 2**64, [1], {}))
    if random.random() < 0.15:
        return _value(random)
    if name in ("link", "frame", "links", "names"):
        return random.choice((*model.frames, *model.joint_names, "no such"))
    if name in ("force", "torque", "at", "gravity"):
        return _vector(3, random)
    if name == "q":
        q = np.array(model.neutral)
        free = np.array([k for k in range(len(q)) if not any(s <= k < s + 4 for s in model.quaternions)], dtype=int)
        q[free] += np.resize(_vector(len(free), random), len(free))
        return q if random.random() < 0.95 else q[1:]
    if name in ("position", "velocity", "effort", "kp", "kd", "tau", "motor") and random.random() < 0.6:
        joint = random.choice(model.joint_names)
        return {joint: _vector(3, random)[:1].sum()}
    return _vector(model.nv, random)


def _vector(size: int, random: Random) -> np.ndarray:
    """Numbers of one scale; now and then of another size, or with a NaN."""
    size = size if random.random() < 0.9 else random.randrange(2 * size + 2)
    values = random.choice(SCALES) * np.array([random.uniform(-1, 1) for _ in range(size)])
    if size and random.random() < 0.1:
        values[random.randrange(size)] = random.choice((np.nan, np.inf, -np.inf))
    return values


def _value(random: Random) -> object:
    odd = (np.zeros((2, 2)), np.array(["a"]), np.array([object()]), object(), b"x", 1j, {1, 2}, range(3), lambda: None)
    return random.choice((*VALUES, *odd))


def _shown(arguments: object) -> str:
    return f"({arguments})"[:500]
