# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a URDF file says, as immutable data.

Nothing here parses or computes dynamics: a `RobotDescription` is the file with its defaults filled in and its names
checked. Every object keeps the line it was read from; lines do not take part in comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from transforms3d.euler import euler2mat

if TYPE_CHECKING:
    from mbsim_ros.model.problems import Problem

Vector3 = tuple[float, float, float]

# `spherical` is an input extension: URDF itself has no ball joint.
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
# Types that move along or about one axis; only these may mimic or be mimicked.
SINGLE_AXIS_TYPES = ("revolute", "continuous", "prismatic")


def _line() -> int:
    return field(default=0, compare=False, repr=False)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Origin:
    """Pose of a frame in its parent: translation [m] and fixed-axis roll, pitch, yaw [rad]."""

    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)
    line: int = _line()

    def matrix(self) -> np.ndarray:
        """Homogeneous transform, 4x4."""
        X = np.eye(4)
        X[:3, :3] = euler2mat(*self.rpy, axes="sxyz")
        X[:3, 3] = self.xyz
        return X


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass [kg], pose of the centre of mass, and inertia [kg m²] about it in the axes of that pose (3x3, read-only)."""

    mass: float
    origin: Origin
    inertia: np.ndarray
    line: int = _line()

    def __post_init__(self) -> None:
        """Take a private read-only copy, so that the description stays what the file said."""
        inertia = np.array(self.inertia, dtype=float).reshape(3, 3)
        inertia.setflags(write=False)
        object.__setattr__(self, "inertia", inertia)

    def __eq__(self, other: object) -> bool:
        """Compare numbers; the array alone would compare element by element."""
        if not isinstance(other, Inertial):
            return NotImplemented
        same_place = self.mass == other.mass and self.origin == other.origin
        return same_place and bool(np.array_equal(self.inertia, other.inertia))

    def __hash__(self) -> int:
        """Agree with `__eq__`."""
        return hash((self.mass, self.origin, self.inertia.tobytes()))


@dataclass(frozen=True)
class Box:
    """Box centred on its origin; full edge lengths [m]."""

    size: Vector3
    line: int = _line()


@dataclass(frozen=True)
class Sphere:
    """Sphere centred on its origin."""

    radius: float
    line: int = _line()


@dataclass(frozen=True)
class Cylinder:
    """Cylinder along z, centred on its origin."""

    radius: float
    length: float
    line: int = _line()


@dataclass(frozen=True)
class Capsule:
    """Cylinder along z with half spheres on its ends; `length` is that of the cylinder alone."""

    radius: float
    length: float
    line: int = _line()


@dataclass(frozen=True)
class Mesh:
    """Mesh file as written in the URDF; `path` is the file found for it, None if there is none."""

    filename: str
    scale: Vector3 = (1.0, 1.0, 1.0)
    path: Path | None = field(default=None, compare=False)
    line: int = _line()


Geometry = Box | Sphere | Cylinder | Capsule | Mesh


@dataclass(frozen=True)
class Material:
    """Colour (red, green, blue, alpha in 0…1) and texture of a visual."""

    name: str
    rgba: tuple[float, float, float, float] | None = None
    texture: str | None = None
    line: int = _line()


@dataclass(frozen=True)
class Visual:
    """A shape to look at."""

    geometry: Geometry
    origin: Origin = Origin()
    material: Material | None = None
    name: str = ""
    line: int = _line()


@dataclass(frozen=True)
class Collision:
    """A shape to touch."""

    geometry: Geometry
    origin: Origin = Origin()
    name: str = ""
    line: int = _line()


@dataclass(frozen=True)
class Limits:
    """Travel [rad or m], effort [N m or N] and speed [rad/s or m/s]; travel means nothing for continuous joints."""

    lower: float = 0.0
    upper: float = 0.0
    effort: float = 0.0
    velocity: float = 0.0
    line: int = _line()


@dataclass(frozen=True)
class Mimic:
    """This joint = multiplier · other joint + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    line: int = _line()


@dataclass(frozen=True)
class Link:
    """A rigid body or, without `inertial`, a frame."""

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Collision, ...] = ()
    line: int = _line()


@dataclass(frozen=True)
class Joint:
    """Connection of a child link to its parent; `axis` is a unit vector in the joint's frame."""

    name: str
    type: str
    parent: str
    child: str
    origin: Origin = Origin()
    axis: Vector3 = (1.0, 0.0, 0.0)
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    rotor_inertia: float = 0.0
    line: int = _line()
    parent_line: int = _line()
    child_line: int = _line()


@dataclass(frozen=True)
class RobotDescription:
    """A kinematic tree as its file describes it: one root, no loops, every name known.

    `links` and `joints` are in file order. `used_tags` and `ignored_tags` count the tags (and unknown attributes, as
    `tag@attribute`) that were read and that were passed over.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    source: str = field(default="", compare=False)
    base: str | None = None  # "floating" or "fixed" where the file says it
    warnings: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    xml: str = field(default="", compare=False, repr=False)
    used_tags: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    ignored_tags: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def link(self, name: str) -> Link:
        """Return the link of this name; KeyError says which there are."""
        return _look_up(self._links_by_name, "link", name)

    def joint(self, name: str) -> Joint:
        """Return the joint of this name; KeyError says which there are."""
        return _look_up(self._joints_by_name, "joint", name)

    def found_meshes(self) -> dict[str, str]:
        """Paths of the mesh files that were found, by their names as written."""
        shapes = [visual.geometry for link in self.links for visual in link.visuals]
        shapes += [collision.geometry for link in self.links for collision in link.collisions]
        return {shape.filename: str(shape.path) for shape in shapes if isinstance(shape, Mesh) and shape.path}

    @property
    def root(self) -> Link:
        """The link without a parent."""
        children = {joint.child for joint in self.joints}
        return next(link for link in self.links if link.name not in children)

    def children_of(self, link: str | Link) -> tuple[Joint, ...]:
        """Joints that leave a link, ordered by joint name as Pinocchio orders siblings."""
        name = link.name if isinstance(link, Link) else link
        self.link(name)
        return self._children_by_link.get(name, ())

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _children_by_link(self) -> dict[str, tuple[Joint, ...]]:
        groups: dict[str, list[Joint]] = {}
        for joint in sorted(self.joints, key=lambda joint: joint.name):
            groups.setdefault(joint.parent, []).append(joint)
        return {name: tuple(joints) for name, joints in groups.items()}


def _look_up(table, kind, name):  # type: ignore[no-untyped-def]
    try:
        return table[name]
    except KeyError:
        known = ", ".join(sorted(table)[:20]) + (", …" if len(table) > 20 else "")
        raise KeyError(f"no {kind} named {name!r}; there are: {known}") from None
