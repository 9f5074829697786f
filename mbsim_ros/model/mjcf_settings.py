# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an MJCF says that stands in a sidecar here: gains, rotors, states, friction, the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from transforms3d.quaternions import quat2mat

from mbsim_ros.model.mjcf_shapes import PLANE, pose

if TYPE_CHECKING:
    from mujoco import MjModel

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
LEVEL = 0.999  # cosine between a plane's normal and the vertical
AFFINE = 1  # mjtBias: kp and kd of an actuator
JOINTS = 2  # mjtEq: of two joints


def settings_of(m: MjModel, names: list[str], is_floating: bool) -> tuple[dict[str, object], dict[str, int]]:
    """The sections of the sidecar, and what was left out, by kind."""
    settings: dict[str, object] = {"base": "floating"} if is_floating else {"base": "fixed"}
    left_out: dict[str, int] = {}
    states = _states(m, names, is_floating)
    followers = mimics(m)
    single = [j for j in range(m.njnt) if m.jnt_type[j] in (SLIDE, HINGE)]
    rotors = _rotors(m, names, single, followers)
    left_out["rotors of ball and free joints"] = sum(
        bool(m.dof_armature[m.jnt_dofadr[j]]) for j in range(m.njnt) if j not in single
    )
    gains = {names[j]: found for j in single if (found := _gains(m, j)) is not None and j not in followers}
    for key, value in (("initial_states", states), ("gains", gains), ("rotor_inertia", rotors)):
        if value:
            settings[key] = value
    touching = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
    floors = [g for g in touching if m.geom_bodyid[g] == 0 and m.geom_type[g] == PLANE]
    level = [g for g in floors if abs(quat2mat(m.geom_quat[g])[2, 2]) > LEVEL]
    left_out["geoms of the world that are no level plane"] = int((m.geom_bodyid == 0).sum()) - len(level)
    if level:
        settings["terrain"] = {"type": "flat", "height": float(m.geom_pos[level[0], 2])}
        settings["contact"] = {"friction": max(float(m.geom_friction[g, 0]) for g in touching)}
    return settings, {kind: count for kind, count in left_out.items() if count}


def mimics(m: MjModel) -> dict[int, tuple[int, float, float]]:
    """The joints that follow another linearly, by an equality that is in force: which one, ratio and offset."""
    found = {}
    for e in range(m.neq):
        if m.eq_type[e] == JOINTS and m.eq_obj2id[e] >= 0 and m.eq_active0[e] and not m.eq_data[e, 2:5].any():
            one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
            if m.jnt_type[one] in (SLIDE, HINGE) and m.jnt_type[two] in (SLIDE, HINGE):
                found[one] = two, float(m.eq_data[e, 1]), float(m.eq_data[e, 0])
    return found


def _rotors(m: MjModel, names: list[str], single: list[int], followers: dict) -> dict[str, float]:
    """Rotor inertias by joint; that of a joint that follows another is on the other, by the square of the ratio."""
    rotors: dict[str, float] = {}
    for j in single:
        rotor, at = float(m.dof_armature[m.jnt_dofadr[j]]), j
        for _ in followers:  # circles end, too: who reads the robot refuses them
            if at in followers:
                at, ratio, _ = followers[at]
                rotor *= ratio * ratio
        if rotor and at not in followers:
            rotors[names[at]] = rotors.get(names[at], 0.0) + rotor
    return rotors


def _gains(m: MjModel, j: int) -> dict[str, float] | None:
    """Gains of the position and velocity servos of a joint, together."""
    kp = kd = 0.0
    for a in np.flatnonzero((m.actuator_trnid[:, 0] == j) & (m.actuator_trntype == 0)):
        if m.actuator_biastype[a] == AFFINE:
            gear = float(m.actuator_gear[a, 0]) ** 2
            kp -= gear * float(m.actuator_biasprm[a, 1])
            kd -= gear * float(m.actuator_biasprm[a, 2])
    return {"kp": kp, "kd": kd} if kp > 0.0 or kd > 0.0 else None


def _states(m: MjModel, names: list[str], is_floating: bool) -> dict[str, dict[str, dict]]:
    """Keyframes by name; `home` is where the file has the robot, unless a keyframe has that name."""
    states = {}
    for k in range(m.nkey):
        states[str(m.key(k).name) or f"key_{k}"] = _state(m, names, is_floating, m.key_qpos[k], m.key_qvel[k])
    if is_floating and "home" not in states:
        states["home"] = _state(m, names, is_floating, m.qpos0, np.zeros(m.nv))
    return states


def _state(m: MjModel, names: list[str], is_floating: bool, qpos: np.ndarray, qvel: np.ndarray) -> dict[str, dict]:
    state: dict[str, dict] = {}
    if is_floating:
        free = int(np.flatnonzero(m.jnt_type == FREE)[0])
        at, dof = int(m.jnt_qposadr[free]), int(m.jnt_dofadr[free])
        R = quat2mat(qpos[at + 3 : at + 7])
        linear = R.T @ qvel[dof : dof + 3]  # MuJoCo has it in the world's axes
        state["base"] = {"xyz": qpos[at : at + 3].tolist(), "rpy": list(pose(R, np.zeros(3)).rpy)}
        state["base"] |= {"linear": linear.tolist(), "angular": qvel[dof + 3 : dof + 6].tolist()}
    followers = mimics(m)
    for j in range(m.njnt):
        if m.jnt_type[j] in (SLIDE, HINGE) and j not in followers:
            at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            value = qpos[at] if not m.jnt_limited[j] else np.clip(qpos[at], *m.jnt_range[j])
            state.setdefault("joints", {})[names[j]] = float(value - m.qpos0[at])
            if qvel[dof]:
                state.setdefault("velocities", {})[names[j]] = float(qvel[dof])
    return state
