# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Poses, twists and accelerations of bodies and links. Twists are (v, ω), in the frame of the body or link."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.kinematics_kernel import body_motions_into, link_poses_into, world_poses_into
from mbsim_ros.dynamics.layout import ACCELERATION, P_WB, R_WB, TWIST
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.model.model import Frame, Model


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Poses of all bodies, and how they move where v and a were given (zero otherwise).

    A body frame has its joint's axis as z, so it is not the frame of its link: ask for links by name.
    """

    model: Model = field(repr=False)
    X_WB: np.ndarray  # (bodies, 4, 4)
    V_WB: np.ndarray  # (bodies, 6) twists in the body frames
    A_WB: np.ndarray  # (bodies, 6) spatial accelerations in the body frames

    def link_pose(self, link: str) -> np.ndarray:
        """X_WL (4, 4)."""
        frame = self.model.frame(link)
        return self.X_WB[frame.body] @ frame.X_BF if frame.body >= 0 else frame.X_BF.copy()

    def link_twist(self, link: str) -> np.ndarray:
        """V_WL (6,): linear velocity of the link's origin and angular velocity, in the link's axes."""
        return _in_link(self.model.frame(link), self.V_WB)

    def link_acceleration(self, link: str, *, classical: bool = False) -> np.ndarray:
        """A_WL (6,), the derivative of V_WL; classical: that of the link's origin as a point, with v' + ω × v first."""
        frame = self.model.frame(link)
        A = _in_link(frame, self.A_WB)
        if classical:
            V = _in_link(frame, self.V_WB)
            A[:3] += _cross(V[3:], V[:3])
        return A


def forward_kinematics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    *,
    workspace: Workspace | None = None,
) -> Kinematics:
    """World poses of all bodies at q (nq,), their twists for v (nv,) and accelerations for a (nv,): W Algorithm 3.1.

    Without v, or without a, those are zero. Gravity plays no part.
    """
    ws = _world_poses(model, q, workspace)
    n = model.n_bodies
    X_WB = np.zeros((n, 4, 4))
    X_WB[:, :3, :3] = ws.rows[1:, R_WB : R_WB + 9].reshape(n, 3, 3)
    X_WB[:, :3, 3] = ws.rows[1:, P_WB : P_WB + 3]
    X_WB[:, 3, 3] = 1.0
    if v is None and a is None:
        return Kinematics(model, X_WB, np.zeros((n, 6)), np.zeros((n, 6)))
    zero = np.zeros(len(model.dof_parent))
    v_tree = zero if v is None else check.velocity(model, v)
    a_tree = zero if a is None else check.velocity(model, a, "a")
    body_motions_into(model.topology, v_tree, a_tree, ws.rows)
    twists = ws.rows[1:, TWIST : TWIST + 6].copy()
    accelerations = ws.rows[1:, ACCELERATION : ACCELERATION + 6].copy()
    check.finite_result("forward_kinematics", twists, q=q, v=v)
    check.finite_result("forward_kinematics", accelerations, q=q, v=v, a=a)
    return Kinematics(model, X_WB, twists, accelerations)


def link_pose(model: Model, q: ArrayLike, link: str, *, workspace: Workspace | None = None) -> np.ndarray:
    """Pose X_WL (4, 4) of a link at q (nq,)."""
    return forward_kinematics(model, q, workspace=workspace).link_pose(link)


def link_twist(
    model: Model, q: ArrayLike, v: ArrayLike, link: str, *, workspace: Workspace | None = None
) -> np.ndarray:
    """Twist V_WL (6,) of a link at q (nq,), v (nv,): (v, ω) of its origin, in its own axes."""
    return forward_kinematics(model, q, v, workspace=workspace).link_twist(link)


def link_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    link: str,
    *,
    classical: bool = False,
    workspace: Workspace | None = None,
) -> np.ndarray:
    """Spatial acceleration A_WL (6,) of a link at q (nq,), v (nv,), a (nv,), in its own axes.

    classical: the linear part is the acceleration of the point at the link's origin, which A_WL itself is not.
    """
    return forward_kinematics(model, q, v, a, workspace=workspace).link_acceleration(link, classical=classical)


def link_poses(model: Model, q: ArrayLike, *, workspace: Workspace | None = None) -> dict[str, np.ndarray]:
    """Poses X_WL (4, 4) of all links at q (nq,), also of those merged by fixed joints."""
    flat = link_pose_rows(model, q, workspace=workspace)
    poses = np.zeros((len(flat), 4, 4))
    poses[:, :3, :3] = flat[:, :9].reshape(-1, 3, 3)
    poses[:, :3, 3] = flat[:, 9:]
    poses[:, 3, 3] = 1.0
    return dict(zip(link_frames(model).names, poses, strict=True))


def link_pose_rows(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, workspace: Workspace | None = None
) -> np.ndarray:
    """Poses of all links, (links, 12): R_WL row by row, then p_WL, in the order of model.link_names.

    out: array to write to. This is the fast way to all poses, for publishers.
    """
    frames = link_frames(model)
    shape = (len(frames.names), 12)
    if out is None:
        out = np.empty(shape)
    elif out.shape != shape or out.dtype != np.float64 or not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"out: expected a writable contiguous float64 array {shape}, got {out.dtype} {out.shape}")
    ws = _world_poses(model, q, workspace)
    link_poses_into(frames.rows, frames.placements, ws.rows, out)
    return out


class LinkFrames(NamedTuple):
    """Where the links are fixed, as `link_poses_into` takes it."""

    names: tuple[str, ...]
    rows: np.ndarray  # (links,) int64, row of the link's body in the workspace, 0 is the world
    placements: np.ndarray  # (links, 12) X_BL: R row by row, then p


def link_frames(model: Model) -> LinkFrames:
    """The frames of all links in the order of model.link_names, made once per model."""
    known = _link_frames.get(model)
    if known is None:
        names = model.link_names
        frames = [model.frame(name) for name in names]
        rows = np.array([frame.body + 1 for frame in frames], dtype=np.int64)
        placements = [np.concatenate([frame.X_BF[:3, :3].ravel(), frame.X_BF[:3, 3]]) for frame in frames]
        known = _link_frames[model] = LinkFrames(names, rows, np.array(placements).reshape(-1, 12))
    return known


_link_frames: weakref.WeakKeyDictionary[Model, LinkFrames] = weakref.WeakKeyDictionary()


def _world_poses(model: Model, q: ArrayLike, workspace: Workspace | None) -> Workspace:
    """The workspace with R_WB and p_WB of all bodies in its rows."""
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    world_poses_into(model.topology, model.constants, q_tree, ws.sincos, ws.rows)
    return ws


def _in_link(frame: Frame, of_bodies: np.ndarray) -> np.ndarray:
    """Ad⁻¹(X_BL) of the twist or acceleration of the link's body."""
    if frame.body < 0:
        return np.zeros(6)
    R, p = frame.X_BF[:3, :3], frame.X_BF[:3, 3]
    linear, angular = of_bodies[frame.body, :3], of_bodies[frame.body, 3:]
    return np.concatenate([(linear + _cross(angular, p)) @ R, angular @ R])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b; numpy's own takes ten times as long for one pair."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
