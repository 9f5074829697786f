# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A walker's frames, legs and lengths, from the model and the sidecar's sections `gait` and `couplings`.

Two frames carry the legs. N (48): one motor turns the waist, and each frame has one for all of its femurs and one for
all of its shins, whose angles a cable drive measures from the frame, N (29). The section `gait` names these motors; the
coupling says which joints they drive, the model where feet are. With all legs of a frame alike, φ the
angle of the femur motor (positive lowers) and θ that of the shin's,

    centre of a foot before its knee's place at φ = 0:  −L sin θ,     below the base:  h + l sin φ + L cos θ.

A foot is a sphere of radius r that rolls on the ground while its shin turns, so that the frame gets on by
(L cos θ + r) dθ. `reach` is what the feet stroke along: x = −(L sin θ + r θ), before the hips; −dx is the way of the
frame over ground on which the feet do not slip.
"""

from __future__ import annotations

import math
import os.path
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbsim_ros.contact.points import ContactPoints, contact_points
from mbsim_ros.control.walker.gait_kernel import LENGTHS, leg_angles
from mbsim_ros.coupling.configuration import CouplingConfiguration, named
from mbsim_ros.dynamics.kinematics import Kinematics, forward_kinematics
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import GaitSettings

DIGITS = 9  # lengths count in nanometres: what was written as a decimal in the URDF is that decimal again
MARGIN = 0.004  # [m] that is left between feet of the two frames
STRAIGHT = 1.5  # [rad] of a femur that has no stops
FRAME_COUNT = 2


@dataclass(frozen=True)
class Leg:
    """A femur and a shin with a foot; x and y of the foot under its hip, from the waist's axis [m]."""

    name: str
    femur: str  # joints
    shin: str
    foot: str  # link
    lowers: float  # direction of the femur's joint that lowers the foot, N (49)
    swings: float  # direction of the shin's joint that moves the foot backward
    x: float
    y: float


@dataclass(frozen=True)
class WalkingFrame:
    """A frame: its legs, which are alike, and the two motors that move them. Lengths in m."""

    name: str
    femurs: str  # motors
    shins: str
    legs: tuple[Leg, ...]
    is_turned: bool  # by the waist, against the base
    femur: float
    shin: float
    hip_depth: float  # of the hips below the base
    foot_radius: float
    furthest: float  # [rad] of a femur to either side, by its stops

    def foot_depth(self, phi: float, theta: float) -> float:
        """How deep feet stand below the base [m] at these angles of the femurs' and the shins' motor."""
        return self.hip_depth + self.femur * math.sin(phi) + self.shin * math.cos(theta)

    def motor_angles(
        self, reach: float, reach_rate: float, depth: float, depth_rate: float
    ) -> tuple[float, float, float, float]:
        """φ, θ and their rates for feet that reach so far [m] and stand so deep below the base [m], and their rates.

        A femur stops short of its end where the depth cannot be reached.
        """
        return leg_angles(self.lengths, reach, reach_rate, depth, depth_rate)  # type: ignore[no-any-return]

    @cached_property
    def lengths(self) -> np.ndarray:
        """As the kernel takes them (LENGTHS,)."""
        found = [self.femur, self.shin, self.hip_depth, self.foot_radius, self.furthest, math.sin(self.furthest)]
        assert len(found) == LENGTHS
        return np.array(found)


