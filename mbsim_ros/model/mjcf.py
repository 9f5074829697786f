# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""MJCF, MuJoCo's format: read by MuJoCo itself, and turned into a description and a sidecar as a URDF has them.

What has a meaning here: bodies, hinge, slide, ball and free joints, inertias, geoms, damping, friction and armature of
joints, limits, position, velocity and motor actuators as gains and effort limits, linear joint equalities as mimic
joints, keyframes as initial states, a horizontal plane as the floor. The rest is told of, by kind and number.

A joint's position counts from MuJoCo's `ref`: ours is qpos − qpos0. A body of several joints becomes a chain of links
without mass; its own link has MuJoCo's frame.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml

from mbsim_ros.model.description import Joint, Limits, Link, Mimic, Origin, RobotDescription
from mbsim_ros.model.file_reading import OutsideFolder, resolved_inside
from mbsim_ros.model.mjcf_settings import mimics, settings_of
from mbsim_ros.model.mjcf_shapes import Shapes, inertial_of, mesh_names, origin_of
from mbsim_ros.model.problems import Problem, UrdfError, UrdfWarning, shortened, warn_user
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.model.urdf.xml_source import XmlSource, looks_like_xml, read_xml

if TYPE_CHECKING:
    from mujoco import MjModel, MjSpec

ENDINGS = (".xml", ".mjcf")
FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
UNLIMITED = 1e3  # m, m/s, rad/s: travel of a slide without a range, and speeds, for which MJCF has no limits
_ROOT = re.compile(r"<\s*mujoco(inc)?[\s>/]")
_FOLDERS = ("meshdir", "texturedir", "assetdir")


def is_mjcf(path_or_xml: object) -> bool:
    """Whether this is MJCF: a text, or a .xml or .mjcf file, whose root is <mujoco>."""
    if not isinstance(path_or_xml, (str, os.PathLike)):
        return False
    if looks_like_xml(path_or_xml):
        return _ROOT.search(str(path_or_xml)[:20_000]) is not None
    if not str(path_or_xml).endswith(ENDINGS):
        return False
    source = read_xml(path_or_xml)
    return source.tag(source.root) == "mujoco"


def read_mjcf(path_or_xml: str | Path) -> tuple[RobotDescription, str]:
    """The robot, and its sidecar as text. What was left out is in the warnings of the description. Raises UrdfError."""
    source = read_xml(path_or_xml)
    _refuse_outside(source)
    spec, model = _compiled(source)
    return _BodyTree(source, spec, model).read()


def _refuse_outside(source: XmlSource) -> None:
    """MuJoCo opens whatever a file names: nothing outside of the folder of the robot, as for a URDF."""
    sources, named = [source], list[str]()
    for current in sources:  # it grows by what is included
        for element in current.root.iter():
            for name in (value for key, value in element.attrib.items() if key.startswith("file")):
                named.append(name)
                if element.tag == "include":
                    included = _inside(source, "", name)
                    if all(each.file != str(included) for each in sources):
                        sources.append(read_xml(included))
    # A folder that one of them sets is that of all.
    folders = [""] + [e.get(key, "") for each in sources for e in each.root.iter("compiler") for key in _FOLDERS]
    for name in named:
        for folder in folders:
            _inside(source, folder, name)


def _inside(source: XmlSource, folder: str, name: str) -> Path:
    """The path of a file that the robot's file names, if it is in its folder. Raises UrdfError."""
    if source.folder is None:
        raise _refusal(source, "names a file", f"'{shortened(name)}'", "text has no folder: load the file instead")
    try:
        return resolved_inside(source.folder / folder / name, source.folder)
    except OutsideFolder:
        hint = "move it below the folder of the robot"
        raise _refusal(source, "file outside of the robot's folder", f"'{shortened(name)}'", hint) from None


