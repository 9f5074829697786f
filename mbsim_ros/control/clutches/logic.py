# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Who may change the coupling of a robot, when, and at what price.

A request names a coupling and says how: hard engages at once and takes the loss, soft waits until speeds match (a
walker's motors come to rest with every step, so they soon do), force overrides the rules of the sidecar (rules.py).
Every request is answered with an event: engaged, waiting, or refused with the reason. The loss and the impulses of an
event are those of the momentum balance by which the simulator closes clutches (coupling/engagement.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mbsim_ros.control.clutches.rules import CouplingRules
from mbsim_ros.control.command import COUPLING, Command
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.coupling.configuration import named
from mbsim_ros.coupling.engagement import engage
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import ClutchRules

ENGAGED, WAITING, REFUSED = "engaged", "waiting", "refused"
MOST_ASKED = 1000  # requests between two instants


@dataclass(frozen=True)
class ClutchParameters(ValidatedParameters):
    """Of the clutch manager."""

    loaded: float = parameter(5.0, "Force under a foot from which on it is loaded.", "N", lower=0.0, upper=1e4)
    soft_loss: float = parameter(0.01, "Energy up to which speeds match.", "J", lower=0.0, upper=1e4)
    patience: float = parameter(3.0, "How long a soft request waits for that.", "s", lower=0.0, upper=1e4)
    largest_offset: float = parameter(
        0.2, "How far a limb may stand from the others of its group when it is engaged.", "rad", lower=0.0, upper=4.0
    )


@dataclass(frozen=True)
class ClutchRequest:
    """A coupling by name; soft waits until speeds match, forced overrides the rules of safety."""

    coupling: str
    soft: bool = False
    forced: bool = False


def parse_request(text: str) -> ClutchRequest:
    """`name`, then any of the words soft, hard, force; ValueError says what is wrong."""
    words = text.split()
    if not words:
        raise ValueError("request: expected the name of a coupling, then soft, hard or force; got nothing")
    strange = [word for word in words[1:] if word not in ("soft", "hard", "force")]
    if strange:
        raise ValueError(f"request {text!r}: expected soft, hard or force after the name, got {strange[0]!r}")
    if "soft" in words[1:] and "hard" in words[1:]:
        raise ValueError(f"request {text!r}: both soft and hard: choose one")
    return ClutchRequest(words[0], "soft" in words[1:], "force" in words[1:])


@dataclass(frozen=True)
class ClutchEvent:
    """What became of a request at t [s]; loss in J, impulses by joint in N m s."""

    t: float
    request: ClutchRequest
    outcome: str
    reason: str = ""
    loss: float = 0.0
    impulses: Mapping[str, float] = field(default_factory=dict, repr=False)


class ClutchLogic:
    """Owner of the coupling: `request` what is wanted, `update` at every instant for what is to be in force.

    A controller (see control/controller.py) that commands nothing but the coupling. What became of the requests is in
    `events` until the next update.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = ClutchParameters
    commands: ClassVar[tuple[str, ...]] = (COUPLING,)

    def __init__(self, model: Model, parameters: ClutchParameters | None = None):
        self.parameters = parameters or ClutchParameters()
        self._model = model
        self.couplings = named(model)
        if not self.couplings:
            raise ValueError(f"model '{model.name}': expected couplings in its sidecar, got none")
        self.rules = CouplingRules(model, model.sidecar.clutch_rules if model.sidecar is not None else ClutchRules())
        self.feet = self.rules.feet  # links whose forces it has to know
        self.total_loss = 0.0
        self.events: list[ClutchEvent] = []
        self._asked: list[ClutchRequest] = []
        self._waiting: tuple[float, ClutchRequest] | None = None

    def configure(self, parameters: ClutchParameters) -> None:
        """Go on with other parameters."""
        self.parameters = parameters

    def reset(self) -> None:
        """Forget requests that wait, and the losses."""
        self._asked.clear()
        self.events = []
        self._waiting = None
        self.total_loss = 0.0

    @property
    def waiting(self) -> ClutchRequest | None:
        """The soft request that waits for speeds to match."""
        return None if self._waiting is None else self._waiting[1]

    def request(self, request: ClutchRequest) -> None:
        """Ask for a coupling, from the next instant on. ValueError if too many wait while time stands still."""
        if len(self._asked) >= MOST_ASKED:
            raise ValueError(f"'{request.coupling}': {MOST_ASKED} requests wait for the next instant already")
        self._asked.append(request)

    def update(self, t: float, state: RobotState) -> Command:
        """The coupling that is to be in force from this instant on; none where the state tells none."""
        if not state.coupling:
            return Command()
        chosen, self.events = self.decide(t, state)
        return Command(coupling=chosen)

    def decide(self, t: float, state: RobotState) -> tuple[str, list[ClutchEvent]]:
        """The coupling that is to be in force from this instant on, and what became of requests."""
        events: list[ClutchEvent] = []
        chosen = state.coupling
        if self._waiting is not None:
            chosen = self._try(t, *self._waiting, state, events)
        for request in self._asked:
            if self._waiting is not None:
                events.append(
                    ClutchEvent(t, self._waiting[1], REFUSED, f"'{request.coupling}' was asked for meanwhile")
                )
                self._waiting = None
            if chosen != state.coupling:  # one change at an instant: the next sees what this one did
                events.append(ClutchEvent(t, request, REFUSED, f"'{chosen}' is being engaged at this instant"))
                continue
            chosen = self._try(t, t, request, state, events)
        self._asked.clear()
        return chosen, events

    def _try(self, t: float, since: float, request: ClutchRequest, state: RobotState, events: list[ClutchEvent]) -> str:
        """Engage, wait or refuse; returns the coupling to be in force."""
        was_waiting, self._waiting = self._waiting is not None, None
        reason = self.refusal(request, state)
        if reason:
            events.append(ClutchEvent(t, request, REFUSED, reason))
            return state.coupling
        loss, impulses = self.price(request.coupling, state)
        if request.soft and loss > self.parameters.soft_loss:
            if t - since >= self.parameters.patience:
                waited = f"speeds did not match within {self.parameters.patience:g} s: {loss:.3g} J would be lost"
                events.append(ClutchEvent(t, request, REFUSED, waited))
                return state.coupling
            self._waiting = (since, request)
            if not was_waiting:
                events.append(ClutchEvent(t, request, WAITING, f"speeds do not match: {loss:.3g} J would be lost"))
            return state.coupling
        self.total_loss += loss
        events.append(ClutchEvent(t, request, ENGAGED, "", loss, impulses))
        return request.coupling

    def refusal(self, request: ClutchRequest, state: RobotState) -> str:
        """Why this request is refused in this state, or ""."""
        if request.coupling not in self.couplings:
            return f"no coupling named '{request.coupling}': " + did_you_mean(request.coupling, self.couplings, "", 0)
        if request.coupling == state.coupling or request.forced:
            return ""
        old, new = self.couplings.get(state.coupling), self.couplings[request.coupling]
        return self.rules.refusal(old, new, state, self.parameters.loaded, self.parameters.largest_offset)

    def price(self, coupling: str, state: RobotState) -> tuple[float, dict[str, float]]:
        """What engaging this coupling in this state loses [J], and the impulse on each joint [N m s]."""
        if coupling == state.coupling or state.coupling not in self.couplings:
            return 0.0, {}
        old, new = self.couplings[state.coupling], self.couplings[coupling]
        base = 6 if self._model.is_floating else 0
        u = np.concatenate([np.asarray(state.v, dtype=float)[:base], np.asarray(state.motor_velocity, dtype=float)])
        done = engage(self._model, state.q, old, new, u=u)
        return done.loss, {joint: impulse for joint, impulse in done.joint_impulses.items() if impulse != 0.0}
