# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The parameters of a physics node that would make the simulation of a recording, as far as there are such."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator

import numpy as np

from mbsim_ros import __version__
from mbsim_ros.bags.carried_files import as_texts
from mbsim_ros.bags.setup import SimulationSetup, computed_with
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.contact.terrain_kernel import FLAT, PLANE
from mbsim_ros.model.model import Model
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.recording.recorder import Recording
from mbsim_ros.sim.scenes.entity_spec import specs_of, surroundings_of
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.terrain_parameter import files_of

AS_THE_SIDECAR_SAYS = -1.0  # friction
HEIGHTS = "heights.npy"  # of a field with more heights than a text should have
MOST_IN_TEXT = 1000


def setup_of(recording: Recording, period: float) -> tuple[SimulationSetup, str]:
    """The setup, with a control period [s], and in which way its simulation is not the recorded one; "" if it is."""
    sim = None if recording.log is None else recording.log.sim
    if sim is None:
        values = _parameters(None, _terrain(recording.ground), period)
        return _setup(recording.model, values, recording.ground), "it is not known here"
    different = ""
    for terrain, friction, bodies in _candidates(sim):
        values = _parameters(sim, terrain, period) | {"friction": friction, "body_contact": [bodies]}
        if sim.scene.contact is not None and sim.scene.contact.law is not None:
            values["contact_law"] = sim.scene.contact.law
        setup = _setup(sim.payloads.bare, values, sim.scene.ground, sim)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was said when the simulation was made
            try:
                made = setup.simulation()
            except ValueError as error:
                different = different or str(error)
                continue
        others = [name for name, value in sim.identity.items() if made.identity.get(name) != value]
        if not others:
            return setup, ""
        different = f"parameters of a node cannot say its {', '.join(others)}"
    values = _parameters(sim, _terrain(recording.ground), period)
    return _setup(sim.payloads.bare, values, recording.ground, sim), different


def setup_text(setup: SimulationSetup) -> str:
    """As on the topic simulation_setup."""
    return json.dumps({
        "robot_description": setup.robot_description, "sidecar": setup.sidecar, "parameters": setup.parameters,
        "version": setup.version, **setup.computed_with, "has_journal": setup.has_journal, "meshes": setup.meshes,
        "contact_points": setup.contact_points, "files": as_texts(setup.files),
        "entities": [spec.to_json() for spec in setup.entities], "world": setup.world,
    })  # fmt: skip


def _candidates(sim: Simulation) -> Iterator[tuple[str, float, str]]:
    """Terrain, friction and body_contact that may be those of the simulation, the likeliest first."""
    law = sim.scene.contact
    for bodies in ("",) if sim.scene.pairs is None else ("", "all"):
        for friction in (AS_THE_SIDECAR_SAYS,) if law is None else (AS_THE_SIDECAR_SAYS, law.friction_static):
            for terrain in ("auto", _terrain(sim.scene.ground)):
                yield terrain, friction, bodies


def _terrain(ground: Ground | None) -> str:
    """The parameter for a ground: a word or the text of a section `terrain`."""
    if ground is None:
        return "none"
    if ground.kind == FLAT:
        return f"terrain: {{type: flat, height: {float(ground.data[0])!r}}}"
    if ground.kind == PLANE:
        n = ground.data[:3]
        angle, direction = np.arctan2(np.hypot(n[0], n[1]), n[2]), np.arctan2(-n[1], -n[0])
        height = ground.data[3] / n[2]
        return (
            f"terrain: {{type: incline, angle: {float(angle)!r}, direction: {float(direction)!r}, "
            f"height: {float(height)!r}}}"
        )
    x, y = ground.data[:2].tolist()
    along_x, along_y = ground.spacings
    spacing = f"{along_x!r}" if along_x == along_y else f"[{along_x!r}, {along_y!r}]"
    table = f"heights: {ground.grid.tolist()!r}" if ground.grid.size <= MOST_IN_TEXT else f"file: {HEIGHTS}"
    return f"terrain: {{type: heightfield, {table}, spacing: {spacing}, origin: [{x!r}, {y!r}]}}"


def _terrain_files(ground: Ground | None) -> dict[str, bytes]:
    """The table that `_terrain` names."""
    if ground is None or ground.kind in (FLAT, PLANE) or ground.grid.size <= MOST_IN_TEXT:
        return {}
    stream = io.BytesIO()
    np.save(stream, ground.grid, allow_pickle=False)
    return {HEIGHTS: stream.getvalue()}


def _parameters(sim: Simulation | None, terrain: str, period: float) -> dict[str, object]:
    scheme: dict[str, object] = {
        "integrator": "lie_variational", "quadrature": "midpoint", "retraction": "cayley", "order": 2, "dt": period,
        "gravity": [0.0, 0.0, -9.81],
    }  # fmt: skip
    if sim is not None:
        scheme |= sim.scheme | {"dt": sim.dt, "gravity": sim.integrator.gravity.tolist()}
    return {
        **scheme, "control_period": period, "terrain": terrain, "friction": AS_THE_SIDECAR_SAYS, "body_contact": [""],
        "initial_state": "home", "coupling": "", "sync": "lockstep", "clock": "publish", "lockstep_participants": [""],
        "on_missing": "hold", "command_timeout": 0.0, "on_timeout": "hold", "frame_prefix": "", "start": "run",
    }  # fmt: skip


def _setup(
    model: Model, parameters: dict[str, object], ground: Ground | None, sim: Simulation | None = None
) -> SimulationSetup:
    sidecar, text = model.sidecar, ""
    if sidecar is not None and sidecar.source:
        with open(sidecar.source, encoding="utf-8") as file:
            text = file.read()
    base = {"base": "floating" if model.is_floating else "fixed"}
    description = to_urdf(model.description)
    files = {"sidecar": files_of(None if sidecar is None else sidecar.terrain), "terrain": _terrain_files(ground)}
    entities = None if sim is None else sim.entities
    if entities is not None:
        files["world"] = files_of(entities.world.terrain)
    points = None if sim is None else tuple(() if sim.scene.points is None else sim.scene.points.rows())
    return SimulationSetup(
        description, text, base | parameters, __version__, computed_with(), has_journal=True,
        meshes=model.description.found_meshes(), contact_points=points,
        files=files, entities=() if entities is None else tuple(specs_of(entities)),
        world=None if entities is None else surroundings_of(entities.world),
    )  # fmt: skip
