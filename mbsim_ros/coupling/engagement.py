# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Changing from one configuration to another: clutches and brakes close by momentum balance, opening keeps velocities.

With w = (velocities of the tree, speeds of the motors' rotors) and their inertia 𝓜 = diag(M, J), a configuration allows
w = 𝓓 u. Before the change w⁻ = 𝓓_old u. The impulses of closing clutches do no work on any w⁺ that the new
configuration allows, so 𝓓_newᵀ 𝓜 (w⁺ − w⁻) = 0:

    u⁺ = (𝓓ᵀ𝓜𝓓)⁻¹ 𝓓ᵀ𝓜 w⁻,   𝓓ᵀ𝓜𝓓 = DᵀMD + J,   loss = ½ Δwᵀ𝓜Δw,   impulses 𝓜 Δw.

w⁺ is the 𝓜-orthogonal projection of w⁻, so the loss is exactly the kinetic energy that is gone. The momentum p = M D u
is lifted afresh: what p of the tree a scheme carries beside it are impulses of constraints that end with `old`.

A motor with a rotor keeps its speed into the next configuration that names it. One that a configuration does not name
stands still, its brake on: leaving it out stops its rotor, the energy of which is part of the loss, and it comes back
at rest unless `motor_speeds` says otherwise. To let a motor run free, name it without joints. A motor without rotor
inertia has no momentum and takes the speed of what it is engaged with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.coupling.coupled_dynamics import reduced, solve_reduced, tree_mass_matrix
from mbsim_ros.coupling.rows import dof_names, tree_dof
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.model import IV, Model
from mbsim_ros.model.sidecar.coupling_details import BASE

SAME = 1e-12  # of the largest ratio: what may be left where each rate of `old` is one of `new`


@dataclass(frozen=True, eq=False)
class Engagement:
    """What a change of configuration did. Impulses in N s and N m s, energies in J."""

    configuration: CouplingConfiguration
    u: np.ndarray  # (nu,) rates after
    v_tree: np.ndarray = field(repr=False)  # (tree nv,) velocities of the tree after, D u
    p_tree: np.ndarray = field(repr=False)  # (tree nv,) momenta of the tree after, M D u
    momentum: np.ndarray = field(repr=False)  # (nu,) momenta of the columns after, Dᵀ p_tree + J u
    loss: float  # kinetic energy that is gone, ½ Δwᵀ𝓜Δw
    joint_impulses: Mapping[str, float] = field(repr=False)  # M Δv by joint: N's transient torques
    motor_impulses: Mapping[str, float] = field(repr=False)  # J Δω by motor with a rotor, of both configurations


def engage(
    model: Model,
    q: ArrayLike,
    old: CouplingConfiguration,
    new: CouplingConfiguration,
    *,
    u: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    motor_speeds: Mapping[str, float] | None = None,
    M_tree: np.ndarray | None = None,
    keep_closed: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Engagement:
    """Change from old to new at q (nq,), with the rates u (nu of old) or the momenta of the columns, either.

    momentum: Dᵀp_tree + J u (nu of old), of which u is found. motor_speeds: of rotors that old does not name.
    M_tree: the tree's mass matrix at q, if it is known. Where new allows all that old allows, velocities are kept and
    nothing is lost; any mixture of closing and opening is fine. keep_closed: of a robot with closed loops, what gives
    the rates nearest to some of new, by kinetic energy, that keep them closed.
    """
    if M_tree is None:
        M_tree = tree_mass_matrix(model, q)
    u_old = _old_rates(old, M_tree, u, momentum)
    rotors = _rotor_inertias(old, new)
    D_old, D_new, J = _with_rotors(old, rotors), _with_rotors(new, rotors), np.array(list(rotors.values()))
    w_old = D_old @ u_old + _given_speeds(old, rotors, motor_speeds)
    n = len(M_tree)
    u_new = None if motor_speeds else _kept(D_old, D_new, u_old)
    if u_new is not None:
        change = np.zeros(len(w_old))
    else:
        p = np.concatenate([M_tree @ w_old[:n], J * w_old[n:]])
        u_new = D_new.T @ p
        M_u = reduced(new, M_tree)
        solve_reduced(new, M_u, u_new)
        correction = D_new.T @ p - M_u @ u_new  # once more with what rounding left: momentum is to be kept
        solve_reduced(new, M_u, correction)
        u_new += correction
        if keep_closed is not None:  # a projection after one onto more: the clutch and the loops pull at once
            u_new = keep_closed(u_new)
        change = D_new @ u_new - w_old
    impulse = np.concatenate([M_tree @ change[:n], J * change[n:]])
    v_tree = new.expand(u_new)
    p_tree = M_tree @ v_tree
    return Engagement(
        new, u_new, v_tree, p_tree, new.reduce(p_tree) + new.rotor_inertia * u_new, 0.5 * float(change @ impulse),
        _by_joint(model, impulse, {*old.locked, *new.locked}), dict(zip(rotors, impulse[n:].tolist(), strict=True)),
    )  # fmt: skip


def release(
    model: Model,
    q: ArrayLike,
    old: CouplingConfiguration,
    new: CouplingConfiguration,
    *,
    u: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    M_tree: np.ndarray | None = None,
) -> Engagement:
    """The same for a change that only opens clutches and brakes: velocities are kept, momenta lifted.

    Raises ValueError if new holds something that old lets move.
    """
    rotors = _rotor_inertias(old, new)
    if _kept(_with_rotors(old, rotors), _with_rotors(new, rotors), np.zeros(old.nu)) is None:
        raise ValueError(f"coupling '{new.name}' does not allow every motion that '{old.name}' allows: engage it")
    return engage(model, q, old, new, u=u, momentum=momentum, M_tree=M_tree)


def lift(model: Model, q: ArrayLike, configuration: CouplingConfiguration, u: ArrayLike) -> np.ndarray:
    """Momenta of the tree p = M D u (tree nv,) at q (nq,)."""
    return tree_mass_matrix(model, q) @ configuration.expand(u)


def _old_rates(
    old: CouplingConfiguration, M_tree: np.ndarray, u: ArrayLike | None, momentum: ArrayLike | None
) -> np.ndarray:
    if (u is None) == (momentum is None):
        raise ValueError("expected either u or momentum, got " + ("both" if u is not None else "neither"))
    if u is not None:
        return check.finite("u", check.vector("u", u, old.nu))
    found = check.finite("momentum", check.vector("momentum", momentum, old.nu)).copy()
    solve_reduced(old, reduced(old, M_tree), found)
    return found


def _rotor_inertias(old: CouplingConfiguration, new: CouplingConfiguration) -> dict[str, float]:
    """All motors of the two that have rotors, with their inertias."""
    if old.model is not new.model:
        raise ValueError(f"expected couplings of one model, got '{old.model.name}' and '{new.model.name}'")
    inertias: dict[str, float] = {}
    for configuration in (old, new):
        for motor in configuration.motors:
            inertia = float(configuration.rotor_inertia[configuration.column_of(motor)])
            if inertia != inertias.setdefault(motor, inertia):
                raise ValueError(
                    f"motor '{motor}': a rotor inertia of {inertias[motor]:g} in one coupling, {inertia:g} in the other"
                )
    return {motor: inertia for motor, inertia in inertias.items() if inertia > 0.0}


def _with_rotors(configuration: CouplingConfiguration, rotors: Mapping[str, float]) -> np.ndarray:
    """𝓓: D, and a row per rotor that has a one in the column of its motor, if there is one."""
    rows = np.zeros((len(rotors), configuration.nu))
    for k, motor in enumerate(rotors):
        if motor in configuration.motors:
            rows[k, configuration.column_of(motor)] = 1.0
    return np.vstack([configuration.D, rows])


def _given_speeds(
    old: CouplingConfiguration, rotors: Mapping[str, float], motor_speeds: Mapping[str, float] | None
) -> np.ndarray:
    """Speeds of rotors that old does not name, as part of w (tree nv + rotors,)."""
    w = np.zeros(len(old.start) - 1 + len(rotors))
    names = list(rotors)
    for motor, speed in (motor_speeds or {}).items():
        if motor not in rotors or motor in old.motors:
            why = "it is in the old coupling" if motor in old.motors else "no motor with a rotor has that name"
            raise ValueError(f"motor_speeds[{motor!r}]: {why}")
        w[len(old.start) - 1 + names.index(motor)] = speed
    return check.finite("motor_speeds", w)


def _kept(D_old: np.ndarray, D_new: np.ndarray, u_old: np.ndarray) -> np.ndarray | None:
    """Rates of new that move everything as u_old does, if new allows all that old allows."""
    mix = np.linalg.lstsq(D_new, D_old, rcond=None)[0]
    left = np.abs(D_new @ mix - D_old).max(initial=0.0)
    return mix @ u_old if left <= SAME * np.abs(D_old).max(initial=1.0) else None


def _by_joint(model: Model, impulse: np.ndarray, held: Collection[str]) -> dict[str, float]:
    """Joints of one dof by name; where they are held also the base and joints of several dofs, as `ball/wx` …"""
    found = {joint.name: float(impulse[model.topology[joint.body, IV]]) for joint in model.joints if joint.nv == 1}
    several = {joint.name: (joint.type, tree_dof(model, joint.name)) for joint in model.joints if joint.nv > 1}
    for name, (kind, first) in {BASE: ("floating", 0), **several}.items():
        if name in held:
            found |= {axis: float(impulse[first + k]) for k, axis in enumerate(dof_names(name, kind))}
    return found
