# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker's steps, measured: standing on eight feet, walking, and free of everything.

MuJoCo is looked at from all sides before it is measured: every solver, friction cone and form of the Jacobian, with
and without constraint islands, then the fastest of them with the integrators that could win, in short batches. The
fastest go into the measurement beside the defaults. Its tolerance stays the default. Setups that fall are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mbsim_ros.bench.peers.mujoco import (
    FAST_INTEGRATORS,
    INTEGRATORS,
    MujocoRobot,
    Settings,
    integrator_settings,
    solver_settings,
    specification,
)
from mbsim_ros.bench.step_cases import OURS, Effort, StepCase
from mbsim_ros.bench.timing import Contender, interleave
from mbsim_ros.bench.walker import case
from mbsim_ros.bench.walker.sides import (
    DT,
    Fallen,
    MujocoWalker,
    OurWalker,
    Walker,
    check_standing,
    check_upright,
    setup_name,
)
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

SETTLING = 2000  # steps before anything is measured
CONTROL_STEPS = 2  # steps between two targets of the gait: a controller at 500 Hz
FALL = 2000  # steps from one state on, then again: 2 s of free fall
DROP = 0.05  # [m] of the feet above the floor, in a landing …
LANDING = 500  # … and its steps, of which some 100 are the fall
TOUCHING_DOWN = 100
SPEED = 2.0 * case.STROKE / case.CYCLE  # [m/s] of feet that neither roll nor slip
KEPT = 2  # of the fastest setups of MuJoCo that screening finds, for each kind of drive

Setup = tuple[Settings, bool]  # and whether the transmission is there as equality constraints
Made = tuple[Walker, Contender]
Make = Callable[[Walker], Made]


def standing(effort: Effort) -> StepCase:
    """All feet on the floor, the motors hold."""

    def make(walker: Walker) -> Made:
        walker.reset(case.standing_motors())
        walker.advance(SETTLING)
        check_standing(walker)

        def run(rounds: int) -> None:
            walker.advance(rounds)
            check_standing(walker)

        return walker, Contender(walker.name, run)

    def watch(walker: Walker) -> dict[str, float]:
        walker.advance(1000)
        check_standing(walker)
        seen = {"height": walker.place()[1], "feet": walker.touching()}
        return seen | {"µs a call": _cost_of_a_call(walker, effort)} if isinstance(walker, OurWalker) else seen

    return _measure("walker standing", make, watch, effort)


def landing(effort: Effort) -> StepCase:
    """Dropped on its feet, again and again: the way down, the touch-down of all feet, and the rest of LANDING."""

    def drop(walker: Walker, steps: int) -> None:
        walker.reset(case.standing_motors(), DROP)
        walker.advance(steps)

    def make(walker: Walker) -> Made:
        def run(rounds: int) -> None:
            for _ in range(rounds):
                drop(walker, LANDING)
                check_upright(walker)

        run(1)
        return walker, Contender(walker.name, run, LANDING)

    def watch(walker: Walker) -> dict[str, float]:
        drop(walker, TOUCHING_DOWN - 1)
        before = walker.touching()
        drop(walker, LANDING)
        check_standing(walker)
        return {"height": walker.place()[1], "feet in the air": before, "feet": walker.touching()}

    return _measure("walker landing", make, watch, effort)


def walking(effort: Effort) -> StepCase:
    """The gait, a table that each side plays in one call; a round is one cycle."""
    targets = case.gait(CONTROL_STEPS * DT)

    def make(walker: Walker) -> Made:
        walker.reset(targets[-1])
        walker.advance(SETTLING)
        table = walker.table(targets, CONTROL_STEPS)

        def run(rounds: int) -> None:
            for _ in range(rounds):
                walker.play(table, CONTROL_STEPS)
                check_upright(walker)

        watch_cycle(walker, targets)
        return walker, Contender(walker.name, run, CONTROL_STEPS * len(targets))

    def watch(walker: Walker) -> dict[str, float]:
        return watch_cycle(walker, targets)

    return _measure("walker walking", make, watch, effort)


def watch_cycle(walker: Walker, targets: np.ndarray) -> dict[str, float]:
    """One cycle of the gait, looked at after every target: speed, lowest height, touch-downs, feet that slide.

    Raises Fallen if the walker falls, or does not get on, or never lifts its feet.
    """
    begin, lowest = walker.place()[0], np.inf
    feet, sliding = [walker.touching()], 0
    for command in walker.command(targets):
        walker.target[:] = command
        walker.advance(CONTROL_STEPS)
        check_upright(walker)
        lowest = min(lowest, walker.place()[1])
        feet.append(walker.touching())
        sliding += walker.sliding() if isinstance(walker, OurWalker) else 0
    speed = (walker.place()[0] - begin) / (CONTROL_STEPS * DT * len(targets))
    touch_downs = int(np.clip(np.diff(feet), 0, None).sum())
    if not (speed > 0.5 * SPEED and touch_downs >= 8 and min(feet) <= 4):
        raise Fallen(
            f"{walker.name}: {speed:.3g} m/s, {touch_downs} touch-downs, at least {min(feet)} feet on the floor"
        )
    watched = {"m/s": speed, "lowest": lowest, "touch-downs": touch_downs}
    return {**watched, "sliding %": 100.0 * sliding / sum(feet)} if isinstance(walker, OurWalker) else watched


