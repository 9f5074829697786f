# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Loads on links that come and go while a simulation runs.

A load that is put on moves with its link from the start: q and v stay, and its momentum comes from outside, as from a
hand that brings it up to speed. The energy that it brings, or takes away with it, is work from outside in the ledger.
The ground, the stops and the gains stay as they are, though they may have been derived from the robot's masses.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.integrators.layout import LEDGER_EXTERNAL
from mbsim_ros.model.payload import Payload, make_payload, refuse_unknown
from mbsim_ros.model.problems import UrdfWarning

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


class Payloads:
    """The loads of a simulation: `bare` is its robot without them, `loads` are they by link."""

    def __init__(self, sim: Simulation):
        self._sim, self.bare = sim, sim.model
        self.loads: Mapping[str, Payload] = MappingProxyType({})

    def of(self, sim: Simulation) -> None:
        """Be those of another object, which has become this simulation."""
        self._sim = sim

    def set(self, loads: Mapping[str, Payload]) -> None:
        """Carry these loads, and no others, from now on; ValueError, and all is as it was, for what cannot be."""
        sim, loads = self._sim, {link: load for link, load in loads.items() if load.mass > 0.0}
        refuse_unknown(loads, self.bare.frames)
        for link in loads:
            if self.bare.frames[link].body < 0:
                raise ValueError(f"payload[{link!r}]: this link is fixed to the world and carries nothing that moves")
        if loads == self.loads:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UrdfWarning)  # the robot's file has been told of
            model = self.bare.with_(payload=loads) if loads else self.bare
        before = sim.energy().total
        sim.integrator.set_inertias(model)
        sim.model = model
        sim.__dict__.pop("couplings", None)  # they name the model that they are of
        sim.integrator.add_work(LEDGER_EXTERNAL, sim.energy().total - before)
        self.loads = MappingProxyType(loads)

    def of_now(self, coupling: object) -> object:
        """A coupling that was made for the bare robot as one of the robot with its loads; anything else as it is."""
        if isinstance(coupling, CouplingConfiguration) and coupling.model is self.bare:
            return replace(coupling, model=self._sim.model)
        return coupling

    def saved(self) -> dict[str, list[float]]:
        """The numbers of the loads by link, for a snapshot."""
        return {link: [load.mass, *load.at, *load.inertia] for link, load in self.loads.items()}

    def restore(self, saved: Mapping[str, list[float]]) -> None:
        """Carry what `saved` gave; what that does to momenta and ledger, the rest of a snapshot undoes."""
        self.set({link: make_payload(link, mass[0], mass[1:4], mass[4:]) for link, mass in saved.items()})
