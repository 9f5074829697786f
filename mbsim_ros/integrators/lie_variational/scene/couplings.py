# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A coupling of the model of all parts as couplings of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mbsim_ros.coupling.configuration import CouplingConfiguration, couple
from mbsim_ros.coupling.definition import CouplingError
from mbsim_ros.coupling.engagement import Engagement
from mbsim_ros.model.model import Model


def coupling_of_part(configuration: CouplingConfiguration, model: Model, entity: str) -> CouplingConfiguration:
    """What of a coupling concerns one part; CouplingError where a motor drives joints of several."""
    whole, own = configuration.definition, set(model.joint_names)
    mine: dict[str, Mapping[str, float]] = {}
    for motor, joints in whole.motors.items():
        inside = [joint for joint in joints if joint in own]
        if 0 < len(inside) < len(joints):
            raise CouplingError(f"motor '{motor}' drives joints of several entities: give each entity a motor")
        if inside or (not joints and motor.startswith(f"{entity}/")):
            mine[motor] = joints
    rotors = {} if whole.rotor_inertia is None else whole.rotor_inertia
    return couple(
        model, mine, [joint for joint in whole.locked if joint in own], name=configuration.name,
        rotor_inertia={motor: rotors.get(motor, 0.0) for motor in mine},
        torque_limit={joint: limit for joint, limit in whole.torque_limit.items() if joint in own},
        measured_from={joint: link for joint, link in whole.measured_from.items() if joint in own},
    )  # fmt: skip


def is_same(a: CouplingConfiguration, b: CouplingConfiguration) -> bool:
    """Whether two couplings of a part are one, but for their names."""
    return replace(a.definition, name="") == replace(b.definition, name="")


def joined(
    configuration: CouplingConfiguration, done: Sequence[Engagement], u: np.ndarray, p_tree: np.ndarray
) -> Engagement:
    """What changes of coupling of some parts did to all, u (nu,) and p_tree (tree nv,) being those after it."""
    joints: dict[str, float] = dict.fromkeys(
        (joint.name for joint in configuration.model.joints if joint.nv == 1 and joint.iv >= 0), 0.0
    )
    motors: dict[str, float] = {}
    for each in done:
        joints |= _numbers(each.joint_impulses)
        motors |= _numbers(each.motor_impulses)
    return Engagement(
        configuration, u, configuration.expand(u), p_tree,
        configuration.reduce(p_tree) + configuration.rotor_inertia * u, float(sum(each.loss for each in done)), joints,
        motors,
    )  # fmt: skip


def _numbers(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}