@dataclass(frozen=True)
class WalkerGeometry:
    """All that the gait knows of a walker."""

    coupling: str  # in which all five motors drive
    waist: str  # motor, and joint
    waist_joint: str
    frames: tuple[WalkingFrame, ...]
    foot_x: float  # [m] of the feet that are the furthest before or behind the waist
    leg_gap: float  # [m] by which feet of the two frames may come closer

    @property
    def motors(self) -> tuple[str, ...]:
        """The five motors: the waist's, then those of the femurs and the shins of each frame."""
        return (self.waist, *(motor for frame in self.frames for motor in (frame.femurs, frame.shins)))

    @property
    def legs(self) -> tuple[Leg, ...]:
        """All legs, frame by frame."""
        return tuple(leg for frame in self.frames for leg in frame.legs)

    @property
    def feet(self) -> tuple[str, ...]:
        """Links of all feet."""
        return tuple(leg.foot for leg in self.legs)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the frames."""
        return tuple(frame.name for frame in self.frames)

    def frame(self, name: str) -> WalkingFrame:
        """The frame of this name."""
        return self.frames[self.names.index(name)]

    @cached_property
    def lengths(self) -> np.ndarray:
        """Of both frames, as the kernel takes them (2, LENGTHS)."""
        return np.array([frame.lengths for frame in self.frames])

    def other(self, name: str) -> str:
        """Name of the frame that is not this one."""
        return next(each for each in self.names if each != name)

    def waist_limit(self, step: float) -> float:
        """How far the waist may turn with steps of this length [m] before legs of the two frames touch [rad]."""
        return self.leg_gap / (self.foot_x + 0.5 * abs(step))

    def level_depth(self) -> float:
        """How deep feet stand below the base with level femurs and upright shins [m], of the frame that is higher."""
        return min(round(frame.hip_depth + frame.shin, DIGITS) for frame in self.frames)


def walker_geometry(model: Model) -> WalkerGeometry:
    """The geometry of a walker; ValueError says what the sidecar or the model lacks for that."""
    settings = None if model.sidecar is None else model.sidecar.gait
    if settings is None or not model.is_floating or model.mimic is not None:
        what = "a fixed base" if not model.is_floating else "joints that mimic others"
        what = "no section `gait` in its sidecar" if settings is None else what
        raise ValueError(
            f"model: expected a walker, whose sidecar says what its motors are for, got '{model.name}' with {what}"
        )
    couplings = named(model)
    where = f"model '{model.name}', gait"
    if settings.coupling not in couplings:
        raise ValueError(
            f"{where}: no coupling named '{settings.coupling}'; there are {', '.join(couplings) or 'none'}"
        )
    if len(settings.frames) != FRAME_COUNT:
        raise ValueError(f"{where}: expected {FRAME_COUNT} frames that step in turn, got {len(settings.frames)}")
    coupling = couplings[settings.coupling]
    driven = _driven(model, settings, coupling, where)
    if len(driven[settings.waist]) != 1:
        raise ValueError(f"{where}: expected one joint on '{settings.waist}', got {', '.join(driven[settings.waist])}")
    (waist,) = driven[settings.waist]
    pose = forward_kinematics(model, model.neutral)
    frames = tuple(
        _frame(model, pose, name, motors.femurs, motors.shins, driven, waist, where)
        for name, motors in settings.frames.items()
    )
    if [frame.is_turned for frame in frames].count(True) != 1:
        raise ValueError(
            f"{where}: expected the waist '{waist}' to carry the hips of one of the frames, and not the other's"
        )
    foot_x = max(abs(leg.x) for frame in frames for leg in frame.legs)
    return WalkerGeometry(settings.coupling, settings.waist, waist, frames, foot_x, _leg_gap(frames, where))


def _driven(
    model: Model, settings: GaitSettings, coupling: CouplingConfiguration, where: str
) -> dict[str, tuple[str, ...]]:
    """Joints that each motor of the gait drives, in the order of the model."""
    motors = [settings.waist, *(m for frame in settings.frames.values() for m in (frame.femurs, frame.shins))]
    missing = [motor for motor in motors if motor not in coupling.motors]
    if missing:
        there = ", ".join(coupling.motors) or "none"
        raise ValueError(f"{where}: coupling '{coupling.name}' has no motor '{missing[0]}'; its motors are {there}")
    D = coupling.D
    return {
        motor: tuple(
            each.name for each in model.joints if each.iv >= 0 and D[each.iv, coupling.column_of(motor)] != 0.0
        )
        for motor in motors
    }


def _frame(
    model: Model, pose: Kinematics, name: str, femurs: str, shins: str, driven: Mapping[str, tuple[str, ...]],
    waist: str, where: str,
) -> WalkingFrame:  # fmt: skip
    """One frame, measured with all joints at zero."""
    joints = {joint.name: joint for joint in model.description.joints}
    above = {joint.child: joint.name for joint in model.description.joints}
    of_waist = pose.X_WB[model.joint(waist).body][:3, 3]
    points = contact_points(model)
    legs, sizes, is_turned = [], {}, set()
    for shin in driven[shins]:
        femur = above.get(joints[shin].parent, "")
        if femur not in driven[femurs]:
            raise ValueError(f"{where}, frame {name}: '{shin}' hangs on '{femur}', which '{femurs}' does not drive")
        leg, size = _leg(model, pose, points, femur, shin, of_waist, f"{where}, frame {name}")
        legs.append(leg)
        sizes[leg.name] = size
        is_turned.add(_hangs_on(joints[femur].parent, waist, above, joints))
    if len(legs) < 3:
        raise ValueError(f"{where}, frame {name}: expected three legs or more to stand on, got {len(legs)}")
    first = legs[0].name
    for leg_name, size in sizes.items():
        if size != sizes[first]:
            raise ValueError(
                f"{where}, frame {name}: legs of a frame are to be alike, but {first} has femur, shin, hip depth, foot "
                f"and stop {sizes[first]}, {leg_name} {size}"
            )
    if len(is_turned) > 1:
        raise ValueError(f"{where}, frame {name}: '{waist}' carries some of its legs and not the others")
    return WalkingFrame(name, femurs, shins, tuple(legs), is_turned.pop(), *sizes[first])


def _leg(
    model: Model, pose: Kinematics, points: ContactPoints, femur: str, shin: str, of_waist: np.ndarray, where: str
) -> tuple[Leg, tuple[float, float, float, float, float]]:
    """A leg, and its femur, shin, hip depth, foot radius [m] and stop [rad]."""
    name = os.path.commonprefix([femur, shin]).rstrip("_-/.") or femur
    body, foot = model.joint(shin).body, model.joint(shin).child_link
    hip, knee = (pose.X_WB[model.joint(each).body][:3, 3] for each in (femur, shin))
    own = [k for k in points.of_link(foot) if points.geometry[k, 3] > 0.0]
    if len(own) != 1:
        raise ValueError(f"{where}: expected one sphere as the foot of '{foot}', got {len(own)}")
    centre, radius = points.geometry[own[0], :3], float(points.geometry[own[0], 3])
    sole = pose.X_WB[body][:3, :3] @ centre + pose.X_WB[body][:3, 3]
    thigh, shank = _rounded(knee - hip), _rounded(sole - knee)
    if thigh[2] or thigh[1] or not thigh[0] or shank[0] or shank[1] or shank[2] >= 0.0:
        raise ValueError(
            f"{where}: with joints at zero, the femur of {name} is to be level along x and its shin upright"
        )
    turns = [pose.X_WB[model.joint(each).body][:3, 2] for each in (femur, shin)]  # a body's z is its joint's axis
    if any(abs(abs(axis[1]) - 1.0) > 1e-9 for axis in turns) or turns[0][1] * turns[1][1] < 0.0:
        raise ValueError(f"{where}: expected both joints of {name} to turn about the frame's y axis, the same way")
    lowers, swings = math.copysign(1.0, turns[0][1] * thigh[0]), math.copysign(1.0, turns[1][1])
    iv = model.joint(femur).iv
    stop = min(float(model.upper[iv]), -float(model.lower[iv]), STRAIGHT)
    x, y, _ = _rounded(sole - of_waist)
    size = (abs(thigh[0]), -shank[2], -_rounded(hip)[2] or 0.0, round(radius, DIGITS), stop)
    return Leg(name, femur, shin, foot, lowers, swings, x, y), size


def _hangs_on(link: str, joint: str, above: Mapping[str, str], joints: Mapping) -> bool:
    """Whether a joint is on the way from a link to the root."""
    while link in above:
        if above[link] == joint:
            return True
        link = joints[above[link]].parent
    return False


def _leg_gap(frames: tuple[WalkingFrame, ...], where: str) -> float:
    """By how much feet of the two frames may come closer where they are neighbours: both in front, or both behind."""
    first, second = frames
    gap = math.inf
    for a in first.legs:
        for b in second.legs:
            if a.x * b.x > 0.0:
                gap = min(gap, round(abs(a.y - b.y) - first.foot_radius - second.foot_radius - MARGIN, DIGITS))
    if gap <= 0.0:
        raise ValueError(f"{where}: feet of the two frames are {gap + MARGIN:.3g} m apart: they would touch")
    return gap


def _rounded(vector: np.ndarray) -> list[float]:
    return [round(float(value), DIGITS) + 0.0 for value in vector]
