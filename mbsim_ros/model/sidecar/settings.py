# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What stands in `<robot>.mbsim.yaml`: the settings of a robot that a URDF has no place for.

    contact: {max_penetration: 0.001, damping_ratio: 1.0, friction: 0.8, points: {foot: [[0, 0, -0.02]]}}
    couplings: {normal: {motors: {femur: {left_hip: 1, right_hip: -1}}, locked: [waist]}}
    springs: {calf: {from: {link: thigh, point: [0, 0, -0.3]}, to: {link: foot, point: [-0.05, 0, 0]},
                     stiffness: 4000, rest_length: 0.2, tension_only: true}}
    initial_states: {home: {base: {xyz: [0, 0, 0.5]}, joints: {left_hip: 0.3}, velocities: {left_hip: 0}}}
    gains: {left_hip: {kp: 80, kd: 2}}
    rotor_inertia: {femur: 0.01}
    damping: {left_hip: 0.1}
    closures: {rod: {from: {link: crank, point: [0, 0, 1]}, to: {link: coupler}, axes: [[0, 1, 0], [0, 1, 0]]}}
    terrain: {type: incline, angle: 0.1}
    base: floating
    feet: [left_foot, ".*_hoof"]
    mesh_up_axis: y
    gait: {waist: waist, frames: {A: {femurs: femur_A, shins: tibia_A}, B: {femurs: femur_B, shins: tibia_B}}}
    clutch_rules: {standing: {legs: {feet: [".*_foot"], carrying: 3}}, kept: {shoulder: it would fall}}

Where joints are named one by one (and for feet) a regular expression names several.
Everything is optional; None and empty mean that the file leaves it open. SI units, radians.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar

from mbsim_ros.model.description import Collision, Mesh, RobotDescription, Vector3, Visual

Shape = TypeVar("Shape", Visual, Collision)
TERRAIN_TYPES = ("flat", "incline", "heightfield", "heightmap")


@dataclass(frozen=True)
class ContactSettings:
    """Contact with the ground and between bodies; `stiffness` and `damping` override what the first two would give.

    `points` are contact points in the frame of each link, in place of those of its collision shapes; `links` and
    `pairs` change the numbers for single links, and for two links that touch each other.
    """

    max_penetration: float | None = None
    damping_ratio: float | None = None
    friction_static: float | None = None
    friction_dynamic: float | None = None
    stiffness: float | None = None
    damping: float | None = None
    points: Mapping[str, tuple[Vector3, ...]] = field(default_factory=dict)
    law: str | None = None  # along the normal, by its name
    law_parameters: Mapping[str, float] = field(default_factory=dict)
    tangential_stiffness: float | None = None  # W's k_t
    tangential_damping: float | None = None  # W's b_t
    stick_speed: float | None = None  # W's zvt
    mesh_points: int | None = None  # of a mesh, at most
    links: Mapping[str, ContactSettings] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], ContactSettings] = field(default_factory=dict)

    def changed(self, changes: ContactSettings) -> ContactSettings:
        """These settings with what the others say; of links and pairs each by itself."""
        said = {f.name: getattr(changes, f.name) for f in fields(changes) if getattr(changes, f.name) is not None}
        for name in ("points", "links", "pairs"):
            said[name] = {**getattr(self, name), **getattr(changes, name)}
        if changes.law is None:  # the numbers of another law would mean nothing
            said["law_parameters"] = {**self.law_parameters, **changes.law_parameters}
        return replace(self, **said)


@dataclass(frozen=True)
class Coupling:
    """Which motor drives which joints with which ratio, and which joints are locked; all others are free.

    torque_limit: of joints that are locked or driven: their brake or clutch slips beyond it [N m, N]. measured_from: of
    joints that are locked or driven, the link nearer to the root from which their rotation is measured.
    """

    name: str
    motors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    locked: tuple[str, ...] = ()  # `base` for the floating base
    torque_limit: Mapping[str, float] = field(default_factory=dict)
    measured_from: Mapping[str, str] = field(default_factory=dict)
    rotor_inertia: Mapping[str, float] | None = None  # of its motors, where not the sidecar's


@dataclass(frozen=True)
class FrameMotors:
    """The motors of a frame of legs that a gait moves: of all its femurs, and of all its shins."""

    femurs: str
    shins: str


@dataclass(frozen=True)
class GaitSettings:
    """What the motors of a walker are for: frames step in turn, and the waist turns one against the other."""

    waist: str  # motor
    frames: Mapping[str, FrameMotors]
    coupling: str = "normal"  # in which all of these motors drive


@dataclass(frozen=True)
class StandingGroup:
    """Feet that stand together, and how many of them carry the robot."""

    feet: tuple[str, ...]  # links
    carrying: int


@dataclass(frozen=True)
class ClutchRules:
    """Which couplings a clutch manager refuses, with the reasons; what is forced overrides them."""

    reserved: Mapping[str, str] = field(default_factory=dict)  # couplings that nobody asks for by hand
    kept: Mapping[str, str] = field(default_factory=dict)  # joints that a request may not set free
    standing: Mapping[str, StandingGroup] = field(default_factory=dict)  # by name
    because: str = ""  # why each of these groups has to carry while a limb is set free


@dataclass(frozen=True)
class Attachment:
    """A point fixed to a link, in its frame."""

    link: str
    point: Vector3


