# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker on both sides, ours and MuJoCo's: made, driven and watched alike.

Ours has the five motors of its transmission. MuJoCo has, for the same motion, either a position actuator on each of the
17 joints with that joint's share of the gains, or the transmission as equality constraints with five actuators.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.bench.peers.mujoco import MujocoRobot, Settings, add_feet, specification
from mbsim_ros.bench.step_cases import OURS
from mbsim_ros.bench.walker import case
from mbsim_ros.contact.modes import NO_CONTACT, SLIDING
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

if TYPE_CHECKING:
    from mujoco import MjSpec, mjtTrn

DT = 1e-3
FEET = 8
LOWEST = 0.9 * case.STANDING_HEIGHT  # of the top plate; a walker that is lower has fallen
STEEPEST = 0.2  # [rad] tilt of the top plate; a walker that leans further is falling


class Fallen(RuntimeError):
    """A walker that should stand or walk does not: what was measured means nothing."""


class OurWalker:
    """The variational integrator with coupling, motors, damping and contact."""

    name = OURS

    def __init__(self) -> None:
        model = case.walker()
        self.integrator = LieVariational(
            model, DT, coupling=case.five_motors(), points=contact_points(model), ground=floor(0.0, case.FRICTION)
        )
        self.integrator.joints.damping[6:] = case.JOINT_DAMPING
        self.integrator.motors.kp[6:], self.integrator.motors.kd[6:] = case.STIFFNESS, case.DAMPING
        self.target = self.integrator.motors.position[6:]  # what is written to, in the layout of `command`
        self.iterations = self.steps = 0  # since it was made

    def reset(self, motor_angles: np.ndarray, above: float = 0.0) -> None:
        """Stand still with the motors at these angles (5,) and hold them; the feet so far above the floor [m]."""
        self.integrator.reset(case.state_on_feet(motor_angles, above), u=np.zeros(case.five_motors().nu))
        self.integrator.state.motor_position[6:] = motor_angles
        self.target[:] = motor_angles

    def command(self, motor_targets: np.ndarray) -> np.ndarray:
        """What to write to `target` for targets of the motors (…, 5)."""
        return motor_targets

    def advance(self, steps: int) -> None:
        """Take steps."""
        self.integrator.step(steps=steps)
        self.iterations += self.integrator.iterations
        self.steps += steps

    def table(self, motor_targets: np.ndarray, period: int) -> np.ndarray:
        """What `play` takes for targets of the motors (rows, 5), each for `period` steps."""
        rows = np.zeros((len(motor_targets), 2, self.integrator.configuration.nu))
        rows[:, 0, 6:] = motor_targets
        return rows

    def play(self, table: np.ndarray, period: int) -> None:
        """Follow a whole table in one compiled call."""
        self.integrator.follow(table, period)
        self.iterations += self.integrator.iterations
        self.steps += len(table) * period

    def place(self) -> tuple[float, float, float]:
        """Position of the top plate ahead, its height [m] and its tilt [rad]."""
        q = self.integrator.q
        return q[0], q[2], 2.0 * math.hypot(q[3], q[4])

    def touching(self) -> int:
        """How many feet touch the floor."""
        return int(np.count_nonzero(self.integrator.contacts.modes != NO_CONTACT))

    def sliding(self) -> int:
        """How many of them slide."""
        return int(np.count_nonzero(self.integrator.contacts.modes == SLIDING))


class MujocoWalker:
    """MuJoCo's walker; `coupled` with the transmission as equality constraints."""

    def __init__(self, settings: Settings, coupled: bool = False) -> None:
        model = case.walker()
        spec = specification(model, DT)
        add_feet(spec, contact_points(model), case.FRICTION)
        if coupled:
            _couple(spec)
        else:
            _drive_every_joint(spec)
        self.name = setup_name(settings, coupled)
        self.coupled = coupled
        self.robot = MujocoRobot(model, spec, settings)
        self.robot.model.dof_damping[6:] = case.JOINT_DAMPING
        self.target = self.robot.data.ctrl

    def reset(self, motor_angles: np.ndarray, above: float = 0.0) -> None:
        """Stand still with the motors at these angles (5,) and hold them; the feet so far above the floor [m]."""
        self.robot.reset(case.state_on_feet(motor_angles, above), np.zeros(23))
        self.target[:] = self.command(motor_angles)

    def command(self, motor_targets: np.ndarray) -> np.ndarray:
        """What to write to `target` for targets of the motors (…, 5)."""
        return motor_targets if self.coupled else case.joint_angles(motor_targets)

    def advance(self, steps: int) -> None:
        """Take steps."""
        self.robot.step(steps)

    def table(self, motor_targets: np.ndarray, period: int) -> np.ndarray:
        """What `play` takes for targets of the motors (rows, 5), each for `period` steps."""
        return np.repeat(self.command(motor_targets), period, axis=0)[None]

    def play(self, table: np.ndarray, period: int) -> None:
        """Follow a whole table in one call of mujoco.rollout, which is faster than a loop over mj_step."""
        import mujoco
        from mujoco import rollout

        model, data, kind = self.robot.model, self.robot.data, mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(mujoco.mj_stateSize(model, kind))
        mujoco.mj_getState(model, data, state, kind)
        rollout.rollout(model, data, state, table, initial_warmstart=data.qacc_warmstart.copy()[None])

    def place(self) -> tuple[float, float, float]:
        """Position of the top plate ahead, its height [m] and its tilt [rad]."""
        q = self.robot.data.qpos
        return q[0], q[2], 2.0 * math.hypot(q[4], q[5])

    def touching(self) -> int:
        """How many feet touch the floor."""
        return int(self.robot.data.ncon)