def _compiled(source: XmlSource) -> tuple[MjSpec, MjModel]:
    try:
        import mujoco
    except ImportError:
        install = f"{sys.executable} -m pip install mujoco"
        raise _refusal(source, "MJCF is read by MuJoCo", "which is not installed", install) from None
    said: list[str] = []
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)  # or it would write them to a file in the user's folder
    try:
        spec = mujoco.MjSpec.from_string(source.text) if source.folder is None else mujoco.MjSpec.from_file(source.file)
        model = spec.compile()
    except ValueError as error:
        raise _refusal(source, "MuJoCo refuses it", shortened(str(error), 300), "mend the file") from None
    finally:
        mujoco.set_mju_user_warning(handler)
    if said:
        warn_user(f"{source.file}: MuJoCo warns: {shortened(' '.join(said), 300)}", UrdfWarning)
    return spec, model


def _refusal(source: XmlSource, rule: str, value: str, hint: str) -> UrdfError:
    return UrdfError([Problem(source.file, 0, "file", "", rule, value, hint)])


class _BodyTree:
    """The walk over MuJoCo's bodies."""

    def __init__(self, source: XmlSource, spec: MjSpec, model: MjModel):
        self.source, self.m = source, model
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.shapes = Shapes(model, mesh_names(spec, source.folder))
        self.bodies = [str(model.body(i).name) or f"body_{i}" for i in range(model.nbody)]
        self.names = [str(model.joint(i).name) or f"joint_{i}" for i in range(model.njnt)]
        self.root = self._root()

    def read(self) -> tuple[RobotDescription, str]:
        """Description and text of the sidecar."""
        m, constants = self.m, self.root != 0
        for i in range(m.nbody):
            if i != 0 or not constants:
                self._body(i)
        settings, more = settings_of(m, self.names, constants)
        left_out = {**self.shapes.left_out, **_left_out(m), **more}
        if constants and m.nbody > 1 and (m.body_rootid[1:] != self.root).any():
            left_out["bodies that are fixed to the world"] = int((m.body_rootid[1:] != self.root).sum())
        told = ", ".join(f"{count} {kind}" for kind, count in left_out.items() if count)
        left = Problem(self.source.file, 0, "file", "", f"left out: {told}", "", "they have no meaning here", "warning")
        name = next(iter(re.findall(r'<mujoco[^>]*\bmodel="([^"]+)"', self.source.text)), "") or "mjcf"
        made = RobotDescription(
            name, tuple(self.links), tuple(self._with_mimics()), base="floating" if constants else None
        )
        robot = replace(_as_read(made), source=self.source.file, warnings=(left,) if told else (), xml=self.source.text)
        return robot, yaml.safe_dump(settings, default_flow_style=None, sort_keys=False, width=110)

    def _root(self) -> int:
        """The body that floats, if it alone moves; 0, the world, otherwise."""
        m = self.m
        moving = {int(m.body_rootid[m.jnt_bodyid[j]]) for j in range(m.njnt)}
        only = next(iter(moving)) if len(moving) == 1 else 0
        free = only and m.body_jntnum[only] == 1 and m.jnt_type[m.body_jntadr[only]] == FREE
        return only if free else 0

    def _body(self, i: int) -> None:
        m = self.m
        if self.root and m.body_rootid[i] != self.root:
            return
        link = Link(self.bodies[i], inertial_of(m, i), *self.shapes.of_body(i)) if i else Link("world")
        self.links.append(link)
        if i == self.root:
            return
        joints = range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        X = origin_of(m.body_pos[i], m.body_quat[i])
        parent = self.bodies[m.body_parentid[i]]
        if not joints:
            self.joints.append(Joint(f"{self.bodies[i]}_fixed", "fixed", parent, self.bodies[i], X))
            return
        anchor = np.zeros(3)
        for k, j in enumerate(joints):
            at = m.jnt_pos[j] if m.jnt_type[j] != FREE else np.zeros(3)
            step = _shifted(X, at) if k == 0 else Origin(tuple((at - anchor).tolist()))
            last = j == joints[-1] and not at.any()
            child = self.bodies[i] if last else self._between(i, j)
            self.joints.append(self._joint(j, parent, child, step))
            parent, anchor = child, at
        if anchor.any():
            back = Origin(tuple((-anchor).tolist()))
            self.joints.append(Joint(f"{self.bodies[i]}_frame", "fixed", parent, self.bodies[i], back))

    def _between(self, i: int, j: int) -> str:
        name = f"{self.bodies[i]}_{self.names[j]}"
        self.links.append(Link(name))
        return name

    def _joint(self, j: int, parent: str, child: str, origin: Origin) -> Joint:
        m, dof = self.m, self.m.jnt_dofadr[j]
        kind = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}[int(m.jnt_type[j])]
        limits = None
        if kind in ("prismatic", "revolute"):
            start = float(m.qpos0[m.jnt_qposadr[j]])
            limited = bool(m.jnt_limited[j])
            kind = "continuous" if kind == "revolute" and not limited else kind
            lower, upper = (m.jnt_range[j] - start).tolist() if limited else (-UNLIMITED, UNLIMITED)
            limits = Limits(lower, upper, _effort_limit(m, j), UNLIMITED)
        axis = m.jnt_axis[j] if limits is not None else np.array([1.0, 0.0, 0.0])
        return Joint(
            self.names[j], kind, parent, child, origin, tuple((axis / np.linalg.norm(axis)).tolist()), limits,
            float(m.dof_damping[dof]), float(m.dof_frictionloss[dof]),
        )  # fmt: skip

    def _with_mimics(self) -> Iterator[Joint]:
        found = mimics(self.m).items()
        follows = {self.names[one]: Mimic(self.names[two], ratio, offset) for one, (two, ratio, offset) in found}
        for joint in self.joints:
            yield replace(joint, mimic=follows[joint.name]) if joint.name in follows else joint


