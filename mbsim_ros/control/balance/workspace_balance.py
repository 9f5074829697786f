# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Balance by control in the workspace of the central body, W chapter 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from transforms3d.euler import euler2quat

from mbsim_ros.control.balance import balance_kernel as kernel
from mbsim_ros.control.balance.arrays import BalanceLaw, BalanceMemory, BalanceResult, BalanceWork, LeggedRobot
from mbsim_ros.control.balance.desired_wrench_kernel import E_C, F_B, Q_E, REPORT_SIZE, X_B
from mbsim_ros.control.balance.gain_matrices import NAMES, GainMatrices, matrix_of
from mbsim_ros.control.balance.legs import find_legs
from mbsim_ros.control.balance.pose_motion import PoseMotion
from mbsim_ros.control.balance.pose_trajectory import PosePoints, PoseTrajectory
from mbsim_ros.control.balance.workspace_dynamics_kernel import IGNORED, MORE_COLUMNS
from mbsim_ros.control.balance.wrench_distribution_kernel import EDGES
from mbsim_ros.control.command import JOINTS, Command
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.layout import ARTICULATED_A as A_, ARTICULATED_B as B_, ARTICULATED_C as C_, ARTICULATED_Z as Z_
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.model import CENTRE, IQ, Model

ALWAYS = 1e6  # [m] a clearance that no foot reaches


