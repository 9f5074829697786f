# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A recorded run as arrays over time: positions, efforts, and by computing it again contacts and energy.

What a bag does not hold, such as the modes of contacts, follows from the commands in it: the physics is run again.
Where that is not possible, what was recorded is there alone, and `notes` say why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.formats.cdr import joint_message, odometry_message
from mbsim_ros.bags.journal_rerun import rerun_of
from mbsim_ros.bags.recorded_run import MOTOR_STATES, RecordedRun, recorded_runs
from mbsim_ros.bags.sim_time import SECOND
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import Coupling
from mbsim_ros.sim.ledger import LEDGER_ENTRIES
from mbsim_ros.sim.simulation import Simulation

SAME = 1e-6  # rad, m: how far a state may be from the recorded one for the run to count as computed again


@dataclass(eq=False)
class Contacts:
    """Contact points over a run: labels (p), links (p), modes (n, p), positions and forces (n, p, 3)."""

    labels: tuple[str, ...]
    links: tuple[str, ...]
    modes: np.ndarray
    positions: np.ndarray
    forces: np.ndarray


@dataclass(eq=False)
class History:
    """One robot's run at n instants. Arrays of joints are in the order of `joint_names`."""

    namespace: str
    sim: Simulation  # as it was set up, for its model and its ground; not at any instant of the run
    stamps: np.ndarray  # (n,) ns
    joint_names: tuple[str, ...]
    position: np.ndarray  # (n, joints)
    effort: np.ndarray  # (n, joints)
    q: np.ndarray  # (n, nq)
    coupling: list[str]  # (n) names, where it was computed again
    motor_names: tuple[str, ...] = ()  # of all motors that there were at any time
    motor_effort: np.ndarray | None = None  # (n, motors), nan where the coupling had none of that name
    contacts: Contacts | None = None
    ledger: np.ndarray | None = None  # (n, LEDGER_ENTRIES)
    notes: list[str] = field(default_factory=list)

    @property
    def model(self) -> Model:
        """The robot."""
        return self.sim.model

    @property
    def seconds(self) -> np.ndarray:
        """Times (n,) [s]."""
        return self.stamps / SECOND


def read_history(
    path: str | os.PathLike, namespace: str = "", most: int | None = None,
    package_dirs: Sequence[str | os.PathLike] = (),
) -> History:  # fmt: skip
    """The run of a robot in a bag.

    namespace: of the robot; may be left out where there is one. most: instants at most, evenly chosen; None for all.
    package_dirs: packages, or folders of packages, with meshes that are no longer where they were.
    Raises BagError, CannotReplay or ValueError with the reason.
    """
    bag = BagReader(path)
    runs = {run.namespace: run for run in recorded_runs(bag, package_dirs)}
    wanted = f"/{namespace.strip('/')}" if namespace else ""
    if (wanted and wanted not in runs) or (not wanted and len(runs) > 1):
        raise BagError(f"{path}: say which robot by its namespace; there are: {', '.join(sorted(runs))}")
    run = runs[wanted] if wanted else next(iter(runs.values()))
    stamps = sorted(run.states)
    if not stamps:
        raise BagError(f"{path}: there are no joint_states of {run.namespace}")
    every = 1 if most is None else max(1, -(-len(stamps) // most))
    history = _recorded(run, stamps[::every])
    _read_motors(bag, history)
    _compute_again(run, stamps, set(stamps[::every]), history)
    return history


def _recorded(run: RecordedRun, stamps: list[int]) -> History:
    """What stands in the bag."""
    sim = run.setups[0].simulation()
    model = sim.model
    messages = [joint_message(run.states[stamp][-1]) for stamp in stamps]
    names = messages[0].names
    if any(message.names != names for message in messages):
        raise BagError(f"{run.namespace}: joint_states does not always have the same joints")
    if any(len(message.position) != len(names) or len(message.effort) != len(names) for message in messages):
        raise BagError(f"{run.namespace}: joint_states does not always have a position and an effort for each joint")
    position = np.array([message.position for message in messages])
    effort = np.array([message.effort for message in messages])
    q = np.tile(model.neutral, (len(stamps), 1))
    for place, name in enumerate(names):
        joint = model.joint(name)
        if joint.iq >= 0:
            q[:, joint.iq] = position[:, place]
    if model.is_floating:
        last = sim.q[:7]
        for row, stamp in enumerate(stamps):
            if run.odometry.get(stamp):
                last = odometry_message(run.odometry[stamp][-1]).pose
            q[row, :7] = last
    return History(run.namespace, sim, np.array(stamps), names, position, effort, q, [""] * len(stamps))


def _read_motors(bag: BagReader, history: History) -> None:
    """Efforts of the motors, whose names change with the coupling."""
    topic = f"{history.namespace.rstrip('/')}/{MOTOR_STATES}"
    rows = {int(stamp): row for row, stamp in enumerate(history.stamps)}
    found: dict[str, np.ndarray] = {}
    driven = {motor for entry in _couplings(history.model).values() for motor in entry.motors}
    for message in bag.messages([topic]):
        if message.time in rows:
            state = joint_message(message.data)
            for name, effort in zip(state.names, state.effort.tolist(), strict=False):  # efforts may be left out
                if name in driven:
                    found.setdefault(name, np.full(len(rows), np.nan))[rows[message.time]] = effort
    if found:
        history.motor_names = tuple(sorted(found))
        history.motor_effort = np.column_stack([found[name] for name in history.motor_names])


def _couplings(model: Model) -> Mapping[str, Coupling]:
    return {} if model.sidecar is None else model.sidecar.couplings


def _compute_again(run: RecordedRun, stamps: list[int], wanted: set[int], history: History) -> None:
    """Fill in contacts, ledger and coupling, and q of joints that joint_states cannot tell, from a rerun."""
    rerun = rerun_of(run)
    rows: list[tuple[np.ndarray, list, list, list, list[float], str]] = []
    worst = 0.0
    try:
        if not rerun.has_begin:
            raise ValueError(f"the recording begins at {stamps[0] / SECOND:g} s")
        for stamp in stamps:
            if not rerun.go_to(stamp):
                raise ValueError(f"the recording does not tell how the state at {stamp} ns came about")
            if rerun.stamp != stamp:
                raise ValueError(f"the state at {stamp} ns is at none of the control periods")
            if stamp in wanted:
                place = len(rows)
                off = np.abs(rerun.joint_state()["position"] - history.position[place]).max(initial=0.0)
                worst = max(worst, float(off))
                reports = rerun.sim.contacts()
                ledger = rerun.sim.ledger()
                rows.append((
                    rerun.sim.q.copy(), [report.mode for report in reports], [report.position for report in reports],
                    [report.force for report in reports], [getattr(ledger, name) for name in LEDGER_ENTRIES],
                    rerun.sim.coupling.name,
                ))  # fmt: skip
        if not worst <= SAME:
            raise ValueError(f"a joint is up to {worst:.3g} from where it was recorded")
    except (ValueError, SimulationDiverged) as error:
        history.notes.append(f"no contacts and no ledger: the run could not be computed again: {error}")
        return
    count = len(history.stamps)
    reports = history.sim.contacts()
    history.q = np.array([row[0] for row in rows])
    history.ledger = np.array([row[4] for row in rows])
    history.coupling = [row[5] for row in rows]
    if reports:
        labels = tuple(f"{report.link} {report.label}".strip() for report in reports)
        history.contacts = Contacts(
            labels, tuple(report.link for report in reports), np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows]).reshape(count, -1, 3),
            np.array([row[3] for row in rows]).reshape(count, -1, 3),
        )  # fmt: skip
