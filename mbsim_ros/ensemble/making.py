# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making the members of an ensemble: what all have in common once, what each has for itself from arrays by member."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.friction import change_friction

MakesMember = Callable[[int], Simulation]
Robot = Model | str | Path | MakesMember
_GIVEN_HERE = ("model", "dt", "terrain", "base", "package_dirs")
_OPTIONS = tuple(name for name in inspect.signature(Simulation).parameters if name not in _GIVEN_HERE)


@dataclass(frozen=True, eq=False)
class MemberParameters:
    """What members differ in; each is one for all, or has n along its first axis. None: as Simulation has it."""

    dt: ArrayLike | None = None  # (n,) s, 1 ms without
    mass: ArrayLike | Mapping[str, ArrayLike] | None = None  # (n,) factors for all links, or masses [kg] by link
    friction: ArrayLike | None = None  # (n,)
    terrain: object = None  # a list or tuple of n, or one
    kp: ArrayLike | None = None  # (nm,) or (n, nm) of the motors
    kd: ArrayLike | None = None
    q: ArrayLike | str | None = None  # (nq,) or (n, nq), or the name of an initial state
    v: ArrayLike | None = None  # (nv,) or (n, nv)
    options: Mapping[str, Any] = field(default_factory=dict)  # of Simulation, the same for all


def make_members(robot: Robot, n: int, given: MemberParameters) -> Iterator[Simulation]:
    """n simulations, which share what is constant; ValueError says which argument is not as it should be."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n: expected a whole number of at least 1, got {n!r}")
    unknown = sorted(set(given.options) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"{unknown[0]}: expected one of n, threads, {', '.join(_OPTIONS)}, got no such argument")
    sims = _made(robot, given) if callable(robot) else _from_model(robot, int(n), given)
    first = sims(0)
    yield first
    for i in range(1, n):
        sim = sims(i)
        _refuse_other_kind(first, sim, i)
        _share(first, sim)
        yield sim


def set_default_gains(sim: Simulation) -> None:
    """Give motors that were never driven the gains of `drive_motors`, holding where they are."""
    if not sim.integrator.motors.kp.any() and not sim.integrator.motors.kd.any():
        _drive(sim, None, None)


def of_member(name: str, given: ArrayLike, n: int, i: int, size: int | None = None) -> Any:
    """What an argument says of member i: one number, or `size` of them."""
    values = np.asarray(given, dtype=float)
    shapes = [(), (n,)] if size is None else [(), (size,), (n, size)]
    if values.shape not in shapes:
        told = " or ".join("a number" if not shape else str(shape) for shape in shapes)
        raise ValueError(f"{name}: expected {told}, got shape {values.shape}")
    by_member = values.ndim == len(shapes[-1])
    chosen = values[i] if by_member else values
    return float(chosen) if size is None else np.array(np.broadcast_to(chosen, (size,)))


def _made(robot: MakesMember, given: MemberParameters) -> MakesMember:
    """Simulations as a function makes them."""
    if given.options or _differs(given):
        raise ValueError("robot: a function makes each member with all that it has; got further arguments beside it")

    def make(i: int) -> Simulation:
        sim = robot(i)
        if not isinstance(sim, Simulation):
            raise ValueError(f"robot: expected a function that returns a Simulation, got {type(sim).__name__}")
        return sim

    return make


def _differs(given: MemberParameters) -> bool:
    """Whether anything but the default was asked for."""
    plain = MemberParameters()
    return any(getattr(given, name) is not default for name, default in vars(plain).items() if name != "options")


def _from_model(robot: Model | str | Path, n: int, given: MemberParameters) -> MakesMember:
    options = dict(given.options)
    model = robot if isinstance(robot, Model) else load_urdf(robot)
    terrains = given.terrain if isinstance(given.terrain, list | tuple) else None
    if terrains is not None and len(terrains) != n:
        raise ValueError(f"terrain: expected one, or a list of {n}, got {len(terrains)}")

    def make(i: int) -> Simulation:
        own = model if given.mass is None else model.with_(mass=_masses(given.mass, n, i))
        terrain = given.terrain if terrains is None else terrains[i]
        sim = Simulation(own, 1e-3 if given.dt is None else of_member("dt", given.dt, n, i), terrain=terrain, **options)
        if given.friction is not None:
            change_friction(sim, of_member("friction", given.friction, n, i))
        if given.q is not None or given.v is not None:
            sim.reset(*starts(sim, given.q, given.v, n, i))
        nm = len(sim.motor_names)
        if given.kp is not None or given.kd is not None:
            gains = ("kp", given.kp), ("kd", given.kd)
            _drive(sim, *(None if each is None else of_member(name, each, n, i, nm) for name, each in gains))
        if own is model and sim.entities is None and sim.scene.points is not None and sim.scene.pairs is None:
            options.setdefault("contact_points", sim.scene.points)  # those of the next are the same
        return sim

    return make


def starts(sim: Simulation, q: ArrayLike | str | None, v: ArrayLike | None, n: int, i: int) -> tuple[Any, Any]:
    """q and v of member i, as Simulation.reset takes them."""
    own_q = q if q is None or isinstance(q, str | Mapping) else of_member("q", q, n, i, sim.model.nq)
    return own_q, None if v is None else of_member("v", v, n, i, sim.model.nv)


def _masses(mass: ArrayLike | Mapping[str, ArrayLike], n: int, i: int) -> float | dict[str, float]:
    if isinstance(mass, Mapping):
        return {link: of_member(f"mass[{link!r}]", each, n, i) for link, each in mass.items()}
    return of_member("mass", mass, n, i)  # type: ignore[no-any-return]


def _drive(sim: Simulation, kp: Sequence[float] | None, kd: Sequence[float] | None) -> None:
    """Hold motors that have a position where they are, with these gains or those that they have by themselves."""
    single = {*sim.tau_names, *sim.coupling.motors}
    places = [k for k, name in enumerate(sim.motor_names) if name in single]

    def named(values: Any) -> dict[str, float] | None:
        return None if values is None else {sim.motor_names[k]: float(values[k]) for k in places}

    if places:
        still = np.zeros(len(sim.motor_names))
        sim.drive_motors(position=named(sim.motor_position), velocity=named(still), kp=named(kp), kd=named(kd))


def _share(first: Simulation, sim: Simulation) -> None:
    if isinstance(first.integrator, LieVariational) and isinstance(sim.integrator, LieVariational):
        sim.integrator.share_constants(first.integrator)


def _refuse_other_kind(first: Simulation, sim: Simulation, i: int) -> None:
    """Members have arrays of one shape, so their coordinates and motors are the same."""
    for name, of in (("joints", lambda each: each.model.joint_names), ("motors", lambda each: each.motor_names)):
        if of(first) != of(sim):
            raise ValueError(f"robot: expected the same {name} in all members, got others in member {i} than in 0")
