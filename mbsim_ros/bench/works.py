# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is measured on every case: each function as a kernel in a compiled loop, as the public call, and as a peer's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.bench import loops
from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.bench.timing import Contender
from mbsim_ros.dynamics import (
    forward_dynamics,
    forward_kinematics,
    generalised_momentum_and_gradient,
    inverse_dynamics,
    mass_matrix,
)
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.model import Model

if TYPE_CHECKING:
    import pinocchio

COMPILED, PUBLIC, PINOCCHIO = "compiled", "public", "pinocchio"
STATES = 8  # different ones, so that nothing can be computed once for all


class Setting:
    """A model with random states (STATES, …) and memory to work in."""

    def __init__(self, model: Model, seed: int = 1):
        rng = np.random.default_rng(seed)
        self.model = model
        self.q = np.array([random_configuration(model, rng) for _ in range(STATES)])
        self.v, self.a, self.tau = (
            np.array([random_velocity(model, rng) for _ in range(STATES)]) for _ in range(3)
        )  # fmt: skip
        self.workspace = Workspace(model)
        self.no_wrenches = np.zeros((0, 6))
        self.out = np.zeros(model.nv)

    @property
    def tree(self) -> tuple[np.ndarray, np.ndarray]:
        """The arrays of the model."""
        return self.model.topology, self.model.constants


class Peer:
    """Pinocchio's model of a case and the states in its layout."""

    def __init__(self, peer_model: pinocchio.Model, q: list[np.ndarray], setting: Setting):
        self.model = peer_model
        self.data = peer_model.createData()
        self.q = q
        self.v, self.a, self.tau = list(setting.v), list(setting.a), list(setting.tau)


@dataclass(frozen=True)
class TimedFunction:
    """One function and its three ways; `pinocchio` is None where the peer has nothing alike."""

    name: str
    compiled: Callable[[Setting], Contender]
    public: Callable[[Setting], Contender]
    pinocchio: Callable[[Peer], Contender] | None
    largest: int = 10**9  # dofs; beyond, a result of n² numbers only measures memory


def _compiled(loop: Callable[..., None], *arguments: object) -> Contender:
    return Contender(COMPILED, lambda rounds: loop(rounds, *arguments), STATES)


def _called(
    name: str, function: Callable[..., object], first: tuple[object, ...], states: Iterable[tuple[object, ...]]
) -> Contender:
    """Calls from Python, one per state; `first` are the arguments that stay."""
    calls = [(*first, *state) for state in states]

    def run(rounds: int) -> None:
        for _ in range(rounds):
            for arguments in calls:
                function(*arguments)

    return Contender(name, run, len(calls))


def _public(function: Callable[..., object], setting: Setting, *columns: np.ndarray) -> Contender:
    return _called(PUBLIC, function, (setting.model,), zip(*columns, strict=True))


def _pinocchio(function: str, peer: Peer, *columns: list[np.ndarray]) -> Contender:
    import pinocchio

    return _called(PINOCCHIO, getattr(pinocchio, function), (peer.model, peer.data), zip(*columns, strict=True))


def _inverse(s: Setting) -> Contender:
    w = s.workspace
    return _compiled(
        loops.repeat_inverse_dynamics, *s.tree, s.q, s.v, s.a, GRAVITY, s.no_wrenches, w.sincos, w.rows, s.out
    )


def _forward(s: Setting) -> Contender:
    w = s.workspace
    return _compiled(
        loops.repeat_forward_dynamics, *s.tree, s.q, s.v, s.tau, GRAVITY, s.no_wrenches, w.sincos, w.rows, w.dofs, s.out
    )


def _mass_matrix(s: Setting) -> Contender:
    w, M = s.workspace, np.zeros((s.model.nv, s.model.nv))
    return _compiled(loops.repeat_mass_matrix, *s.tree, s.model.dof_parent, s.q, w.sincos, w.rows, w.dofs, M)


def _momentum_pass(s: Setting) -> Contender:
    w, gradient = s.workspace, np.zeros(s.model.nv)
    return _compiled(loops.repeat_momentum_pass, *s.tree, s.q, s.v, w.sincos, w.rows, s.out, gradient)


def _kinematics(s: Setting) -> Contender:
    return _compiled(loops.repeat_forward_kinematics, *s.tree, s.q, s.workspace.sincos, s.workspace.rows)


WORKS = (
    TimedFunction(
        "inverse_dynamics",
        _inverse,
        lambda s: _public(inverse_dynamics, s, s.q, s.v, s.a),
        lambda p: _pinocchio("rnea", p, p.q, p.v, p.a),
    ),
    TimedFunction(
        "forward_dynamics",
        _forward,
        lambda s: _public(forward_dynamics, s, s.q, s.v, s.tau),
        lambda p: _pinocchio("aba", p, p.q, p.v, p.tau),
    ),
    TimedFunction(
        "mass_matrix",
        _mass_matrix,
        lambda s: _public(mass_matrix, s, s.q),
        lambda p: _pinocchio("crba", p, p.q),
        largest=300,
    ),
    TimedFunction(
        "generalised_momentum_and_gradient",
        _momentum_pass,
        lambda s: _public(generalised_momentum_and_gradient, s, s.q, s.v),
        None,
    ),
    TimedFunction(
        "forward_kinematics",
        _kinematics,
        lambda s: _public(forward_kinematics, s, s.q),
        lambda p: _pinocchio("forwardKinematics", p, p.q),
    ),
)