@dataclass(frozen=True)
class WorkspaceBalanceParameters(ValidatedParameters):
    """The gains are the published ones (W section 4.3); vectors are in world axes."""

    central_link: str = parameter("base_link", "The link whose pose is controlled; it moves freely.")
    feet: str = parameter("left_foot right_foot", "Links that stand on the ground, one at the end of each leg.")
    position: tuple[float, ...] = parameter((), "Set point of its centre of mass; empty: where it is at first.", "m")
    rpy: tuple[float, ...] = parameter((), "Set point of its orientation; empty: as it is at first.", "rad")
    move_time: float = parameter(
        0.0, "Time in which a new set point is approached; 0: a step.", "s", lower=0.0, upper=1000.0
    )
    swing: tuple[float, ...] = parameter((0.0, 0.0, 0.0), "Amplitude of a sine about the set point.", "m")
    swing_turn: tuple[float, ...] = parameter((0.0, 0.0, 0.0), "Amplitude of a sine of its orientation.", "rad")
    swing_frequency: float = parameter(0.0, "Of the sines; 0: none.", "Hz", lower=0.0, upper=100.0)
    position_kp: tuple[float, ...] = parameter((50.0, 50.0, 200.0), "K_c^p.", "1/s²", lower=0.0)
    position_kv: tuple[float, ...] = parameter((7.07, 7.07, 14.142), "K_c^v.", "1/s", lower=0.0)
    orientation_kp: tuple[float, ...] = parameter((50.0, 50.0, 50.0), "K_R^p.", "1/s²", lower=0.0)
    orientation_kv: tuple[float, ...] = parameter((7.07, 7.07, 7.07), "K_R^v.", "1/s", lower=0.0)
    position_kp_matrix: tuple[float, ...] = parameter(
        (), "Full K_c^p, row by row, in place of position_kp; empty: diagonal.", "1/s²"
    )
    position_kv_matrix: tuple[float, ...] = parameter((), "Full K_c^v, likewise.", "1/s")
    orientation_kp_matrix: tuple[float, ...] = parameter((), "Full K_R^p, likewise.", "1/s²")
    orientation_kv_matrix: tuple[float, ...] = parameter((), "Full K_R^v, likewise.", "1/s")
    workspace: str = parameter(
        "big_base", "How the feet are welded to the ground in the model: as published, or exactly.",
        choices=("big_base", "exact"),
    )  # fmt: skip
    big_base: float = parameter(1e6, "Inertia of a foot as a multiple of the central body's.", "", lower=1.0)
    distribution: str = parameter(
        "minimum_norm", "How the feet share the wrench: as published, or within what the ground can give.",
        choices=("minimum_norm", "cones"),
    )  # fmt: skip
    norm_length: float = parameter(
        1.0, "Moment over force that weigh the same in the minimum norm; 1 m as published.", "m", lower=1e-3, upper=1e3
    )
    friction: float = parameter(0.3, "Of the cones.", "", lower=0.0, upper=100.0)
    sole_margin: float = parameter(
        0.1, "Part of the soles at their edges that the centre of pressure stays away from.", "", lower=0.0, upper=0.9
    )
    moment_arm: float = parameter(
        0.3, "Where the ground cannot give the wrench: a force that weighs as much as a unit moment, inverted.", "m",
        lower=1e-3, upper=1e3,
    )  # fmt: skip
    support: str = parameter(
        "estimated", "Which feet stand: those whose soles are near the ground, or all of them, as published.",
        choices=("estimated", "assumed"),
    )  # fmt: skip
    clearance: float = parameter(0.01, "Height of a sole from which on a foot does not stand.", "m", lower=0.0)
    ground_height: float = parameter(0.0, "Of the floor.", "m")
    give_up: float = parameter(
        1.0, "Error of the orientation from which on it has fallen and lets the ground go, until a reset.", "rad",
        lower=0.0, upper=math.pi,
    )  # fmt: skip
    hold_kp: float = parameter(100.0, "Of joints that carry no standing foot.", "1/s²", lower=0.0)
    hold_kv: float = parameter(20.0, "Of joints that carry no standing foot.", "1/s", lower=0.0)
    singular_reach: float = parameter(0.05, "Lever of a leg under which it counts as straight.", "m", lower=1e-6)
    singular_damping: float = parameter(0.05, "Lever that it is given where it has none.", "m", lower=1e-6)
    stretch_margin: float = parameter(
        0.005, "By how much a leg stays shorter than when it is straight.", "m", lower=0.0
    )
    gravity: float = parameter(9.81, "Acceleration, downwards.", "m/s²", lower=0.0, upper=100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("position_kp", "position_kv", "orientation_kp", "orientation_kv", "swing", "swing_turn"):
            _three(name, getattr(self, name))
        for name in ("position", "rpy"):
            if getattr(self, name):
                _three(name, getattr(self, name))
        self.gain_matrices()

    def gain_matrices(self) -> GainMatrices:
        """All four gains as matrices; ValueError says which cannot be."""
        return GainMatrices([matrix_of(name, getattr(self, name), getattr(self, f"{name}_matrix")) for name in NAMES])


class WorkspaceBalance:
    """Drives a central body to a pose through the joints of legs that stand on flat feet. W Algorithms 4.1 to 4.6

    The robot: a link that floats (its own centre of mass is what is controlled), and legs of joints with one axis, that
    have no joint in common, each ending in a foot. Other actuated joints (arms, a raised leg) are held where they are;
    joints without an actuator (of several dofs, or of a negligible effort limit) and what is beyond them are ignored.

    A leg that is nearly straight has a damped workspace inertia, see workspace_dynamics_kernel, and is not stretched
    further: a set point out of reach is approached up to slightly bent knees. Efforts stay within the
    limits of the joints. With support="estimated" a raised foot carries nothing: its leg is held by its own joints, and
    with no foot on the ground the efforts are those of a fall. Feet may be as many as there are; one that is a ball at
    the end of fewer than six joints, as of most robots with four legs, is pinned to the ground and gives forces only,
    within their friction cones.

    After an update `position_error` and the other properties tell what it came from.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = WorkspaceBalanceParameters
    commands: ClassVar[tuple[str, ...]] = (JOINTS,)

    def __init__(self, model: Model, parameters: WorkspaceBalanceParameters | None = None):
        chosen = WorkspaceBalanceParameters() if parameters is None else parameters
        self._model = model
        joints = driven_joints(model)
        self._names = tuple(joint.name for joint in joints)
        self._at_v = np.array([joint.iv for joint in joints], dtype=np.int64)
        self.legs = find_legs(model, chosen.central_link, tuple(chosen.feet.split()))
        self._make_arrays()
        self._motion: PoseMotion | None = None
        self._pending: tuple[ArrayLike, ArrayLike, float] | None = None
        self._asked: PosePoints | None = None
        self._trajectory: PoseTrajectory | None = None
        self.configure(chosen)

    def configure(self, parameters: WorkspaceBalanceParameters) -> None:
        """Go on with other parameters; a changed set point is approached in `move_time`. Links cannot change."""
        before: WorkspaceBalanceParameters | None = getattr(self, "parameters", None)
        if before is not None and (before.central_link, before.feet) != (parameters.central_link, parameters.feet):
            raise ValueError("central_link, feet: expected those it began with; make another controller")
        p = parameters
        self._gains = p.gain_matrices()
        gains = self._gains.diagonals
        s = np.zeros(kernel.SETTINGS_SIZE)
        s[kernel.BIG_BASE] = p.big_base if p.workspace == "big_base" else 0.0
        s[kernel.REACH], s[kernel.SINGULAR_DAMPING] = p.singular_reach, p.singular_damping
        s[kernel.FRICTION], s[kernel.GROUND] = p.friction, p.ground_height + self.legs.radius
        s[kernel.CLEARANCE] = p.clearance if p.support == "estimated" else ALWAYS
        s[kernel.HOLD_KP], s[kernel.HOLD_KD], s[kernel.GRAVITY + 2] = p.hold_kp, p.hold_kv, -p.gravity
        s[kernel.WEIGHTS : kernel.WEIGHTS + 3], s[kernel.WEIGHTS + 3 :] = 1.0, 1.0 / p.moment_arm
        s[kernel.STRETCH] = p.stretch_margin
        s[kernel.NORM_LENGTH], s[kernel.GIVE_UP] = p.norm_length, math.cos(0.5 * p.give_up)
        use_cones = p.distribution == "cones" or self.legs.stands_on_points  # points give no moments
        soles = _shrunk(self.legs.sole_points, self.legs.owner, p.sole_margin if use_cones else 0.0)
        self._law = BalanceLaw(soles, gains, s, use_cones)
        self._moved = before is None or (before.position, before.rpy) != (p.position, p.rpy)
        self._swung = before is None or (before.swing, before.swing_turn, before.swing_frequency) != (
            p.swing, p.swing_turn, p.swing_frequency
        )  # fmt: skip
        self.parameters = parameters

    def go_to(self, position: ArrayLike, quaternion: ArrayLike, move_time: float | None = None) -> None:
        """From the next update on go to another set point: (3,) and (w, x, y, z), in `move_time` [s] unless given."""
        place = np.array(position, dtype=float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ValueError(f"position: expected three finite numbers, got {position!r}")
        PoseMotion(place, quaternion)  # checks the quaternion
        self._pending = (place, quaternion, self.parameters.move_time if move_time is None else move_time)
        self._asked = self._trajectory = None

    def follow(self, points: PosePoints) -> None:
        """From the next update on go through these poses, with their velocities and accelerations; then hold the last.

        A swing ends; a set point that comes meanwhile takes its place.
        """
        self._asked, self._pending = points, None

    def reset(self) -> None:
        """Forget the past: the set point is that of the parameters again, all feet stand."""
        self._motion, self._pending, self._moved, self._swung = None, None, True, True
        self._asked = self._trajectory = None
        self._memory.foot_stands[:] = True
        self._memory.facts[:] = 0.0
        self._memory.y[:] = 0.0

    def update(self, t: float, state: RobotState) -> Command:
        """The efforts for the state at t [s]."""
        q, v = state.q, state.v
        if self._motion is None or self._moved or self._swung or self._pending is not None:
            self._motion = self._changed_motion(t, q)
        set_point = self._motion.at(t)
        if self._asked is not None or self._trajectory is not None:
            set_point = self._on_trajectory(t, self._motion, set_point)
        if self._gains.is_full:
            central, now = self.legs.central, forward_kinematics(self._model, q, v)
            centre = self._model.constants[central, CENTRE : CENTRE + 3]
            set_point = self._gains.apply(now.X_WB[central], now.V_WB[central], centre, set_point)
        kernel.balance_into(self._robot, self._law, q, v, set_point, self._memory, self._work, self._result)
        return Command(self._names, effort=self._result.tau[self._at_v])

    @property
    def needed_joints(self) -> frozenset[str]:
        """Those of the legs, and those that are held."""
        return frozenset(joint.name for joint in self._model.joints if self.legs.roles[joint.body] != IGNORED)

    @property
    def set_point(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Position (3,) and quaternion (w, x, y, z) that it is at or goes to; None before the first update."""
        return None if self._motion is None else self._motion.goal

    @property
    def position_error(self) -> np.ndarray:
        """Centre of mass of the central body less its set point (3,) [m], in the world."""
        return self._result.report[E_C : E_C + 3].copy()

    @property
    def orientation_error(self) -> np.ndarray:
        """q_e (w, x, y, z): the turn from the set point to the body, in the world. W (4.17)"""
        return self._result.report[Q_E : Q_E + 4].copy()

    @property
    def desired_acceleration(self) -> np.ndarray:
        """X (6,), at the centre of mass, in axes of the central body. W (4.8)"""
        return self._result.report[X_B : X_B + 6].copy()

    @property
    def desired_wrench(self) -> np.ndarray:
        """F₁ (f, τ), at the centre of mass, in axes of the central body. W (4.3)"""
        return self._result.report[F_B : F_B + 6].copy()

    @property
    def foot_wrenches(self) -> np.ndarray:
        """(feet, 6): what the ground should give each foot, at its centre of mass, in axes of the world."""
        return self._result.wrenches.copy()

    @property
    def standing(self) -> np.ndarray:
        """(feet,) bool: which feet were taken to stand."""
        return self._memory.foot_stands.copy()

    @property
    def straightness(self) -> float:
        """The least lever of a leg's joints [m]; below `singular_reach` a leg counts as straight."""
        return float(self._memory.facts[kernel.LEAST_REACH])

    @property
    def has_fallen(self) -> bool:
        """Whether it gave up balancing; a reset begins again."""
        return bool(self._memory.facts[kernel.FALLEN])

    @property
    def newton_steps(self) -> int:
        """Steps of the last search within the cones."""
        return int(self._memory.facts[kernel.NEWTON_STEPS])

    def workspace_dynamics(self) -> tuple[np.ndarray, np.ndarray]:
        """P₁ (6, 6) and z₁ (6,) of the last update, at the centre of mass, in axes of the central body. W (4.2)"""
        w = self._work.rows[self.legs.central + 1]
        A, C = _symmetric(w[A_ : A_ + 6]), _symmetric(w[C_ : C_ + 6])
        B = w[B_ : B_ + 9].reshape(3, 3)
        P = np.block([[A, B], [B.T, C]])
        x, y, z = self._model.constants[self.legs.central, CENTRE : CENTRE + 3]
        to_origin = np.eye(6)  # V̇ at the origin from that at the centre of mass
        to_origin[:3, 3:] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        return to_origin.T @ P @ to_origin, to_origin.T @ w[Z_ : Z_ + 6]

    def _on_trajectory(self, t: float, motion: PoseMotion, set_point: np.ndarray) -> np.ndarray:
        """The set point at t [s] of the trajectory that is followed; once it is over the motion holds its last pose."""
        if self._asked is not None:
            before = set_point if self._trajectory is None else self._trajectory.at(t)
            self._trajectory, self._asked = PoseTrajectory(self._asked, t, before), None
            motion.go_to(t, *self._trajectory.goal)
            motion.swing(t, np.zeros(3), np.zeros(3), 0.0)
        assert self._trajectory is not None
        found = self._trajectory.at(t)
        if self._trajectory.is_over(t):
            self._trajectory = None
        return found

    def _changed_motion(self, t: float, q: np.ndarray) -> PoseMotion:
        """The motion from t [s] on: that of the parameters at first, then as it was changed."""
        p, body, motion = self.parameters, self.legs.central, self._motion
        if motion is None:
            iq = int(self._model.topology[body, IQ])
            X = forward_kinematics(self._model, q).X_WB[body]
            centre = X[:3, 3] + X[:3, :3] @ self._model.constants[body, CENTRE : CENTRE + 3]
            motion = PoseMotion(centre, q[[iq + 6, iq + 3, iq + 4, iq + 5]])
            self._memory.held_at[:] = q
        if self._moved and (p.position or p.rpy):
            place, turn = motion.goal
            motion.go_to(t, p.position or place, euler2quat(*p.rpy) if p.rpy else turn, p.move_time)
        if self._pending is not None:
            motion.go_to(t, *self._pending)
        if self._swung:
            motion.swing(t, p.swing, p.swing_turn, p.swing_frequency)
        self._moved, self._swung, self._pending = False, False, None
        return motion

    def _make_arrays(self) -> None:
        """What the kernel reads of the robot, and what it writes to."""
        model, legs = self._model, self.legs
        rows, feet, points = model.n_bodies + 1, len(legs.feet), len(legs.owner)
        limits = np.where(model.effort_limit > 0.0, model.effort_limit, np.inf)
        self._robot = LeggedRobot(
            model.topology,
            model.constants,
            legs.roles,
            legs.central,
            legs.feet,
            legs.owner,
            legs.heavy,
            legs.lengths,
            limits,
        )
        self._memory = BalanceMemory(
            np.ones(feet, dtype=bool), model.neutral.copy(), np.zeros(6), np.zeros(kernel.FACTS_SIZE)
        )
        ws = Workspace(model)
        self._work = BalanceWork(
            ws.sincos, ws.rows, np.zeros((rows, MORE_COLUMNS)), ws.dofs, np.zeros((rows, 6, 7)),
            np.zeros(rows, dtype=np.int64), np.zeros(model.n_bodies, dtype=bool), np.zeros(model.nv),
            np.zeros(model.nv), np.zeros((feet, 3)), np.zeros((points, 3)), np.zeros((6, 6)),
            np.zeros((EDGES * points, 8)), np.zeros(6),
        )  # fmt: skip
        self._result = BalanceResult(np.zeros((feet, 6)), np.zeros(REPORT_SIZE), np.zeros(model.nv))


def _three(name: str, values: tuple[float, ...]) -> None:
    if len(values) != 3:
        raise ValueError(f"{name}: expected three numbers, got {len(values)}")


def _shrunk(points: np.ndarray, owner: np.ndarray, margin: float) -> np.ndarray:
    """Points of soles, moved towards the middle of each."""
    middles = np.array([points[owner == foot].mean(axis=0) for foot in owner]).reshape(-1, 3)
    return np.ascontiguousarray(points + margin * (middles - points))


def _symmetric(entries: np.ndarray) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
