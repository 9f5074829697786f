# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Another coefficient of friction while a simulation runs."""

from __future__ import annotations

from dataclasses import replace

from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.scene import chosen_settings


def change_friction(sim: Simulation, friction: float | None) -> None:
    """Static and dynamic friction of everything that touches, from the next step on; None: as the sidecar says.

    Friction is part of the law that a step evaluates and of nothing that outlives a step, so the change is exact: the
    same as a simulation that was made with it and put into this state. ValueError where nothing touches anything.
    """
    scene = sim.scene
    if scene.points is None or scene.contact is None:
        raise ValueError(f"friction: expected a robot that touches something, got '{sim.model.name}' without contact")
    _, settings = chosen_settings(sim.model, None if friction is None else {"friction": friction})
    derived = derive_parameters(sim.model.mass, len(scene.points), settings, scene.ground)
    static, dynamic = derived.friction_static, derived.friction_dynamic
    sim.integrator.set_friction(static, dynamic)
    ground, pairs = (
        None if law is None else law.with_friction(static, dynamic) for law in (scene.contact, scene.pair_contact)
    )
    sim.scene = replace(scene, contact=ground, pair_contact=pairs)
    sim.__dict__.pop("identity", None)  # what it is a simulation of has changed, and is told anew
