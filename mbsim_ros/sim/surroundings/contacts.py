# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contacts as a user reads them: with the names of the links, and the energy that a start within the ground has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.contact.body_pairs_kernel import POINT, SHAPE, body_pairs_pass_into
from mbsim_ros.contact.contact_kernel import contact_pass_into
from mbsim_ros.contact.law_kernel import spring_energy
from mbsim_ros.contact.layout import DEPTH, FORCE, POSITION
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.state import PointReport, contact_state
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.kinematics_kernel import world_poses_into
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.integrator import Integrator
from mbsim_ros.model.model import Model
from mbsim_ros.sim.surroundings.scene import Scene


@dataclass(frozen=True, eq=False)
class ContactReport(PointReport):
    """One point as the last step had it, the link it is on and which of its points it is; `other` is "" for the ground.

    Vectors (3,) are in the world; the deflection of a point on another body is in that body's frame.
    """

    link: str
    label: str
    other: str = ""

    @property
    def is_touching(self) -> bool:
        """Whether a force may act."""
        return self.mode is not ContactMode.NO_CONTACT


def contact_reports(scene: Scene, integrator: Integrator) -> tuple[ContactReport, ...]:
    """All points against the ground, then all points against other bodies."""
    points = scene.points
    if points is None:
        return ()
    found = []
    if scene.ground is not None:
        for i, report in enumerate(integrator.contacts.reports()):
            found.append(_named(report, points.links[i], points.labels[i], ""))
    if scene.pairs is not None:
        for pair, report in zip(scene.pairs.pairs, integrator.pair_contacts.reports(), strict=True):
            i, other = int(pair[POINT]), scene.pairs.shape_links[int(pair[SHAPE])]
            found.append(_named(report, points.links[i], points.labels[i], other))
    if scene.shapes is not None:
        pairs, links = integrator.shape_pairs(), scene.shapes.links
        for (mine, theirs), report in zip(pairs, integrator.pair_contacts.reports(len(pairs)), strict=True):
            found.append(_named(report, links[mine], f"shape {mine}", links[theirs]))
    return tuple(found)


def contact_arrays(integrator: Integrator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Modes (n,), positions (n, 3) and forces (n, 3) of the points of `contact_reports`, in its order, as copies."""
    states = (integrator.contacts, integrator.pair_contacts)
    modes = np.concatenate([state.modes for state in states])
    results = np.concatenate([state.results for state in states])
    return modes, results[:, POSITION : POSITION + 3].copy(), results[:, FORCE : FORCE + 3].copy()


def stored_at(model: Model, scene: Scene, q: np.ndarray) -> float:
    """What the springs of contact hold where a robot at q (nq,) already stands in the ground or in another body [J]."""
    points = scene.points
    if points is None or scene.contact is None:
        return 0.0
    ws = Workspace(model)
    world_poses_into(model.topology, model.constants, check.configuration(model, q), ws.sincos, ws.rows)
    twists, wrenches = np.zeros((model.n_bodies, 6)), np.zeros((model.n_bodies, 6))
    stored = 0.0
    if scene.ground is not None:
        state, ground = contact_state(len(points)), scene.ground
        rows = scene.contact.rows(points.links)
        contact_pass_into(
            points.bodies, points.geometry, ground.kind, ground.data, ground.grid, rows, state.modes, state.deflections,
            ws.rows, twists, 0.0, False, wrenches, state.results, state.blocks, state.active,
        )  # fmt: skip
        stored += _stored(rows, state.results)
    if scene.pairs is not None and scene.pair_contact is not None:
        state, pairs = contact_state(len(scene.pairs)), scene.pairs
        rows = scene.pair_contact.pair_rows(points.links, pairs)
        body_pairs_pass_into(
            pairs.pairs, pairs.shape_ints, pairs.shape_floats, points.bodies, points.geometry, rows, state.modes,
            state.deflections, ws.rows, twists, 0.0, False, wrenches, state.results, state.blocks, state.active,
        )  # fmt: skip
        stored += _stored(rows, state.results)
    return stored


def _stored(rows: np.ndarray, results: np.ndarray) -> float:
    return float(sum(spring_energy(row, depth) for row, depth in zip(rows, results[:, DEPTH], strict=True)))


def _named(report: PointReport, link: str, label: str, other: str) -> ContactReport:
    return ContactReport(
        report.mode, report.penetration, report.force, report.position, report.normal, report.deflection, link, label,
        other,
    )  # fmt: skip
