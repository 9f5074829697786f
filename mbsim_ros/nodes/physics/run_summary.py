# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is simulated, said at the start, and how it went, in one line: time, speed, refusals, energy left over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.nodes.physics.lockstep import DUPLICATE
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.status import tell_summary

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics
    from mbsim_ros.sim.ledger import Ledger


def introduce(physics: Physics) -> None:
    """Say what is simulated, and what may not be as it was meant."""
    sim, values, log = physics.sim, physics.values, physics.get_logger()
    base = "floating" if sim.model.is_floating else "fixed"
    log.info(
        f"'{sim.model.name}': {sim.model.nv} dofs, {base} base, dt {sim.dt:g} s, a state every "
        f"{values['control_period']:g} s, {values['sync']}"
    )
    if set(sim.gains.without) & set(sim.motor_names):  # not where motors with gains of their own move all joints
        log.info(sim.gains.sentence())
    if sim.weakness():
        log.warning(sim.weakness())
    choice = sim.model.base_choice
    if choice.is_guess and not choice.is_floating:
        log.info(f"its base is fixed because {choice.why}: base:=floating lets it float")
    if sim.model.is_floating and sim.scene.ground is None and np.linalg.norm(sim.integrator.gravity) > 0.0:
        log.warning("it floats and has no ground: base:=fixed holds its root, terrain:=flat gives it one")


def sum_up(physics: Physics) -> None:
    """Say how the run went: to the launch, which ends with it, or in the log. Nothing that it meets ends the node."""
    try:
        pace = physics.pace
        text = summary(pace.simulated, pace.spent, physics.inputs.refused, physics.sim.ledger())
    except Exception as error:
        text = f"there is no summary: {type(error).__name__}: {error}"
    if not tell_summary(text):
        physics.get_logger().info(text)


def summary(simulated: int, spent: float, refused: Mapping[str, int], ledger: Ledger) -> str:
    """Of simulated time [ns] and the wall time that it took [s]; causes and numbers of refusals; the ledger."""
    if simulated <= 0:
        return "nothing was simulated"
    seconds = simulated / SECOND
    factor = f" (real-time factor {seconds / spent:.3g})" if spent > 0.0 else ""
    causes = ", ".join(f"{number} {cause}" for cause, number in sorted(refused.items()) if cause != DUPLICATE)
    part = f"{100.0 * ledger.relative_residue:.2g} % of {ledger.turned_over:.4g} J"
    return (
        f"simulated {seconds:.6g} s in {spent:.3g} s{factor}; refused commands: {causes or 'none'}; "
        f"energy left over: {ledger.residue:.2g} J, {part} turned over"
    )
