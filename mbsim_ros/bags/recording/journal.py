# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The journal of a run that was recorded in Python, as far as commands of ROS can say what acted in it."""

from __future__ import annotations

import math
import warnings
from collections import deque

import numpy as np

from mbsim_ros.bags.formats.cdr_writer import joint_state
from mbsim_ros.bags.journal import GO, JOINTS, KEYFRAME, SET, Entry, keyframe
from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import Refusal
from mbsim_ros.sim.names import tree_dofs
from mbsim_ros.sim.recording.recorder import Recording
from mbsim_ros.sim.recording.run_log import Action
from mbsim_ros.sim.simulation import Simulation

NONE = np.zeros(0)
EFFORT, KP, KD, POSITION, VELOCITY = range(5)  # of the arrays of drives


def steps_of_a_period(recording: Recording) -> int:
    """Steps between two instants at which something may have been recorded or commanded."""
    log = recording.log
    if log is None:
        return 1
    rows = np.diff(recording["time_ns"]) // log.sim.dt_ns
    return math.gcd(*rows.tolist(), *(action.step for action in log.actions)) or 1


def journal_of(recording: Recording, setup: SimulationSetup) -> tuple[list[Entry], str]:
    """Entries from the start as far as they can be told, and why not further; "" if all is told.

    It is followed while it is written, in a simulation made from the setup: it tells what happened, or nothing.
    """
    log = recording.log
    assert log is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was said when the simulation was made
        sim = setup.simulation()
    sim.restore(log.start)
    intake = CommandInterface(sim)
    friction = setup.parameters["friction"]
    entries = [Entry(sim.time, KEYFRAME, keyframe(intake, friction))]
    period, actions, acting = steps_of_a_period(recording), deque(log.actions), log.acting
    rows = {int(time): row for row, time in enumerate(recording["time_ns"])}
    end = (int(recording["time_ns"][-1]) - sim.time) // sim.dt_ns
    for done in range(0, end, period):
        if actions and actions[0].step == done:
            action = actions.popleft()
            acting = action.acting(acting)
            if action.loads != sim.payloads.loads:
                sim.payloads.set(action.loads)
                entries.append(Entry(sim.time, SET, keyframe(intake, friction)))
            commands = _commands(sim, intake, action, acting)
            if commands is None:
                return entries, f"from {sim.seconds:g} s on a controller did what no command of ROS can say"
            entries += [Entry(sim.time, JOINTS, data) for data in commands]
        try:
            sim.advance(period)
        except SimulationDiverged as error:
            return entries, str(error)
        row = rows.get(sim.time)
        if row is not None and sim.q.tobytes() != recording["q"][row].tobytes():
            return [entries[0]], f"followed by commands it is not the same from {sim.seconds:g} s on"
        entries.append(Entry(sim.time, GO))
    return entries, ""


def _commands(sim: Simulation, intake: CommandInterface, action: Action, acting: np.ndarray) -> list[bytes] | None:
    """Commands after which the drives are what they were, applied; none if they are already; None if there are none."""
    integrator, names = sim.integrator, sim.tau_names
    dofs = np.asarray(tree_dofs(sim.model, names), dtype=np.int64)
    size = len(integrator.drives.effort)
    wanted = acting[: len(integrator.drives) * size].reshape(len(integrator.drives), size)[:, dofs].copy()
    rest = acting[len(integrator.drives) * size :]
    now = np.concatenate([array.ravel() for array in (*integrator.motors, integrator.external)])
    if action.coupling != sim.coupling.name or not np.array_equal(rest, now) or action.motor is not None:
        return None
    wanted[EFFORT] += 0.0 if action.tau is None else action.tau
    if _is_so(integrator.drives, dofs, wanted):
        return []
    holds, follows = wanted[KP] != 0.0, (wanted[KP] == 0.0) & (wanted[KD] != 0.0)
    found = []
    for chosen, parts in (
        (holds, (POSITION, VELOCITY, EFFORT)), (follows, (VELOCITY, EFFORT)), (~holds & ~follows, (EFFORT,))
    ):  # fmt: skip
        places = np.flatnonzero(chosen)
        if len(places):
            of = [wanted[part, places] if part in parts else NONE for part in (POSITION, VELOCITY, EFFORT)]
            listed = tuple(names[place] for place in places.tolist())
            command = intake.joints.read(listed, *of)
            if isinstance(command, Refusal):
                return None
            command.apply()
            found.append(joint_state(sim.time, listed, *of))
    return found if _is_so(integrator.drives, dofs, wanted) else None


def _is_so(drives: tuple[np.ndarray, ...], dofs: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether drives do what is wanted; a position without kp and a velocity without kd do nothing."""
    now = np.array([array[dofs] for array in drives[: VELOCITY + 1]])
    counts = np.ones(now.shape, dtype=bool)
    counts[POSITION], counts[VELOCITY] = wanted[KP] != 0.0, wanted[KD] != 0.0
    return bool((now[counts] == wanted[: VELOCITY + 1][counts]).all())
