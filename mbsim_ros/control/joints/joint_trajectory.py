# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Following trajectories that come while it runs: points with times, for some or all joints; the rest hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mbsim_ros.control.command import JOINTS, Command
from mbsim_ros.control.controller import driven_joints, per_joint
from mbsim_ros.control.joints.trajectories import SetPoint, TimedPoints
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean

SUCCESSFUL, PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = 0, -4, -5  # as control_msgs has them


@dataclass(frozen=True)
class JointTrajectoryParameters(ValidatedParameters):
    """Tolerances are in the order of the driven joints, or one number for all of them; a goal may have its own."""

    path_tolerance: tuple[float, ...] = parameter(
        (0.0,), "How far a joint may be off its trajectory; 0: any way.", "rad, m", lower=0.0
    )
    goal_tolerance: tuple[float, ...] = parameter(
        (0.0,), "How near a joint must come to its goal; 0: it need not.", "rad, m", lower=0.0
    )
    goal_time: float = parameter(
        0.0, "How long after the end it may come there; 0: as long as it takes.", "s", lower=0.0
    )
    feed_forward: bool = parameter(
        True, "Whether a fixed base's joints get the efforts of the motion they are to make."
    )
    gravity: float = parameter(9.81, "Acceleration, downwards, for these efforts.", "m/s²", lower=0.0, upper=100.0)


@dataclass(eq=False)
class Goal:
    """A trajectory of some joints: points (k, n) in the order of names, at times (k,) [s] from its start.

    start: when it begins [s], None: with the next state. Tolerances by joint: -1 allows anything, and what is not named
    has the controller's own; goal_time 0: the controller's own.
    """

    names: Sequence[str]
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray | None = None
    accelerations: np.ndarray | None = None
    start: float | None = None
    path_tolerance: dict[str, float] = field(default_factory=dict)
    goal_tolerance: dict[str, float] = field(default_factory=dict)
    goal_time: float = 0.0


@dataclass(frozen=True, eq=False)
class GoalProgress:
    """Where a goal is: index of the point that it goes to, what is wanted and measured of its joints, and the end.

    outcome: None on the way, else SUCCESSFUL or which tolerance is violated, and reason in words.
    """

    index: int
    desired: SetPoint
    position: np.ndarray
    velocity: np.ndarray
    outcome: int | None = None
    reason: str = ""