def _as_read(robot: RobotDescription) -> RobotDescription:
    """The robot as its URDF text is read: by all rules of a URDF, and bit for bit as others will read that text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return parse_urdf(to_urdf(robot), allow_outside=True)  # its meshes were looked at already


def _effort_limit(m: MjModel, j: int) -> float:
    """The least of what a joint and its actuators allow; 0: nobody says."""
    limits = [float(np.abs(m.jnt_actfrcrange[j]).max())] if m.jnt_actfrclimited[j] else []
    for a in np.flatnonzero((m.actuator_trnid[:, 0] == j) & (m.actuator_trntype == 0)):
        gear = abs(float(m.actuator_gear[a, 0]))
        if m.actuator_forcelimited[a]:
            limits.append(gear * float(np.abs(m.actuator_forcerange[a]).max()))
        if m.actuator_ctrllimited[a] and not m.actuator_biastype[a]:  # a motor
            limits.append(gear * abs(float(m.actuator_gainprm[a, 0])) * float(np.abs(m.actuator_ctrlrange[a]).max()))
    return min(limits, default=0.0)


def _left_out(m: MjModel) -> dict[str, int]:
    springs = int((m.jnt_stiffness != 0).any(axis=tuple(range(1, m.jnt_stiffness.ndim))).sum())
    odd = int(((m.actuator_trntype != 0) | (m.actuator_dyntype != 0)).sum())
    return {
        "tendons": m.ntendon, "equalities": m.neq - len(mimics(m)), "springs of joints": springs, "sites": m.nsite,
        "sensors": m.nsensor, "cameras": m.ncam, "contact pairs and exclusions": m.npair + m.nexclude,
        "actuators that are not on joints or have a state": odd, "height fields": m.nhfield,
        "bodies with gravity compensation": int((m.body_gravcomp != 0).sum()),
        "flexible bodies": m.nflex,
    }  # fmt: skip


def _shifted(X: Origin, by: np.ndarray) -> Origin:
    """The pose X with its origin moved by a vector in its own axes."""
    matrix = X.matrix()
    return Origin(tuple((matrix[:3, :3] @ by + matrix[:3, 3]).tolist()), X.rpy)
