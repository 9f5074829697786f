# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a coupling may say: which motor drives which joints, which joints are locked. All problems are told at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from mbsim_ros.model.joint_kinds import KINDS
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.coupling_details import BASE
from mbsim_ros.model.sidecar.settings import Coupling

DEPENDENT = 1e-10  # what is left of a motor's column beside the others', relative to it, when it is one of their sums


class CouplingError(ValueError):
    """A coupling that cannot be used; the message lists every reason."""


def checked_definition(model: Model, coupling: Coupling, rotors: Mapping[str, float]) -> None:
    """Raise CouplingError if what a coupling says and these rotor inertias make no coupling of this model."""
    motors, locked = coupling.motors, coupling.locked
    problems: list[str] = []
    driven = {joint for joints in motors.values() for joint in joints}
    for motor, joints in motors.items():
        problems += _about_motor(model, motor, joints, rotors.get(motor, 0.0))
        if motor in model.joint_names and motor not in driven and motor not in locked:
            problems.append(f"motor '{motor}' is named like a joint that stays free: rename the motor")
    for joint in locked:
        problems += _about_locked(model, joint)
        if joint in driven:
            drivers = ", ".join(f"'{motor}'" for motor, joints in motors.items() if joint in joints)
            problems.append(f"joint '{joint}' is both locked and driven by {drivers}: choose one")
    for joint in sorted({joint for joint in locked if list(locked).count(joint) > 1}):
        problems.append(f"joint '{joint}' is locked twice: list it once")
    for motor in rotors:
        if motor not in motors:
            problems.append(f"rotor inertia of '{motor}', which is no motor here: {did_you_mean(motor, motors, '', 0)}")
    problems += _about_limits(model, coupling, driven) + _about_cables(model, coupling, driven)
    problems += [] if problems else _about_dependence(coupling, rotors)
    if problems:
        raise CouplingError("\n".join(problem.rstrip(": ") for problem in problems))


def _about_motor(model: Model, motor: str, joints: Mapping[str, float], rotor: float) -> list[str]:
    if not (math.isfinite(rotor) and rotor >= 0.0):
        return [f"motor '{motor}': expected a rotor inertia of zero or more, got {rotor}"]
    if not joints and rotor == 0.0:
        return [f"motor '{motor}' drives nothing and has no rotor inertia, so nothing resists it: {_IDLE_HINT}"]
    problems = []
    for joint, ratio in joints.items():
        problems += _about_joint(model, joint, f"motor '{motor}' drives '{joint}'")
        if not _is_number(ratio):
            problems.append(f"motor '{motor}', joint '{joint}': expected a finite ratio, got {ratio!r}")
        elif ratio == 0.0:
            problems.append(f"motor '{motor}', joint '{joint}': a ratio of zero: leave it out, or list it as locked")
    return problems


def _about_locked(model: Model, name: str) -> list[str]:
    if name == BASE and BASE not in model.joint_names:
        return [] if model.is_floating else ["locked 'base': the base of this robot is fixed already: leave it out"]
    return _about_joint(model, name, f"locked joint '{name}'", has_one_dof=False)


def _about_limits(model: Model, coupling: Coupling, driven: Collection[str]) -> list[str]:
    problems = []
    for joint, limit in coupling.torque_limit.items():
        where = f"torque_limit of '{joint}'"
        if not (_is_number(limit) and limit > 0.0):
            problems.append(f"{where}: expected a finite number above zero, got {limit!r}")
        if joint not in driven and joint not in coupling.locked:
            problems.append(f"{where}: the coupling neither locks nor drives it: leave the limit out")
        elif joint == BASE or (joint in model.joint_names and KINDS[model.joint(joint).type].nv != 1):
            problems.append(f"{where}: only brakes and clutches of joints of one dof can slip: lock it without a limit")
        elif any(each.mimic is not None and each.mimic.joint == joint for each in model.description.joints):
            problems.append(f"{where}: other joints mimic it: lock it without a limit")
    return problems


def _about_cables(model: Model, coupling: Coupling, driven: Collection[str]) -> list[str]:
    problems = []
    for joint, link in coupling.measured_from.items():
        where = f"measured_from of '{joint}'"
        if joint not in driven and joint not in coupling.locked:
            problems.append(f"{where}: the coupling neither locks nor drives it: leave it out")
        elif joint in coupling.locked and joint in coupling.torque_limit:
            problems.append(
                f"{where}: a brake that slips holds the joint itself: drive it by a motor, or leave one out"
            )
        elif joint not in model.joint_names or model.joint(joint).type not in ("revolute", "continuous"):
            problems.append(f"{where}: only the rotation of a joint with one axis is measured")
        elif any(each.mimic is not None and each.mimic.joint == joint for each in model.description.joints):
            problems.append(f"{where}: other joints mimic it: leave it out")
        if link not in model.frames:
            problems.append(
                f"{where}: no link named {link!r}: {did_you_mean(str(link), model.frames, 'see the URDF', 0)}"
            )
    return problems


def _about_joint(model: Model, name: str, where: str, has_one_dof: bool = True) -> list[str]:
    if name not in model.joint_names:
        return [f"{where}: no moving joint of that name: {did_you_mean(name, model.joint_names, 'see the URDF', 0)}"]
    joint = model.joint(name)
    if has_one_dof and KINDS[joint.type].nv != 1:
        return [f"{where}: it is {joint.type}, and only joints of one dof can be driven: lock it, or leave it free"]
    mimic = model.description.joint(name).mimic
    if mimic is not None:
        return [f"{where}: it follows '{mimic.joint}': name that one"]
    return []


def _about_dependence(coupling: Coupling, rotors: Mapping[str, float]) -> list[str]:
    """Motors of which one moves nothing that the others do not move as well: their speeds could not be told apart.

    A joint that several motors drive is meant, as where a cable drive measures it from the body, N (29); what is not is
    a combination of motor speeds that moves no joint and no rotor. Rotors are rows of D like joints; a joint whose
    clutch may slip is none, for it may stay where it is.
    """
    motors = {
        motor: {joint: ratio for joint, ratio in driven.items() if joint not in coupling.torque_limit}
        for motor, driven in coupling.motors.items()
    }
    for motor, driven in motors.items():
        if not driven and not rotors.get(motor, 0.0):
            return [f"motor '{motor}' drives only by clutches that may slip, so nothing resists it: {_ROTOR_HINT}"]
    names = list(motors)
    joints = sorted({joint for driven in motors.values() for joint in driven})
    D = np.zeros((len(joints) + len(names), len(names)))
    for k, motor in enumerate(names):
        for joint, ratio in motors[motor].items():
            D[joints.index(joint), k] = ratio
        D[len(joints) + k, k] = math.sqrt(rotors.get(motor, 0.0))
    problems = []
    kept: list[int] = []
    for k, motor in enumerate(names):
        column = D[:, k]
        mix = np.linalg.lstsq(D[:, kept], column, rcond=None)[0] if kept else np.zeros(0)
        if np.linalg.norm(column - D[:, kept] @ mix) <= DEPENDENT * np.linalg.norm(column):
            others = ", ".join(f"'{names[j]}'" for j, share in zip(kept, mix, strict=True) if abs(share) > DEPENDENT)
            problems.append(
                f"motor '{motor}' moves no joint that {others} would not move alike, so their speeds cannot be told "
                "apart: merge them, change a ratio, or give it a rotor inertia"
            )
        else:
            kept.append(k)
    return problems


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and math.isfinite(value)


_ROTOR_HINT = "give it a rotor inertia, or one joint without a torque limit"
_IDLE_HINT = "give it joints, or a rotor inertia"