def _cost_of_a_call(walker: Walker, effort: Effort) -> float:
    """Microseconds that a call from Python adds to its steps; the walk makes one for every cycle of the gait."""

    def one_by_one(rounds: int) -> None:
        for _ in range(rounds):
            walker.advance(1)

    times = interleave([Contender("calls", one_by_one), Contender("one call", walker.advance)], *effort.batches)
    return (times["calls"].median - times["one call"].median) / 1e3


def free(effort: Effort, weightless: bool) -> StepCase:
    """No floor, no transmission, no forces but gravity, or not even that; moderate random speeds."""
    model, rng = case.walker(), np.random.default_rng(1)
    gravity = (0.0, 0.0, 0.0 if weightless else -9.81)
    v, q = 0.5 * rng.normal(size=model.nv), model.neutral.copy()
    q[7:] = 0.3 * rng.normal(size=model.nq - 7)
    integrator = LieVariational(model, DT, gravity=gravity)
    sides: dict[str, LieVariational | MujocoRobot] = {OURS: integrator}
    if effort.peers:
        for settings in integrator_settings(Settings()):
            if not settings.explicit_damping:  # there is none
                sides[f"MuJoCo {settings}"] = MujocoRobot(model, specification(model, DT, gravity), settings)
    contenders = [_falling(name, side, q, v, FALL) for name, side in sides.items()]
    timings = interleave(contenders, *effort.batches)
    contenders[0].run(1)
    name = "walker weightless" if weightless else "walker falling"
    return StepCase(name, model.nv, timings, integrator.iterations / FALL, defaults=_default_names())


def _falling(name: str, side: LieVariational | MujocoRobot, q: np.ndarray, v: np.ndarray, steps: int) -> Contender:
    def run(rounds: int) -> None:
        for _ in range(rounds):
            side.reset(q, v)
            side.step(steps=steps)

    return Contender(name, run, steps)


def _measure(name: str, make: Make, watch: Callable[[Walker], dict[str, float]], effort: Effort) -> StepCase:
    """Time ours beside MuJoCo's setups, then watch them all; iterations are those of the steps that are watched."""
    ours = OurWalker()
    made = [make(ours), *_peers(make, effort)]
    timings = interleave([each for _, each in made], *effort.batches)
    ours.iterations = ours.steps = 0
    watched = {walker.name: watch(walker) for walker, _ in made}
    return StepCase(name, case.walker().nv, timings, ours.iterations / ours.steps, watched, _default_names())


def _default_names() -> frozenset[str]:
    """Names of the peers of which only the integrator is chosen."""
    return frozenset(setup_name(Settings(integrator), False) for integrator in INTEGRATORS)


def _peers(make: Make, effort: Effort) -> list[Made]:
    """MuJoCo with its defaults and every integrator, and with what screening found fastest."""
    if not effort.peers:
        return []
    if effort.quick:
        return _made(make, [(Settings("implicitfast"), False), (Settings("implicitfast"), True)])
    setups: list[Setup] = [(settings, False) for settings in integrator_settings(Settings())]
    for coupled in (False, True):
        setups += _screened(make, coupled, effort)
    return _made(make, dict.fromkeys(setups))


def _screened(make: Make, coupled: bool, effort: Effort) -> list[Setup]:
    """The fastest solvers with the default integrator, then the fastest integrators with these."""
    solvers = _fastest(make, [(each, coupled) for each in solver_settings()], KEPT, effort)
    both = [(each, coupled) for base, _ in solvers for each in integrator_settings(base, FAST_INTEGRATORS)]
    return _fastest(make, both, KEPT, effort)


def _fastest(make: Make, setups: list[Setup], kept: int, effort: Effort) -> list[Setup]:
    names = {setup_name(*setup): setup for setup in setups}
    timings = interleave([contender for _, contender in _made(make, setups)], *effort.screening)
    return [names[name] for name in sorted(timings, key=lambda name: timings[name].median)[:kept]]


def _made(make: Make, setups: Iterable[Setup]) -> list[Made]:
    made = []
    for setup in setups:
        try:
            made.append(make(MujocoWalker(*setup)))
        except Fallen:
            continue
    return made
