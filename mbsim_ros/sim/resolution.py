# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A warning where dt does not resolve how fast a joint moves: steps then change the energy though no force does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbsim_ros.model.problems import warn_user

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

TOLD_AFTER = 5  # rough steps since the reset: a single one, such as a hard landing, is nothing to worry about


class ResolutionWarning(UserWarning):
    """A joint moves too far in a step for its energy to be kept well."""


def warn_if_unresolved(sim: Simulation) -> bool:
    """Warn if steps have become rough; whether it was said."""
    integrator = sim.integrator
    if integrator.rough_steps < TOLD_AFTER:
        return False
    parts = f", {integrator.counts.halvings} of them in parts" if integrator.counts.halvings else ""
    warn_user(
        f"t = {sim.seconds:.6g} s: dt = {sim.dt:g} s does not resolve the motion: {integrator.rough_steps} steps so far"
        f"{parts} were rough, which means an energy that jumps by more than 0.02 %; "
        + integrator.describe_rough_steps(),
        ResolutionWarning,
    )
    return True
