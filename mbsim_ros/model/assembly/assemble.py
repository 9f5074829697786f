# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a description to a `Model`: fixed joints merged, axes turned to z, bodies put in order, arrays filled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from mbsim_ros.model import model as layout
from mbsim_ros.model.assembly.base_choice import by_rule, choose_base
from mbsim_ros.model.assembly.coordinates import mimic_coordinates
from mbsim_ros.model.assembly.spatial_inertia import SpatialInertia
from mbsim_ros.model.description import Joint, RobotDescription
from mbsim_ros.model.joint_kinds import KINDS, JointKind
from mbsim_ros.model.model import Coordinates, Frame, Model, ModelJoint
from mbsim_ros.model.sidecar.settings import Sidecar

WORLD = -1


@dataclass
class _Body:
    """A body while the tree is walked: a moving joint and everything fixed to it."""

    parent: int
    kind: JointKind
    joint: Joint | None  # None: the floating base
    X_PJ: np.ndarray  # joint frame, z along the axis, in the parent body
    inertia: SpatialInertia = field(default_factory=SpatialInertia.zero)
    end: int = 0


def make_model(description: RobotDescription, base: str = "auto", sidecar: Sidecar | None = None) -> Model:
    """Assemble the model of a description.

    base: "floating" or "fixed" root link; "auto" takes what sidecar or description say, or the rule of base_choice.py.
    """
    choice = choose_base(description, base, sidecar)
    tree = _LinkTree(_saying(description, choice.is_floating))
    tree.walk(choice.is_floating)
    return replace(_fill_model(tree, choice.is_floating, sidecar), base_choice=choice)


def _saying(description: RobotDescription, is_floating: bool) -> RobotDescription:
    """The description with its base, where nobody would guess it: who reads its text then takes the same."""
    told = None if by_rule(description).is_floating == is_floating else "floating" if is_floating else "fixed"
    return description if description.base == told else replace(description, base=told)


class _LinkTree:
    """The walk over links and joints, depth first, siblings by joint name: Pinocchio's order."""

    def __init__(self, description: RobotDescription):
        self.description = description
        self.bodies: list[_Body] = []
        self.frames: dict[str, Frame] = {}
        self.joint_frames: dict[str, Frame] = {}
        self._pending: list[tuple[str, object, int, np.ndarray]] = []  # a stack, because chains can be very long

    def walk(self, is_floating: bool) -> None:
        """Visit everything; fills bodies and frames."""
        body = self._begin_body(WORLD, KINDS["floating"], None, np.eye(4)) if is_floating else WORLD
        self._pending.append(("link", self.description.root.name, body, np.eye(4)))
        while self._pending:
            what, item, body, X = self._pending.pop()
            if what == "end":
                self.bodies[body].end = len(self.bodies)
            elif what == "link":
                self._visit_link(str(item), body, X)
            else:
                assert isinstance(item, Joint)
                self._visit_joint(item, body, X)

    def _visit_link(self, link: str, body: int, X_BL: np.ndarray) -> None:
        self.frames[link] = Frame(link, body, _constant(X_BL))
        if body != WORLD:
            own = SpatialInertia.of_link(self.description.link(link).inertial)
            self.bodies[body].inertia = self.bodies[body].inertia + own.expressed_in(X_BL)
        for joint in reversed(self.description.children_of(link)):
            self._pending.append(("joint", joint, body, X_BL @ joint.origin.matrix()))

    def _visit_joint(self, joint: Joint, body: int, X_BJ: np.ndarray) -> None:
        if joint.type == "fixed":
            self.joint_frames[joint.name] = Frame(joint.name, body, _constant(X_BJ))
            self._pending.append(("link", joint.child, body, X_BJ))
            return
        kind = KINDS[joint.type]
        X_align = np.eye(4)
        if joint.type not in ("spherical", "floating"):
            X_align[:3, :3] = _rotation_of_z_to(np.array(joint.axis))
        child = self._begin_body(body, kind, joint, X_BJ @ X_align)
        self.joint_frames[joint.name] = Frame(joint.name, child, _constant(X_align.T))
        self._pending.append(("link", joint.child, child, X_align.T))

    def _begin_body(self, parent: int, kind: JointKind, joint: Joint | None, X_PJ: np.ndarray) -> int:
        self.bodies.append(_Body(parent, kind, joint, X_PJ))
        body = len(self.bodies) - 1
        self._pending.append(("end", None, body, X_PJ))
        return body


