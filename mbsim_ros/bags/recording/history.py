# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The history of a run that was recorded in Python: its channels, and by computing it again what they lack."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np

from mbsim_ros.bags.history import Contacts, History
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.model.model import IQ, Model, ModelJoint
from mbsim_ros.sim.ledger import LEDGER_ENTRIES
from mbsim_ros.sim.recording.recorder import Recording
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.contacts import contact_arrays

UNNAMED = "/"


class NotAgain(ValueError):
    """A run that cannot be computed again; the text says why."""


def history_of(recording: Recording, most: int | None = None) -> History:
    """All that is known of a recorded run, for a view, a film or a plot. Raises ValueError without q or a robot.

    most: rows at most, evenly chosen; None for all.
    """
    if "q" not in recording.channels:
        raise ValueError("this recording has no channel q, so that nothing is known of where the robot was: record it")
    model = recording.model
    rows = np.arange(0, len(recording), 1 if most is None else max(1, -(-len(recording) // most)))
    q, joints = recording["q"][rows], single_joints(model)
    tree_q = np.array([model.tree_q(row) for row in q]).reshape(len(q), -1)
    position = tree_q[:, [int(model.topology[joint.body, IQ]) for joint in joints]]
    history = History(
        UNNAMED, _stand_in(recording) if recording.log is None else recording.log.sim, recording["time_ns"][rows],
        tuple(joint.name for joint in joints), position, np.zeros_like(position), q, [""] * len(q),
    )  # fmt: skip
    history.ledger = recording["ledger"][rows] if "ledger" in recording.channels else None
    try:
        _compute_again(recording, rows, history)
    except NotAgain as error:
        history.notes.append(f"no efforts, contacts and ledger but what was recorded: {error}")
        _take_contacts(recording, rows, history)
    return history


def single_joints(model: Model) -> list[ModelJoint]:
    """The joints of one dof, of which joint_states tells."""
    return [joint for joint in model.joints if joint.nv == 1]


def rows_again(recording: Recording, rows: np.ndarray) -> Iterator[tuple[Simulation, np.ndarray]]:
    """For each of these rows the simulation in the state recorded there, and the efforts (tau_names,) up to it.

    Raises NotAgain where it is not the same, bit for bit.
    """
    log = recording.log
    if log is None:
        raise NotAgain("the simulation that it was recorded from is not here")
    sim, times = log.sim, recording["time_ns"]
    if (np.diff(times) <= 0).any():
        raise NotAgain("its time goes back: the simulation was reset meanwhile")
    steps = (times[rows] - times[0]) // sim.dt_ns
    try:
        with closing(log.again(steps.tolist())) as stops:
            for row, _ in zip(rows.tolist(), stops, strict=True):
                if sim.q.tobytes() != recording["q"][row].tobytes():
                    raise NotAgain(f"computed again, it is not the same from {recording.seconds[row]:.6g} s on")
                yield sim, sim.efforts
    except (ValueError, SimulationDiverged) as error:
        raise error if isinstance(error, NotAgain) else NotAgain(str(error)) from None


def _compute_again(recording: Recording, rows: np.ndarray, history: History) -> None:
    """Efforts, contacts and ledger of every row, all or none."""
    places = {name: place for place, name in enumerate(history.joint_names)}
    effort = np.zeros_like(history.effort)
    ledger, coupling, touching = np.zeros((len(rows), len(LEDGER_ENTRIES))), [], []
    for number, (sim, efforts) in enumerate(rows_again(recording, rows)):
        effort[number, [places[name] for name in sim.tau_names]] = efforts
        touching.append(_Touching.of(*contact_arrays(sim.integrator)))
        entries = sim.ledger()
        ledger[number] = [getattr(entries, name) for name in LEDGER_ENTRIES]
        coupling.append(sim.coupling.name)
    history.effort, history.ledger, history.coupling = effort, ledger, coupling
    history.contacts = _contacts(history.sim, touching)


def _take_contacts(recording: Recording, rows: np.ndarray, history: History) -> None:
    """Contacts as they were recorded, if they were."""
    names = ("contact_modes", "contact_positions", "contact_forces")
    if recording.log is not None and all(name in recording.channels for name in names):
        channels = [recording[name][rows] for name in names]
        history.contacts = _contacts(history.sim, [_Touching.of(*parts) for parts in zip(*channels, strict=True)])


class _Touching(NamedTuple):
    """The points that touch at one instant: robots of meshes have thousands, of which a few do."""

    places: np.ndarray
    modes: np.ndarray
    positions: np.ndarray
    forces: np.ndarray

    @classmethod
    def of(cls, modes: np.ndarray, positions: np.ndarray, forces: np.ndarray) -> _Touching:
        places = np.flatnonzero(modes != ContactMode.NO_CONTACT)
        return cls(places, modes[places], positions[places], forces[places])


def _contacts(sim: Simulation, instants: list[_Touching]) -> Contacts | None:
    """Of the points that touch at any instant; None without one.

    Points between entities of a scene are others in each step, and are left out.
    """
    if sim.scene.shapes is not None:
        lasting = len(sim.integrator.contacts.modes)
        instants = [_Touching(*(part[each.places < lasting] for part in each)) for each in instants]
    points = sorted({place for instant in instants for place in instant.places.tolist()})
    if not points:
        return None
    column, count = {point: k for k, point in enumerate(points)}, len(instants)
    modes = np.full((count, len(points)), ContactMode.NO_CONTACT, dtype=np.int64)
    positions, forces = np.zeros((count, len(points), 3)), np.zeros((count, len(points), 3))
    for row, instant in enumerate(instants):
        at = [column[place] for place in instant.places.tolist()]
        modes[row, at], positions[row, at], forces[row, at] = instant.modes, instant.positions, instant.forces
    everything = sim.contacts()
    reports = [everything[point] for point in points]
    labels = tuple(f"{report.link} {report.label}".strip() for report in reports)
    return Contacts(labels, tuple(report.link for report in reports), modes, positions, forces)


def _stand_in(recording: Recording) -> Simulation:
    """A simulation of the same robot on the same ground, for who asks for these."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is never stepped
        return Simulation(recording.model, terrain=recording.ground or False)
