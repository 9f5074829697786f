# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""A link that is dragged with the mouse: a damped spring from the point where it was taken to the pointer.

The spring is as strong as what it moves is heavy: with the inertia m that the robot has at the point, its frequency is
FREQUENCY, its damping DAMPING. It acts through messages that are some pictures late, so it is soft, and softer still
where simulated time runs faster than the clock.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model.model import Model

if TYPE_CHECKING:
    from viser import ClientHandle, SceneNodeDragEvent

FREQUENCY, DAMPING = 6.0, 0.7  # rad/s, of critical damping
MOST_WEIGHTS = 3.0  # times the robot's weight, the largest force
FARTHEST = 1e4  # m: a page that says more does not mean it
SECOND = 1e9  # ns


@dataclass(frozen=True, eq=False)
class Pull:
    """A force (3,) and a torque (3,) at a link's origin in its axes; of a link that was let go they are zero."""

    link: str
    force: np.ndarray = field(default_factory=lambda: np.zeros(3))
    torque: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(eq=False)
class _Grip:
    """What is held. Points (3,): in the link's frame; of the pointer in the scene; in the world at a stamp [ns]."""

    client: int
    link: str
    point: np.ndarray
    pointer: np.ndarray
    inertia: float
    last: np.ndarray
    stamp: int


class Dragging:
    """Turns what a mouse does to pulls. One page drags at a time."""

    def __init__(self, model: Model):
        self._model = model
        self._rows = {name: row for row, name in enumerate(model.link_names)}
        self._most = MOST_WEIGHTS * 9.81 * max(model.mass, 0.1)
        self._lock = threading.Lock()  # events come from a thread of the server
        self._start: tuple[int, str, np.ndarray, np.ndarray] | None = None
        self._grip: _Grip | None = None
        self._let_go: str | None = None

    def on_event(self, link: str, event: SceneNodeDragEvent) -> None:
        """Take an event of viser; one that is not as a browser sends it is passed over."""
        taken, pointer = _point(event.start_position), _point(event.end_position)
        if taken is None or pointer is None or self._model.frames[link].body < 0:
            return
        with self._lock:
            holder = self._grip.client if self._grip else self._start[0] if self._start else None
            if event.phase == "start" and holder is None:
                self._start = event.client_id, link, taken, pointer
            elif holder != event.client_id:
                return
            elif event.phase == "end":
                self._let_go = self._grip.link if self._grip else None
                self._start = self._grip = None
            elif self._grip is not None:
                self._grip.pointer = pointer
            elif self._start is not None:
                self._start = (*self._start[:3], pointer)

    def on_leave(self, client: ClientHandle) -> None:
        """A page was closed: what it held is let go."""
        with self._lock:
            holder = self._grip.client if self._grip else self._start[0] if self._start else None
            if holder == client.client_id:
                self._let_go = self._grip.link if self._grip else None
                self._start = self._grip = None

    def pull(self, q: np.ndarray, rows: np.ndarray, stamp: int, origin: np.ndarray, pace: float) -> Pull | None:
        """What acts from now on; None where that is what acted before.

        rows: poses of the links (links, 12) at q (nq,) and a stamp [ns]; origin: the point (3,) of the world at the
        scene's; pace: simulated over real time.
        """
        self._take_hold(q, rows, stamp, origin)
        with self._lock:
            if self._let_go is not None:
                link, self._let_go = self._let_go, None
                return Pull(link)
            grip = self._grip
            if grip is None or stamp == grip.stamp:
                return None
            R_WL, p_WL = _pose(rows, self._rows[grip.link])
            point = p_WL + R_WL @ grip.point
            passed = stamp - grip.stamp
            velocity = (point - grip.last) / (passed / SECOND) if passed > 0 else np.zeros(3)
            grip.last, grip.stamp = point, stamp
            force = R_WL.T @ self._spring(grip.pointer + origin - point, velocity, grip.inertia, pace)
            return Pull(grip.link, force, np.cross(grip.point, force))

    def _take_hold(self, q: np.ndarray, rows: np.ndarray, stamp: int, origin: np.ndarray) -> None:
        """Of what a drag has begun with; not locked, as its kernels may have to be compiled first."""
        with self._lock:
            start = self._start
        if start is None:
            return
        try:
            grip = self._taken(q, rows, stamp, origin, *start)
        except (ValueError, np.linalg.LinAlgError):  # a robot that has flown apart
            grip = None
        with self._lock:
            if self._start is not None and self._start[0] == start[0]:  # not let go meanwhile
                if grip is not None:
                    grip.pointer = self._start[3]
                self._grip, self._start = grip, None

    def _taken(
        self, q: np.ndarray, rows: np.ndarray, stamp: int, origin: np.ndarray, client: int, link: str,
        taken: np.ndarray, pointer: np.ndarray,
    ) -> _Grip:  # fmt: skip
        R_WL, p_WL = _pose(rows, self._rows[link])
        point = R_WL.T @ (taken + origin - p_WL)
        inertia = inertia_at(self._model, q, link, point)
        return _Grip(client, link, point, pointer, inertia, p_WL + R_WL @ point, stamp - 1)

    def _spring(self, away: np.ndarray, velocity: np.ndarray, inertia: float, pace: float) -> np.ndarray:
        frequency = FREQUENCY / max(pace, 1.0)
        force = inertia * frequency * (frequency * away - 2.0 * DAMPING * velocity)
        size = float(np.linalg.norm(force))
        return force if size <= self._most else force * (self._most / size)


def inertia_at(model: Model, q: np.ndarray, link: str, point: np.ndarray) -> float:
    """Mean over all directions of the mass [kg] that a force at a point (3,) of a link has to move: 3 / tr(J M⁻¹ Jᵀ).

    Never more than the robot's mass: a joint that cannot give way has no end to it.
    """
    J = frame_jacobian(model, q, link)  # of the link's origin, in its axes
    x, y, z = point
    J_point = J[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ J[3:]
    mobility = float(np.trace(J_point @ np.linalg.lstsq(mass_matrix(model, q), J_point.T, rcond=None)[0]))
    return min(3.0 / mobility, model.mass) if mobility > 0.0 else model.mass


def _pose(rows: np.ndarray, row: int) -> tuple[np.ndarray, np.ndarray]:
    return rows[row, :9].reshape(3, 3), rows[row, 9:]


def _point(given: object) -> np.ndarray | None:
    try:
        point = np.array(given, dtype=float)
    except (TypeError, ValueError):
        return None
    return point if point.shape == (3,) and np.isfinite(point).all() and np.abs(point).max() < FARTHEST else None
