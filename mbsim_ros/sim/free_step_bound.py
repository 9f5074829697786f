# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How long a step of a simulation may be as far as free motion goes, and what that leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.registry import FLAGSHIP
from mbsim_ros.integrators.step_bound import StepBound, step_bound

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def free_step_bound(sim: Simulation) -> StepBound:
    """The bound from this state; its sentence names what acts on the robot and is not in it. Changes nothing."""
    if sim.scheme["integrator"] != FLAGSHIP:
        raise UnsupportedModel(f"step_bound: it is about '{FLAGSHIP}', got '{sim.scheme['integrator']}'")
    chosen = {name: str(sim.scheme[name]) for name in ("quadrature", "retraction")}
    found = step_bound(sim.model, sim.q, sim.v, gravity=sim.integrator.gravity, **chosen)
    left_out = ", ".join(_left_out(sim))
    return replace(found, sentence=f"{found.sentence}; without {left_out}") if left_out else found


def _left_out(sim: Simulation) -> list[str]:
    """What changes the motion of this simulation, or may, and is not in a bound of free motion."""
    integrator, scene = sim.integrator, sim.scene
    drives = (getattr(of, part) for of in (integrator.drives, integrator.motors) for part in ("effort", "kp", "kd"))
    has = {
        "contact": len(integrator.contacts.modes) + len(integrator.pair_contacts.modes) > 0,
        f"coupling '{sim.coupling.name}'": bool(sim.coupling.motors or sim.coupling.locked),
        "drives": any(array.any() for array in drives),
        "springs": scene.springs is not None,
        "damping and friction": integrator.joints.damping.any() or integrator.joints.friction.any(),
        "stops": integrator.joints.stop_stiffness.any(),
        "pushes": integrator.external.any(),
    }
    return [what for what, acts in has.items() if acts]
