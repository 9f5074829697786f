# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""MuJoCo as a peer: the same tree with the same masses, its state in our layout, and the settings it is run with."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.lie import quaternion
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE

if TYPE_CHECKING:
    from mujoco import MjOption, MjSpec
from mbsim_ros.model.model import (
    CENTRAL_INERTIA,
    CENTRE,
    KIND,
    MASS,
    PARENT,
    ROTATION,
    ROTOR,
    TRANSLATION,
    Model,
)  # fmt: skip

INTEGRATORS = ("Euler", "implicitfast", "implicit", "RK4", "discrete")  # the last since version 3.13
FAST_INTEGRATORS = ("Euler", "implicitfast", "discrete")
SOLVERS, CONES = ("Newton", "CG", "PGS"), ("pyramidal", "elliptic")
SOLREF = (0.015, 1.0)  # time constant [s] and damping ratio of its contacts


@dataclass(frozen=True)
class Settings:
    """How MuJoCo is run; the defaults are MuJoCo's. explicit_damping: leave out the implicit damping of its Euler."""

    integrator: str = "Euler"
    solver: str = "Newton"
    cone: str = "pyramidal"
    jacobian: str = "auto"
    islands: bool = True
    explicit_damping: bool = False

    def __str__(self) -> str:
        changed = [
            self.solver if self.solver != "Newton" else "",
            self.cone if self.cone != "pyramidal" else "",
            self.jacobian if self.jacobian != "auto" else "",
            "" if self.islands else "no islands",
            "explicit damping" if self.explicit_damping else "",
        ]
        return ", ".join([self.integrator, *(each for each in changed if each)])

    def write(self, option: MjOption) -> None:
        """Write them to the options of a model or of a specification."""
        import mujoco

        option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{self.integrator.upper()}")
        option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{self.solver.upper()}")
        option.cone = getattr(mujoco.mjtCone, f"mjCONE_{self.cone.upper()}")
        option.jacobian = getattr(mujoco.mjtJacobian, f"mjJAC_{self.jacobian.upper()}")
        without = mujoco.mjtDisableBit
        option.disableflags = (0 if self.islands else int(without.mjDSBL_ISLAND)) | (
            int(without.mjDSBL_EULERDAMP) if self.explicit_damping else 0
        )


def solver_settings() -> list[Settings]:
    """Ways to solve the contacts to the default tolerance, with the default integrator.

    Its Jacobians are dense by default at the walker's size; sparse ones are tried with the default solver only.
    """
    dense = [
        Settings(solver=solver, cone=cone, islands=islands)
        for solver in SOLVERS
        for cone in CONES
        for islands in (True, False)
    ]
    return dense + [replace(each, jacobian="sparse") for each in dense if each.solver == "Newton"]


def integrator_settings(base: Settings, among: Sequence[str] = INTEGRATORS) -> list[Settings]:
    """These settings with each of these integrators that MuJoCo has, and its Euler with explicit damping."""
    import mujoco

    there = [name for name in among if hasattr(mujoco.mjtIntegrator, f"mjINT_{name.upper()}")]
    return [replace(base, integrator=name) for name in there] + [
        replace(base, integrator="Euler", explicit_damping=True)
    ]


def is_installed() -> bool:
    """Whether MuJoCo can be imported."""
    return importlib.util.find_spec("mujoco") is not None


def version() -> str:
    """Its version."""
    return importlib.metadata.version("mujoco")


def specification(model: Model, dt: float, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)) -> MjSpec:
    """The tree as an MjSpec: bodies `body i`, joints `joint i`, rotors as armature; without limits and damping.

    For models of revolute and prismatic joints, fixed to the world or on a floating root.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = dt, gravity
    kinds = {REVOLUTE: mujoco.mjtJoint.mjJNT_HINGE, PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE}
    bodies = [spec.worldbody]
    for number, (topology, constants) in enumerate(zip(model.topology, model.constants, strict=True)):
        xx, yy, zz, xy, xz, yz = constants[CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
        body = bodies[topology[PARENT]].add_body(
            name=f"body {number}",
            pos=constants[TRANSLATION : TRANSLATION + 3],
            quat=quaternion.from_matrix(constants[ROTATION : ROTATION + 9].reshape(3, 3)),
            mass=constants[MASS], ipos=constants[CENTRE : CENTRE + 3], fullinertia=[xx, yy, zz, xy, xz, yz],
            explicitinertial=True,
        )  # fmt: skip
        if topology[KIND] == FLOATING and topology[PARENT] == 0:
            body.add_freejoint(name="base")
        elif topology[KIND] in kinds:
            body.add_joint(
                name=f"joint {number}", type=kinds[topology[KIND]], axis=[0.0, 0.0, 1.0], armature=constants[ROTOR]
            )
        else:
            raise ValueError(f"body {number}: expected a revolute, prismatic or floating root joint for MuJoCo's model")
        bodies.append(body)
    return spec


def add_feet(spec: MjSpec, points: ContactPoints, friction: float) -> None:
    """Spheres at the contact points and a floor z = 0 that only they can touch."""
    import mujoco

    contact = {"condim": 3, "friction": [friction, 0.005, 0.0001], "solref": SOLREF}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0, conaffinity=1, **contact)
    for body, (x, y, z, radius) in zip(points.bodies, points.geometry, strict=True):
        spec.body(f"body {body}").add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[x, y, z], size=[radius, 0.0, 0.0], contype=1, conaffinity=0,
            **contact,
        )  # fmt: skip


class MujocoRobot:
    """A compiled model with its data, stepped by MuJoCo; states go in and out in our layout."""

    def __init__(self, model: Model, spec: MjSpec, settings: Settings | None = None):
        import mujoco

        if settings is not None:
            settings.write(spec.option)
        self._step = mujoco.mj_step
        self._mujoco = mujoco
        self.is_floating = model.is_floating
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """Start from q (nq,) and v (nv,)."""
        data = self.data
        self._mujoco.mj_resetData(self.model, data)
        data.qpos[:], data.qvel[:] = q, v
        if self.is_floating:
            data.qpos[3:7] = quaternion.from_ros(q[3:7])
            data.qvel[:3] = _rotation(q) @ v[:3]  # its base has the linear velocity in world axes

    def step(self, steps: int = 1) -> None:
        """Advance by steps of dt."""
        self._step(self.model, self.data, nstep=steps)

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""
        q = self.data.qpos.copy()
        if self.is_floating:
            q[3:7] = quaternion.to_ros(q[3:7] / np.linalg.norm(q[3:7]))
        return q  # type: ignore[no-any-return]

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,)."""
        v = self.data.qvel.copy()
        if self.is_floating:
            v[:3] = _rotation(self.q).T @ v[:3]
        return v  # type: ignore[no-any-return]

    @property
    def diverged(self) -> bool:
        """Whether it gave up: it resets the state when numbers become bad, with a warning."""
        return bool(self.data.warning.number.any())


def _rotation(q: np.ndarray) -> np.ndarray:
    return quaternion.to_matrix(quaternion.from_ros(q[3:7]))  # type: ignore[no-any-return]
