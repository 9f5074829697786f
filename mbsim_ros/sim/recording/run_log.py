# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What acted in a recorded run: enough to go through it again, bit for bit, and look at what was not recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbsim_ros.control.command import Values
from mbsim_ros.model.payload import Payload
from mbsim_ros.sim.names import driven_joints

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


class Action(NamedTuple):
    """What acts from a step of the run on: drives and pushes, efforts that are added, the coupling, loads.

    Of drives and pushes, as one array, it has what is not as before: a controller changes a few of thousands.
    """

    step: int
    places: np.ndarray | None  # of the values; None where there are others altogether, as in another coupling
    values: np.ndarray
    tau: np.ndarray | None  # (tau_names,)
    motor: Values | None
    coupling: str
    loads: Mapping[str, Payload]

    def acting(self, before: np.ndarray) -> np.ndarray:
        """All drives and pushes; before: those of the action before."""
        if self.places is None:
            return self.values
        now = before.copy()
        now[self.places] = self.values
        return now


class RunLog:
    """The start of a run and what a controller did in it. What else was done to the simulation meanwhile is unknown."""

    def __init__(self, sim: Simulation):
        self.sim, self.start = sim, sim.snapshot()
        self.actions: list[Action] = []
        self.acting = self._last = _together(sim)  # at the start
        self._names = driven_joints(sim.model)

    def note(self, step: int, tau: Values | None, motor: Values | None) -> None:
        """The controller was asked before this step, and these efforts are added from it on."""
        now, last = _together(self.sim), self._last
        places = np.flatnonzero(now != last) if len(now) == len(last) else None
        values = now if places is None else now[places]
        # as copies: controllers may write to the arrays that they returned
        efforts = None if tau is None else np.array(self._names.vector("tau", tau))
        coupling, loads = self.sim.coupling.name, self.sim.payloads.loads
        self.actions.append(Action(step, places, values, efforts, copy(motor), coupling, loads))
        self._last = now

    def again(self, stops: Sequence[int]) -> Generator[int]:
        """Take the simulation through the run again, pausing after these numbers of steps; then it is as before.

        At a stop that a controller was asked at, what it answered does not act yet. Raises ValueError where the
        simulation is no more what it was.
        """
        sim, now = self.sim, self.sim.snapshot()
        watcher, sim.watcher = sim.watcher, None
        done, actions, tau, motor = 0, deque(self.actions), None, None
        acting = self.acting
        try:
            sim.restore(self.start)
            for stop in stops:
                while done < stop:
                    if actions and actions[0].step == done:
                        action = actions.popleft()
                        acting, tau, motor = action.acting(acting), action.tau, action.motor
                        sim.payloads.set(action.loads)
                        self._act(acting, action.coupling)
                    end = min(stop, actions[0].step) if actions else stop
                    sim.advance(end - done, tau, motor)
                    done = end
                yield stop
        finally:
            sim.restore(now)
            sim.watcher = watcher

    def _act(self, acting: np.ndarray, coupling: str) -> None:
        if coupling != self.sim.coupling.name:
            self.sim.couple(coupling)
        at = 0
        for array in _arrays(self.sim):
            array[...] = acting[at : at + array.size].reshape(array.shape)
            at += array.size


def _arrays(sim: Simulation) -> tuple[np.ndarray, ...]:
    return (*sim.integrator.drives, *sim.integrator.motors, sim.integrator.external)


def _together(sim: Simulation) -> np.ndarray:
    return np.concatenate([array.ravel() for array in _arrays(sim)])
