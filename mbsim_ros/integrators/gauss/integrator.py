# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Gauss`: symplectic collocation at Gauss points, of order 4, 6 or 8, for trees that move freely."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.baselines.integrator import Baseline
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.gauss.arrays import make_coefficients, make_state, make_tree, make_work
from mbsim_ros.integrators.gauss.coverage import why_not
from mbsim_ros.integrators.gauss.node_kernel import node_into, start_into
from mbsim_ros.integrators.gauss.step_kernel import UNSOLVED, gauss_steps_into
from mbsim_ros.model.model import ROTATION, Model

ORDERS = (4, 6, 8)
TOLERANCE = 1e-14  # of h V: what a step may leave unsolved; with more of it the energy has a trend that can be seen


class Gauss(Baseline):
    """Gauss collocation in positions and momenta; a floating base by its angular momentum, which is kept exactly."""

    def __init__(
        self, model: Model, dt: float, *, order: int = 6, gravity: ArrayLike | None = None, tolerance: float = TOLERANCE
    ):
        super().__init__(model, dt, gravity=gravity)
        if order not in ORDERS:
            raise ValueError(f"order: expected 4, 6 or 8, got {order!r}")
        why = why_not(model)
        if why:
            raise UnsupportedModel(f"'{model.name}': {why}")
        self.order, self.tolerance = order, tolerance
        self._tree = make_tree(model)
        self._coefficients = make_coefficients(order, self.dt)
        self._state = make_state(model.nv)
        self._gauss_work = make_work(self._tree, model.nv)
        self.iterations, self.residual = 0, 0.0
        self._start()

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""
        super().reset(q, v)
        self._start()

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        own = {f"gauss_{name}": array for name, array in self._state._asdict().items()}
        return {**super().kept(), **own}

    def _start(self) -> None:
        self.iterations, self.residual = 0, 0.0
        q = self.q.copy()
        if self._tree.floats:
            q[3:7] /= np.linalg.norm(q[3:7])
        start_into(self._tree, self._state, self._gauss_work, q, self.v)

    def _run(self, steps: int) -> tuple[int, int]:
        """Take steps; q and v are those of the last node."""
        if self._tree.floats and self._force[:6].any():
            raise UnsupportedModel("tau: 'gauss' has no efforts on a floating base; use 'lie_variational' or 'rk4'")
        gravity = self.gravity
        if self._tree.floats:  # in the axes of the joint that the base moves by
            gravity = self.model.constants[0, ROTATION : ROTATION + 9].reshape(3, 3).T @ gravity
        done, why, self.iterations, self.residual = gauss_steps_into(
            self._tree, self._coefficients, self._state, self._gauss_work, steps, gravity, self._force, self.tolerance
        )
        if done:
            node_into(self._tree, self._state, self._gauss_work, self.q, self.v)
        return done, why

    def _why(self, result: int) -> str:
        if result != UNSOLVED:
            return super()._why(result)
        return (
            f"t = {self.time:.6g} s: the stages of a step were not solved with dt = {self.dt:g} s, the motion changes "
            "too much in it (or a movable part has no inertia); try a smaller dt"
        )