class JointTrajectoryController:
    """Holds all joints of one dof where it found them, until `follow` gives it a trajectory.

    It commands positions and velocities, which the drives of the robot follow with their own gains in every step, and
    for a fixed base the efforts that the motion takes.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = JointTrajectoryParameters
    commands: ClassVar[tuple[str, ...]] = (JOINTS,)

    def __init__(self, model: Model, parameters: JointTrajectoryParameters | None = None):
        joints = driven_joints(model)
        if not joints:
            raise ValueError(f"model: expected joints of one dof, got '{model.name}' with none")
        self._model = model
        self.names = tuple(joint.name for joint in joints)
        self._at_q = np.array([joint.iq for joint in joints])
        self._at_v = np.array([joint.iv for joint in joints])
        self._workspace = Workspace(model)
        self.reset()
        self.configure(JointTrajectoryParameters() if parameters is None else parameters)

    def configure(self, parameters: JointTrajectoryParameters) -> None:
        """Go on with other parameters."""
        n = len(self.names)
        self._path = per_joint("path_tolerance", parameters.path_tolerance, n)
        self._goal = per_joint("goal_tolerance", parameters.goal_tolerance, n)
        self._gravity = np.array([0.0, 0.0, -parameters.gravity])
        self.parameters = parameters

    def reset(self) -> None:
        """Hold where the next update finds the joints; a goal is forgotten."""
        self._wanted: np.ndarray | None = None
        self._rates = np.zeros(len(self.names))
        self._following: Following | None = None
        self._asked: Goal | None = None
        self.progress: GoalProgress | None = None

    def check(self, goal: Goal) -> None:
        """ValueError says what is wrong with a goal."""
        check_goal(goal, self.names)

    def follow(self, goal: Goal) -> None:
        """Follow a goal that is right from the next update on, in place of any other."""
        self.check(goal)
        self._asked, self._following, self.progress = goal, None, None

    def stop(self) -> None:
        """Hold where the joints were wanted last."""
        self._asked = self._following = self.progress = None
        self._rates[:] = 0.0

    def update(self, t: float, state: RobotState) -> Command:
        """The command for the state at t [s]."""
        r, rate = state.q[self._at_q], state.v[self._at_v]
        if self._wanted is None:
            self._wanted = r.copy()
        accelerations = np.zeros(len(self.names))
        if self._asked is not None:
            places = np.array([self.names.index(name) for name in self._asked.names])
            self._following = Following(self._asked, places, t, self._wanted[places], self._rates[places])
            self._asked = None
        if self._following is not None:
            follows, places = self._following, self._following.places
            desired = follows.motion.at(t - follows.start)
            self._wanted[places], self._rates[places], accelerations[places] = desired
            self.progress = self._judged(follows, t, desired, r[places], rate[places])
            if self.progress.outcome is not None:
                self._following = None
                self._rates[:] = 0.0
        effort = self._efforts(accelerations)
        return Command(self.names, self._wanted.copy(), self._rates.copy(), effort)

    def _judged(self, follows: Following, t: float, desired: SetPoint, r: np.ndarray, rate: np.ndarray) -> GoalProgress:
        goal, past = follows.goal, t - follows.start
        index = min(int(np.searchsorted(goal.times, past)), len(goal.times) - 1)
        error = np.abs(desired.position - r)
        is_over = past >= goal.times[-1]
        given, own = (goal.goal_tolerance, self._goal) if is_over else (goal.path_tolerance, self._path)
        allowed = np.array([given.get(name) or own[k] for name, k in zip(goal.names, follows.places, strict=True)])
        off = (allowed > 0.0) & (error > allowed)
        outcome, reason = None, ""
        k = int(np.argmax(np.where(off, error, -1.0)))
        where = f"joint '{goal.names[k]}' is {error[k]:.4g} from where it should be, more than {allowed[k]:.4g}"
        if not is_over and off.any():
            outcome, reason = PATH_TOLERANCE_VIOLATED, f"at {past:.4g} s {where}"
        elif is_over and not off.any():
            outcome = SUCCESSFUL
        elif is_over:
            patience = goal.goal_time or self.parameters.goal_time
            if patience > 0.0 and past > goal.times[-1] + patience:
                outcome, reason = GOAL_TOLERANCE_VIOLATED, f"{past - goal.times[-1]:.4g} s after the end {where}"
        return GoalProgress(index, desired, r, rate, outcome, reason)

    def _efforts(self, accelerations: np.ndarray) -> np.ndarray | None:
        """Efforts of the motion that is wanted, for a fixed base whose joints are all driven."""
        model = self._model
        if not self.parameters.feed_forward or model.is_floating or len(self.names) != model.nv:
            return None
        assert self._wanted is not None
        forces = inverse_dynamics(
            model, self._wanted, self._rates, accelerations, gravity=self._gravity, workspace=self._workspace
        )
        return np.asarray(forces + model.damping * self._rates)


def check_goal(goal: Goal, joints: Sequence[str]) -> None:
    """ValueError says what is wrong with a goal for a robot with these joints."""
    for name in goal.names:
        if name not in joints:
            hint = did_you_mean(name, joints, f"there are {', '.join(joints)}", 0)
            raise ValueError(f"joint_names: no joint named '{name}': {hint}")
    if len(set(goal.names)) < len(goal.names) or not goal.names:
        raise ValueError(f"joint_names: expected some, each once, got {list(goal.names)}")
    for name in {**goal.path_tolerance, **goal.goal_tolerance}:
        if name not in goal.names:
            raise ValueError(f"tolerance: the goal does not move '{name}'")
    if len(goal.times) == 0 or goal.times[0] < 0.0 or not (np.diff(goal.times) > 0.0).all():
        raise ValueError(f"time_from_start: expected times that increase from 0, got {goal.times.tolist()}")
    for what in ("positions", "velocities", "accelerations"):
        values = getattr(goal, what)
        if values is not None and values.shape != (len(goal.times), len(goal.names)):
            wanted = (len(goal.times), len(goal.names))
            raise ValueError(f"{what}: expected {wanted} numbers for points and joints, got {values.shape}")
        if values is not None and not np.isfinite(values).all():
            raise ValueError(f"{what}: not finite")


class Following:
    """A goal that has begun: it leads from where its joints were wanted to its first point."""

    def __init__(self, goal: Goal, places: np.ndarray, t: float, position: np.ndarray, rate: np.ndarray):
        self.goal, self.places = goal, places
        self.start = t if goal.start is None else goal.start
        late = max(0.0, t - self.start)
        left = goal.times > late  # what is over by now is left out
        times, firsts = np.concatenate([[late], goal.times[left]]), (position, rate, np.zeros(len(rate)))
        parts: list[np.ndarray] = []
        for first, values in zip(firsts, (goal.positions, goal.velocities, goal.accelerations), strict=True):
            if values is None:
                break
            parts.append(np.vstack([first, values[left]]))
        if len(times) == 1:  # a single point, which is wanted at once
            times, parts = np.array([late, late + 1e-9]), [np.vstack([goal.positions[-1:]] * 2)]
        self.motion = TimedPoints(times, *parts)
