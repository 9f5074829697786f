# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots built in Python instead of read from a file, checked by the same rules.

    builder = ModelBuilder("pendulum")
    builder.link("world")
    builder.link("rod", mass=1.0, com=(0, 0, -0.5), cylinder=(0.02, 1.0), visual=True)
    builder.joint("pivot", "continuous", "world", "rod", axis=(0, 1, 0))
    model = builder.build()

The rules are those of the URDF parser because it does the checking: the builder writes URDF text and reads it back.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.builder_values import as_inertia, as_number, as_shapes, as_solid, as_vector
from mbsim_ros.model.assembly.solids import solid_moments, volume
from mbsim_ros.model.description import (
    Box,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    Limits,
    Link,
    Mimic,
    Origin,
    RobotDescription,
    Sphere,
    Visual,
)
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import Problem, SidecarError, UrdfError, UrdfWarning, warn_grouped
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf

LINES_NOTE = "lines count in the text of ModelBuilder.urdf()"
_ZERO = (0.0, 0.0, 0.0)

Shapes = bool | Geometry | Visual | Collision | Iterable[Geometry | Visual | Collision]


class ModelBuilder:
    """Collects links and joints; `description` and `build` check them. Links and joints may come in any order."""

    def __init__(self, name: str) -> None:
        self.name = _name(name, "the robot")
        self._links: list[Link] = []
        self._joints: list[Joint] = []

    def link(
        self,
        name: str,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: Sequence[float] = _ZERO,
        rpy: Sequence[float] = _ZERO,
        inertia: Sequence[float] | Sequence[Sequence[float]] | np.ndarray | None = None,
        box: Sequence[float] | None = None,
        sphere: float | None = None,
        cylinder: Sequence[float] | None = None,
        visual: Shapes = (),
        collision: Shapes = (),
    ) -> ModelBuilder:
        """Add a link; without mass and density it is a frame.

        inertia: about the centre of mass `com` in axes turned by `rpy`: three principal moments, six components
        (ixx, ixy, ixz, iyy, iyz, izz) or 3x3. Instead of it an evenly filled solid, centred on `com`: `box` (three
        edges), `sphere` (radius) or `cylinder` (radius, length; along z), with its `mass` or `density`.
        visual, collision: shapes, or True for the solid itself.
        """
        who = f"link '{_name(name, 'a link')}'"
        origin = Origin(as_vector(who, "com", com), as_vector(who, "rpy", rpy))
        solid = as_solid(who, box, sphere, cylinder)
        if mass is not None and density is not None:
            raise ValueError(f"{who}: mass and density are given; one follows from the other")
        if density is not None:
            if solid is None:
                raise ValueError(f"{who}: density needs a box, sphere or cylinder")
            mass = as_number(who, "density", density) * (volume(solid) or 0.0)
        inertial = _inertial(who, mass, inertia, solid, origin)
        visuals = tuple(
            Visual(shape.geometry, shape.origin, getattr(shape, "material", None), shape.name)
            for shape in as_shapes(who, "visual", visual, solid, origin)
        )
        collisions = tuple(
            Collision(shape.geometry, shape.origin, shape.name)
            for shape in as_shapes(who, "collision", collision, solid, origin)
        )
        self._links.append(Link(name, inertial, visuals, collisions))
        return self

    def joint(
        self,
        name: str,
        type: str,
        parent: str,
        child: str,
        *,
        xyz: Sequence[float] = _ZERO,
        rpy: Sequence[float] = _ZERO,
        axis: Sequence[float] = (1.0, 0.0, 0.0),
        lower: float | None = None,
        upper: float | None = None,
        effort: float | None = None,
        velocity: float | None = None,
        damping: float = 0.0,
        friction: float = 0.0,
        mimic: str | tuple[str, float] | tuple[str, float, float] | Mimic | None = None,
        rotor_inertia: float = 0.0,
    ) -> ModelBuilder:
        """Add a joint; everything means what it means in a URDF.

        mimic: the joint it follows, as its name, (name, multiplier) or (name, multiplier, offset).
        rotor_inertia: of its motor, as seen by the joint [kg m² or kg].
        """
        who = f"joint '{_name(name, 'a joint')}'"
        given = {"lower": lower, "upper": upper, "effort": effort, "velocity": velocity}
        limits = None
        if any(value is not None for value in given.values()):
            # What is missing stays None: the writer leaves it out and the parser says so.
            numbers = {key: None if value is None else as_number(who, key, value) for key, value in given.items()}
            limits = Limits(**numbers)  # type: ignore[arg-type]
        self._joints.append(
            Joint(
                name, _name(type, f"the type of {who}"), _name(parent, f"the parent of {who}"),
                _name(child, f"the child of {who}"), Origin(as_vector(who, "xyz", xyz), as_vector(who, "rpy", rpy)),
                as_vector(who, "axis", axis), limits, as_number(who, "damping", damping),
                as_number(who, "friction", friction), _mimic(who, mimic),
                as_number(who, "rotor_inertia", rotor_inertia),
            )
        )  # fmt: skip
        return self

    def urdf(self) -> str:
        """Return the robot as URDF text, not checked."""
        return to_urdf(RobotDescription(self.name, tuple(self._links), tuple(self._joints)))

    def description(
        self, *, strict: bool = False, package_dirs: Iterable[str | os.PathLike] = (), allow_outside: bool = False
    ) -> RobotDescription:
        """Check everything and return the description.

        Raises one UrdfError with every problem; imperfections are one UrdfWarning, or refused if `strict`. Meshes are
        looked for as `parse_urdf` does it.
        """
        robot = self._checked(strict, tuple(package_dirs), allow_outside)
        warn_grouped(robot.warnings, LINES_NOTE)
        return robot

    def build(self, base: str = "auto", *, strict: bool = False) -> Model:
        """Check everything and return the model; `base` as for `load_urdf`."""
        robot = self._checked(strict, (), False)
        warn_grouped(robot.warnings, LINES_NOTE)
        return make_model(robot, base)

    def _checked(
        self, strict: bool, package_dirs: tuple[str | os.PathLike, ...], allow_outside: bool
    ) -> RobotDescription:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UrdfWarning)  # issued by the caller, in the builder's name
                robot = parse_urdf(self.urdf(), strict=strict, package_dirs=package_dirs, allow_outside=allow_outside)
        except UrdfError as error:
            self._refuse(error.problems, error.warnings)
        robot = replace(robot, source="", warnings=self._renamed(robot.warnings))
        rotors = {joint.name: joint.rotor_inertia for joint in self._joints if joint.rotor_inertia != 0}
        return self._with_rotors(robot, rotors) if rotors else robot

    def _with_rotors(self, robot: RobotDescription, rotors: dict[str, float]) -> RobotDescription:
        """Check rotor inertias as those of a sidecar, which is where a file would have them."""
        try:
            sidecar = parse_sidecar(json.dumps({"rotor_inertia": rotors}, ensure_ascii=False), robot)
        except SidecarError as error:
            self._refuse([replace(problem, line=0) for problem in error.problems], ())
        return with_sidecar(robot, sidecar)

    def _refuse(self, problems: Sequence[Problem], tolerable: Sequence[Problem]) -> NoReturn:
        raise UrdfError(self._renamed(problems), self._renamed(tolerable), LINES_NOTE) from None

    def _renamed(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        return tuple(replace(problem, file=f"ModelBuilder('{self.name}')") for problem in problems)


def chain(
    n: int, *, base: str = "fixed", axes: str = "alternating", length: float = 1.0, mass: float = 1.0,
    radius: float = 0.02, damping: float = 0.0, name: str = "",
) -> Model:  # fmt: skip
    """A chain of `n` equal rods that hangs along −z from revolute joints: the model of benchmarks and tests.

    base: "fixed" hangs the first rod from the world (n joints), "floating" leaves it free (n − 1 joints and a base).
    axes: "alternating" x and y, or "parallel" (all y: a planar chain).
    """
    if n < 1:
        raise ValueError(f"n: expected at least 1 rod, got {n}")
    if base not in ("fixed", "floating"):
        raise ValueError(f"base: expected 'fixed' or 'floating', got {base!r}")
    if axes not in ("alternating", "parallel"):
        raise ValueError(f"axes: expected 'alternating' or 'parallel', got {axes!r}")
    builder = ModelBuilder(name or f"chain_{n}")
    if base == "fixed":
        builder.link("world")
    for i in range(n):
        builder.link(f"rod_{i}", mass=mass, com=(0, 0, -length / 2), cylinder=(radius, length), visual=True)
        if i > 0 or base == "fixed":
            axis = (1, 0, 0) if axes == "alternating" and i % 2 == 0 else (0, 1, 0)
            xyz = (0, 0, -length) if i > 0 else _ZERO
            # Limits that no chain reaches: continuous joints have another layout in Pinocchio.
            builder.joint(
                f"joint_{i}", "revolute", f"rod_{i - 1}" if i > 0 else "world", f"rod_{i}", xyz=xyz, axis=axis,
                lower=-1e4, upper=1e4, effort=1e4, velocity=1e4, damping=damping,
            )  # fmt: skip
    return builder.build(base)


def _name(name: str, what: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{what}: expected a name, got {name!r}")
    return name


def _inertial(
    who: str, mass: float | None, inertia: object, solid: Box | Sphere | Cylinder | None, origin: Origin
) -> Inertial | None:
    if mass is None and inertia is None:
        return None
    if inertia is not None and solid is not None:
        raise ValueError(f"{who}: inertia and a solid are given; one follows from the other")
    amount = 0.0 if mass is None else as_number(who, "mass", mass)
    if inertia is not None:
        return Inertial(amount, origin, as_inertia(who, inertia))
    # A mass of NaN is to be reported once, not in every moment again.
    moments = _ZERO if solid is None or not math.isfinite(amount) else solid_moments(amount, solid)
    return Inertial(amount, origin, np.diag(moments or _ZERO))


def _mimic(who: str, mimic: str | tuple | Mimic | None) -> Mimic | None:
    if mimic is None or isinstance(mimic, Mimic):
        return mimic
    parts = (mimic,) if isinstance(mimic, str) else tuple(mimic)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{who}: mimic: expected (joint, multiplier, offset), got {mimic!r}")
    leader = _name(parts[0], f"the joint that {who} mimics")
    multiplier, offset = (*(as_number(who, "mimic", value) for value in parts[1:]), *(1.0, 0.0)[len(parts) - 1 :])
    return Mimic(leader, multiplier, offset)
