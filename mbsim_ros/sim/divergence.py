# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What to say when a step could not be solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbsim_ros.integrators.errors import SimulationDiverged

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def describe_divergence(sim: Simulation, error: SimulationDiverged) -> SimulationDiverged:
    """The same failure with the state of the contact and what can be done; attributes of the error are kept."""
    what, _, remedy = str(error).partition("; try ")  # the integrator does not know of contact settings and gains
    remedies = [remedy or "a smaller dt"]
    links = list(dict.fromkeys(report.link for report in sim.contacts() if report.is_touching))
    if links:
        remedies.append("a softer contact (a larger max_penetration)")
    if sim.integrator.drives.effort.any() or sim.integrator.motors.effort.any():
        remedies.append("smaller efforts")
    if sim.integrator.drives.kp.any() or sim.integrator.motors.kp.any():
        remedies.append("smaller gains")
    touching = f"; touching: {', '.join(links[:8])}{', …' if len(links) > 8 else ''}" if links else ""
    text = (
        f"{what}{touching}. The state is that at t = {sim.seconds:.9g} s, the last good one. "
        f"Try {', or '.join(remedies)}"
    )
    found = SimulationDiverged(text)
    found.__dict__.update(error.__dict__)
    return found
