# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The energy accounts between steps: where the energy was at the reset, and what clutches took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.coupling.engagement import Engagement
from mbsim_ros.integrators.integrator import Integrator, slip_loss
from mbsim_ros.integrators.layout import (
    LEDGER_ACTUATORS,
    LEDGER_DAMPING,
    LEDGER_EXTERNAL,
    LEDGER_FRICTION,
    LEDGER_SPRING_DAMPING,
    LEDGER_STOPS,
)
from mbsim_ros.sim.ledger import Energy, Ledger, balanced
from mbsim_ros.sim.surroundings.contacts import stored_at

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


class EnergyAccounts:
    """The energy at the reset, and what couplings changed since."""

    def __init__(self) -> None:
        self._start = Energy(0.0, 0.0)
        self._clutch_loss = 0.0
        self._spun_up = 0.0  # energy of rotors that were set turning outside and then engaged

    def begin(self, sim: Simulation) -> None:
        """Start again, from the state that a simulation has been reset to."""
        self._clutch_loss = self._spun_up = 0.0
        self._start = Energy(0.0, 0.0, 0.0, stored_at(sim.model, sim.scene, sim.q))
        self._start = sim.energy()

    def engaged(self, engagement: Engagement, motor_speeds: Mapping[str, float] | None, slipped: float) -> None:
        """Add a change of coupling; slipped: what clutches of the one before lost by slipping [J]."""
        self._clutch_loss += engagement.loss + slipped
        configuration = engagement.configuration
        for motor, speed in (motor_speeds or {}).items():
            if motor in configuration.motors:
                self._spun_up += 0.5 * float(configuration.rotor_inertia[configuration.column_of(motor)]) * speed**2

    def contact_stored(self, integrator: Integrator) -> float:
        """What the springs of contact hold; before the first step, what they hold where the robot was put."""
        if integrator.step_count == 0:
            return self._start.contact
        return float(integrator.contacts.energy().stored + integrator.pair_contacts.energy().stored)

    def ledger(self, sim: Simulation) -> Ledger:
        """The balance now."""
        work, integrator = sim.integrator.work_done, sim.integrator
        ground, bodies = integrator.contacts.energy(), integrator.pair_contacts.energy()
        flows = {
            "actuator_work": float(work[LEDGER_ACTUATORS]) + self._spun_up,
            "external_work": float(work[LEDGER_EXTERNAL]),
            "damping": float(work[LEDGER_DAMPING]),
            "friction": float(work[LEDGER_FRICTION]),
            "stops": float(work[LEDGER_STOPS]),
            "spring_damping": float(work[LEDGER_SPRING_DAMPING]),
            "contact_dissipated": ground.damping + bodies.damping,
            "contact_friction": ground.friction + bodies.friction,
            "contact_switching": ground.switching + bodies.switching,
            "clutch_loss": self._clutch_loss + slip_loss(integrator),
        }
        return balanced(self._start, sim.energy(), flows)

    def saved(self) -> np.ndarray:
        """Its numbers (6,), for a snapshot."""
        s = self._start
        return np.array([s.kinetic, s.potential, s.elastic, s.contact, self._clutch_loss, self._spun_up])

    def restore(self, saved: np.ndarray) -> None:
        """Take back what `saved` gave."""
        *start, self._clutch_loss, self._spun_up = saved.tolist()
        self._start = Energy(*start)