Walker = OurWalker | MujocoWalker


def setup_name(settings: Settings, coupled: bool) -> str:
    """What a MujocoWalker with these is called."""
    return f"MuJoCo {settings}{'; coupled' if coupled else ''}"


def check_upright(walker: Walker) -> None:
    """Raise Fallen unless the top plate is as high and as level as it should be."""
    ahead, height, tilt = walker.place()
    if not (height > LOWEST and tilt < STEEPEST):
        raise Fallen(f"{walker.name}: fallen at {ahead:.3g} m, top plate at {height:.3g} m, tilted by {tilt:.3g} rad")


def check_standing(walker: Walker) -> None:
    """Raise Fallen unless it stands upright on all feet."""
    check_upright(walker)
    if walker.touching() != FEET:
        raise Fallen(f"{walker.name}: stands on {walker.touching()} feet, expected {FEET}")


def _drive_every_joint(spec: MjSpec) -> None:
    """An actuator per joint, in the order of q, with the joint's share of its motor's gains."""
    import mujoco

    for joint in case.walker().joints:
        motor = case.MOTORS.index(_motor_of(joint.name))
        share = 1.0 / case.LEGS_PER_MOTOR[motor]
        kp, kv = share * case.STIFFNESS[motor], share * case.DAMPING[motor]
        _add_position_actuator(spec, f"joint {joint.body}", mujoco.mjtTrn.mjTRN_JOINT, kp, kv)


def _motor_of(joint: str) -> str:
    return "waist" if joint == "body" else f"{'femur' if joint.endswith('_f') else 'tibia'}_{joint[0]}"


def _couple(spec: MjSpec) -> None:
    """Femurs follow that of the first leg, tibias its angle from the body, a tendon; an actuator per motor."""
    import mujoco

    joint = {each.name: f"joint {each.body}" for each in case.walker().joints}
    drives = [(joint["body"], mujoco.mjtTrn.mjTRN_JOINT)]
    for frame in case.FRAMES:
        leader, *followers = case.legs(frame)
        for leg in (leader, *followers):
            tendon = spec.add_tendon(name=f"{leg} angle")
            tendon.wrap_joint(joint[f"{leg}_f"], 1.0)
            tendon.wrap_joint(joint[f"{leg}_t"], 1.0)
        for leg in followers:
            for kind, first, second, ratio in (
                (mujoco.mjtEq.mjEQ_JOINT, joint[f"{leg}_f"], joint[f"{leader}_f"], case.femur_sign(leg)),
                (mujoco.mjtEq.mjEQ_TENDON, f"{leg} angle", f"{leader} angle", 1.0),
            ):
                equality = spec.add_equality(type=kind, name1=first, name2=second)
                equality.data[:5] = [0.0, ratio, 0.0, 0.0, 0.0]
        drives += [(joint[f"{leader}_f"], mujoco.mjtTrn.mjTRN_JOINT), (f"{leader} angle", mujoco.mjtTrn.mjTRN_TENDON)]
    for (target, kind), kp, kv in zip(drives, case.STIFFNESS, case.DAMPING, strict=True):
        _add_position_actuator(spec, target, kind, kp, kv)


def _add_position_actuator(spec: MjSpec, target: str, kind: mjtTrn, kp: float, kv: float) -> None:
    import mujoco

    actuator = spec.add_actuator(name=f"{target} drive", target=target, trntype=kind)
    actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2] = kp, -kp, -kv
