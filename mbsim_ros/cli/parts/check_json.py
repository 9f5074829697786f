# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""``mbsim check --json``: the findings as plain data."""

from __future__ import annotations

import math
from collections import Counter

from mbsim_ros.cli.parts.check_contact import points_of_links
from mbsim_ros.cli.parts.check_inertia import masses_beside_meshes
from mbsim_ros.cli.parts.check_integrators import suitable_integrators
from mbsim_ros.model.assembly.checking import FileCheck
from mbsim_ros.model.assembly.plausibility import LinkMass
from mbsim_ros.model.description import Inertial, Joint, Link
from mbsim_ros.model.model import Model, ModelJoint
from mbsim_ros.model.problems import Problem


def as_json(check: FileCheck, strict: bool = False) -> dict[str, object]:
    """One file as data; what could not be read is null."""
    model, robot = check.model, check.robot
    points = Counter() if model is None else points_of_links(model)
    masses = {found.link.name: found for found in masses_beside_meshes(check)}
    moving = {} if model is None else {joint.name: joint for joint in model.joints}
    return {
        "file": check.file,
        "ok": check.is_fine(strict),
        "errors": [_problem(problem) for problem in check.errors],
        "warnings": [_problem(problem) for problem in check.warnings],
        "note": check.note,
        "sidecar": check.sidecar_file or None,
        "robot": None if model is None else _robot(model),
        "integrators": None
        if model is None
        else dict(zip(("fit", "do_not"), suitable_integrators(model), strict=True)),
        "links": None if robot is None else [_link(link, masses.get(link.name), points) for link in robot.links],
        "joints": None if robot is None else [_joint(joint, moving.get(joint.name)) for joint in robot.joints],
        "used_tags": None if robot is None else dict(robot.used_tags),
        "ignored_tags": None if robot is None else dict(robot.ignored_tags),
    }


def _integrators(model: Model) -> dict[str, object]:
    can_run, cannot = suitable_integrators(model)
    return {"can_run": can_run, "cannot": cannot}


def _problem(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file, "line": problem.line, "element": problem.element, "name": problem.name,
        "rule": problem.rule, "value": problem.value, "hint": problem.hint,
    }  # fmt: skip


def _robot(model: Model) -> dict[str, object]:
    return {
        "name": model.name, "base": "floating" if model.is_floating else "fixed", "root": model.description.root.name,
        "bodies": model.n_bodies, "nq": model.nq, "nv": model.nv, "mass": model.mass,
        "joint_names": list(model.joint_names),
    }  # fmt: skip


def _link(link: Link, mass: LinkMass | None, points: Counter[str]) -> dict[str, object]:
    data: dict[str, object] = {
        "name": link.name, "line": link.line, "mass": None, "visuals": len(link.visuals),
        "collisions": len(link.collisions), "contact_points": points[link.name],
    }  # fmt: skip
    if mass is not None and link.inertial is not None:
        data |= {
            "mass": mass.mass, "com": list(link.inertial.origin.xyz), "principal_moments": list(mass.moments),
            "doubts": list(mass.doubts), "suggestion": _suggestion(mass.suggestion, mass.suggested_by),
        }  # fmt: skip
    return data


def _suggestion(inertial: Inertial | None, by: str) -> dict[str, object] | None:
    if inertial is None:
        return None
    return {"from": by, "xyz": list(inertial.origin.xyz), "inertia": inertial.inertia.tolist()}


def _joint(joint: Joint, place: ModelJoint | None) -> dict[str, object]:
    limits = joint.limits
    has_travel = limits is not None and joint.type != "continuous"
    return {
        "name": joint.name, "line": joint.line, "type": joint.type, "parent": joint.parent, "child": joint.child,
        "axis": list(joint.axis),
        "iq": place.iq if place and place.iq >= 0 else None, "iv": place.iv if place and place.iv >= 0 else None,
        "lower": limits.lower if limits and has_travel else None,
        "upper": limits.upper if limits and has_travel else None,
        "effort": _finite(limits.effort) if limits else None,
        "velocity": _finite(limits.velocity) if limits else None,
        "damping": joint.damping, "friction": joint.friction, "rotor_inertia": joint.rotor_inertia,
        "mimic": joint.mimic.joint if joint.mimic else None,
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