def _fill_model(tree: _LinkTree, is_floating: bool, sidecar: Sidecar | None) -> Model:
    """Arrays and names of the walked tree."""
    n = len(tree.bodies)
    topology = np.zeros((n, layout.INT_COLUMNS), dtype=np.int64)
    constants = np.zeros((n, layout.FLOAT_COLUMNS))
    dof_parent: list[int] = []
    joints: list[ModelJoint] = []
    last_dof = {WORLD: -1}
    tree_nq = tree_nv = nq = nv = 0
    for index, body in enumerate(tree.bodies):
        topology[index] = (body.parent + 1, body.kind.number, tree_nq, tree_nv, body.end)
        constants[index] = _float_row(body)
        for dof in range(tree_nv, tree_nv + body.kind.nv):
            dof_parent.append(last_dof[body.parent] if dof == tree_nv else dof - 1)
        last_dof[index] = tree_nv + body.kind.nv - 1
        tree_nq += body.kind.nq
        tree_nv += body.kind.nv
        joint = body.joint
        has_own = joint is None or joint.mimic is None
        if joint is not None:
            iq, iv = (nq, nv) if has_own else (-1, -1)
            joints.append(ModelJoint(joint.name, joint.type, index, iq, iv, body.kind.nq, body.kind.nv, joint.child))
        if has_own:
            nq += body.kind.nq
            nv += body.kind.nv
    mimic = mimic_coordinates(tree.description, joints, is_floating)
    limits = _with_followers(_limits(tree), tree, joints, mimic)
    return Model(
        name=tree.description.name,
        description=tree.description,
        is_floating=is_floating,
        nq=nq,
        nv=nv,
        topology=_constant(topology),
        constants=_constant(constants),
        dof_parent=_constant(np.array(dof_parent, dtype=np.int64)),
        body_names=tuple(tree.description.root.name if b.joint is None else b.joint.child for b in tree.bodies),
        joints=tuple(joints),
        frames=MappingProxyType(tree.frames),
        joint_frames=MappingProxyType(tree.joint_frames),
        mimic=mimic,
        sidecar=sidecar,
        quaternions=(*([3] if is_floating else []), *_quaternions(joints)),
        neutral=_constant(np.array(_neutral(tree))),
        **{name: _constant(value) for name, value in limits.items()},  # type: ignore[arg-type]
    )


def _float_row(body: _Body) -> np.ndarray:
    row = np.zeros(layout.FLOAT_COLUMNS)
    row[layout.ROTATION : layout.ROTATION + 9] = body.X_PJ[:3, :3].ravel()
    row[layout.TRANSLATION : layout.TRANSLATION + 3] = body.X_PJ[:3, 3]
    row[layout.MASS] = body.inertia.mass
    row[layout.MOMENT : layout.MOMENT + 3] = body.inertia.moment
    row[layout.INERTIA : layout.INERTIA + 6] = _six(body.inertia.inertia)
    row[layout.CENTRE : layout.CENTRE + 3] = body.inertia.centre
    row[layout.CENTRAL_INERTIA : layout.CENTRAL_INERTIA + 6] = _six(body.inertia.central_inertia)
    row[layout.ROTOR] = 0.0 if body.joint is None else body.joint.rotor_inertia
    return row


def _quaternions(joints: list[ModelJoint]) -> list[int]:
    at = {"floating": 3, "spherical": 0}
    return [joint.iq + at[joint.type] for joint in joints if joint.type in at]


def _six(I: np.ndarray) -> tuple[float, ...]:  # noqa: E741
    return I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]


def _neutral(tree: _LinkTree) -> list[float]:
    own = (body for body in tree.bodies if body.joint is None or body.joint.mimic is None)
    return [value for body in own for value in body.kind.neutral]


def _limits(tree: _LinkTree) -> dict[str, np.ndarray]:
    """Limits, damping and friction per entry of v; a joint of several dofs has no limits."""
    columns: dict[str, list[float]] = {
        "lower": [], "upper": [], "effort_limit": [], "velocity_limit": [], "damping": [], "friction": [],
    }  # fmt: skip
    for body in tree.bodies:
        joint = body.joint
        if joint is not None and joint.mimic is not None:
            continue
        values = [-np.inf, np.inf, np.inf, np.inf, 0.0, 0.0]
        if joint is not None:
            limits = joint.limits
            if limits is not None and body.kind.nv == 1:
                values[2:4] = limits.effort, limits.velocity
                if joint.type != "continuous":
                    values[0:2] = limits.lower, limits.upper
            values[4:6] = joint.damping, joint.friction
        for name, value in zip(columns, values, strict=True):
            columns[name] += [value] * body.kind.nv
    return {name: np.array(values) for name, values in columns.items()}


def _with_followers(
    limits: dict[str, np.ndarray], tree: _LinkTree, joints: list[ModelJoint], mimic: Coordinates | None
) -> dict[str, np.ndarray]:
    """Add what resists a mimic joint to its leader: at the rate ratio · v, damping by ratio², friction by |ratio|."""
    if mimic is None:
        return limits
    for joint in joints:
        if joint.iv < 0:
            body = tree.bodies[joint.body]
            assert body.joint is not None
            dof = sum(other.kind.nv for other in tree.bodies[: joint.body])
            leader, ratio = mimic.source_v[dof], mimic.ratio_v[dof]
            limits["damping"][leader] += ratio**2 * body.joint.damping
            limits["friction"][leader] += abs(ratio) * body.joint.friction
    return limits


def _rotation_of_z_to(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to a unit vector; exact for the coordinate axes."""
    x, y, z = axis
    if z < 0.0:  # by way of the opposite axis: 1 + z would cancel
        return np.diag([1.0, -1.0, -1.0]) @ _rotation_of_z_to(np.array([x, -y, -z]))
    K = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    return np.eye(3) + K + K @ K / (1.0 + z)


def _constant(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