@dataclass(frozen=True)
class Spring:
    """A spring along `points` (two ends and the points it runs through); `tension_only` makes it a cable."""

    name: str
    points: tuple[Attachment, ...]
    stiffness: float
    rest_length: float
    damping: float = 0.0
    tension_only: bool = False


@dataclass(frozen=True)
class Closure:
    """Two points that coincide, which closes a loop; `axes`, one in each link's frame, make it a hinge."""

    name: str
    ends: tuple[Attachment, Attachment]
    axes: tuple[Vector3, Vector3] | None = None


@dataclass(frozen=True)
class InitialState:
    """Pose and twist of the base (the twist in its own frame), positions and speeds of joints; the rest is zero.

    A joint of several axes has a tuple: rpy of a spherical one, x y and the turn of a planar one, xyz and rpy of a
    floating one; its velocities are those of v.
    """

    name: str
    joints: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    velocities: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    base_xyz: Vector3 | None = None
    base_rpy: Vector3 | None = None
    base_linear: Vector3 = (0.0, 0.0, 0.0)
    base_angular: Vector3 = (0.0, 0.0, 0.0)
    lowest_point: float | None = None  # [m] height of the lowest contact point, in place of that of the base


@dataclass(frozen=True)
class Gains:
    """Position gain [N m/rad or N/m] and velocity gain [N m s/rad or N s/m]."""

    kp: float
    kd: float


@dataclass(frozen=True)
class TerrainFile:
    """A table or an image as it was when it was read: a recording carries it to machines that have no such file."""

    name: str  # as the section has it
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Terrain:
    """The ground: a plane at `height`, one that rises by `angle` towards `direction` (from x), or a grid of heights.

    `heights[i][j]` stands at x = origin[0] + j · spacing, y = origin[1] + i · spacing; a `file` holds the same table.
    Of a "heightmap" the `file` is an image: its middle is at `offset`, it spans `size`, white is `height` above black.
    """

    type: str = "flat"
    height: float = 0.0
    angle: float = 0.0
    direction: float = 0.0
    heights: tuple[tuple[float, ...], ...] = ()
    spacing: float | tuple[float, float] = 1.0  # along x and y [m]
    origin: tuple[float, float] = (0.0, 0.0)
    file: Path | None = None
    size: tuple[float, float] = (0.0, 0.0)  # from the first to the last pixel, along x and y [m]
    offset: Vector3 = (0.0, 0.0, 0.0)  # where black in the middle of the image is [m]
    smoothing: float = 0.0  # standard deviation of a Gaussian over the heights [m]; 0: as the image has them
    source: TerrainFile | None = None  # what `file` held


@dataclass(frozen=True)
class Sidecar:
    """All settings of one file."""

    source: str = field(default="", compare=False)
    contact: ContactSettings | None = None
    couplings: Mapping[str, Coupling] = field(default_factory=dict)
    springs: Mapping[str, Spring] = field(default_factory=dict)
    initial_states: Mapping[str, InitialState] = field(default_factory=dict)
    gains: Mapping[str, Gains] = field(default_factory=dict)
    rotor_inertia: Mapping[str, float] = field(default_factory=dict)
    damping: Mapping[str, float] = field(default_factory=dict)
    terrain: Terrain | None = None
    closures: Mapping[str, Closure] = field(default_factory=dict)
    base: str | None = None  # "floating" or "fixed": what base="auto" takes
    feet: tuple[str, ...] = ()  # links that it stands on: others have few contact points
    mesh_up_axis: str = "z"  # "y": COLLADA files are to be turned from y up, as some programs do
    gait: GaitSettings | None = None
    clutch_rules: ClutchRules = field(default_factory=ClutchRules)
    text: str = field(default="", compare=False, repr=False)  # that it was read from


def upright(robot: RobotDescription, sidecar: Sidecar | None) -> RobotDescription:
    """Return the robot as it is drawn and touches: COLLADA files turned from y up to z up, where the sidecar says so.

    Those that are named by file:// are left alone: who has published them has turned them.
    """
    if sidecar is None or sidecar.mesh_up_axis == "z":
        return robot
    links = tuple(
        replace(link, visuals=tuple(map(_turned, link.visuals)), collisions=tuple(map(_turned, link.collisions)))
        for link in robot.links
    )
    return replace(robot, links=links)


def _turned(shape: Shape) -> Shape:
    mesh = shape.geometry
    if not isinstance(mesh, Mesh) or not mesh.filename.lower().endswith(".dae") or mesh.filename.startswith("file:"):
        return shape
    roll, pitch, yaw = shape.origin.rpy  # R = Rz Ry Rx: a turn about the mesh's own x adds to the roll
    return replace(shape, origin=replace(shape.origin, rpy=(roll + math.pi / 2, pitch, yaw)))


def with_sidecar(robot: RobotDescription, sidecar: Sidecar) -> RobotDescription:
    """Return the robot with the damping and the rotor inertias that the sidecar gives its joints."""
    joints = tuple(
        replace(
            joint,
            damping=sidecar.damping.get(joint.name, joint.damping),
            rotor_inertia=sidecar.rotor_inertia.get(joint.name, joint.rotor_inertia),
        )
        for joint in robot.joints
    )
    return replace(robot, joints=joints)
