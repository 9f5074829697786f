# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Replay: the physics of a recording computed again from its commands, and every state compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros import __version__
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import joint_message, odometry_message
from mbsim_ros.bags.journal_rerun import rerun_of
from mbsim_ros.bags.recorded_run import CannotReplay, RecordedRun, recorded_runs
from mbsim_ros.bags.rerun import Rerun
from mbsim_ros.bags.setup import computed_with
from mbsim_ros.bags.sim_time import SECOND
from mbsim_ros.integrators.errors import SimulationDiverged

ELSEWHERE = 1e-6  # tolerance where equal bits cannot be expected, relative to 1 + |value|
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
TWIST = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")


@dataclass(frozen=True)
class Difference:
    """The first number that is not the same."""

    stamp: int  # ns
    what: str  # such as "position of 'elbow'"
    recorded: float
    replayed: float

    def __str__(self) -> str:
        return (
            f"at {self.stamp / SECOND:.9g} s ({self.stamp} ns) the {self.what} was {self.recorded!r} and is now "
            f"{self.replayed!r}, {abs(self.recorded - self.replayed):.3g} apart"
        )


@dataclass
class ReplayReport:
    """How a replay went."""

    namespace: str
    joints: int
    states: int = 0  # that were compared
    seconds: float = 0.0
    resets: int = 0
    left_out: int = 0  # states that are not in the bag
    untold: int = 0  # states of which the bag does not tell how they came about
    tolerance: float = 0.0  # 0: bit for bit
    largest: float = 0.0  # difference, relative to 1 + |value|
    difference: Difference | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """Whether every state is as it was."""
        return self.difference is None


def replay(
    bag: str | os.PathLike | BagReader, tolerance: float | None = None, package_dirs: Sequence[str | os.PathLike] = ()
) -> list[ReplayReport]:
    """Replay every robot of a bag up to its first difference; one report for each.

    tolerance: None compares bit for bit where this machine computes with what the recording was computed with, and to
    1e-6 elsewhere; a number compares to that, relative to 1 + |value|. Raises CannotReplay, saying what is missing.
    """
    reader = bag if isinstance(bag, BagReader) else BagReader(bag)
    reports = [_replay_run(run, tolerance) for run in recorded_runs(reader, package_dirs)]
    if not reader.complete:
        reports[0].notes.append("the bag was not closed: it is replayed as far as it was written")
    return reports


def _replay_run(run: RecordedRun, tolerance: float | None) -> ReplayReport:
    stamps = sorted(run.states)
    if not stamps:
        raise CannotReplay(f"there are no joint_states in the namespace {run.namespace}")
    rerun = rerun_of(run)
    if not rerun.has_begin:
        raise CannotReplay(
            f"the recording of {run.namespace} begins at {stamps[0] / SECOND:g} s: what happened before is not in it. "
            "Record simulation_journal, start recording before the simulation, or let the recorder take part in it"
        )
    report = ReplayReport(run.namespace, len(rerun.joint_names))
    report.tolerance = _chosen_tolerance(run, tolerance, report)
    left_out, before = 0, rerun.first_stamp
    for stamp in stamps:
        is_reset = rerun.is_reset(before, stamp)
        report.resets += is_reset
        left_out += 0 if is_reset else max(0, (stamp - before) // rerun.period - 1)
        before = stamp
        try:
            is_there = rerun.go_to(stamp)
        except SimulationDiverged as error:
            raise CannotReplay(f"the replay of {run.namespace} does not get to {stamp} ns: {error}") from None
        if not is_there:
            continue
        if rerun.stamp != stamp:
            raise CannotReplay(f"{run.namespace}: the state stamped {stamp} ns is at none of the control periods")
        _compare_states(run, rerun, stamp, report)
        if report.difference is not None:
            break
    report.notes += rerun.notes
    if left_out:
        report.notes.append(f"{left_out} states are not in the bag: they were computed, but could not be compared")
    report.left_out, report.untold = left_out, rerun.untold
    report.seconds = (stamp - stamps[0]) / SECOND
    return report


def _chosen_tolerance(run: RecordedRun, tolerance: float | None, report: ReplayReport) -> float:
    recorded, here = run.setups[0], {**computed_with(), "mbsim_ros": __version__}
    there = {**recorded.computed_with, "mbsim_ros": recorded.version}
    others = [f"{name} {there[name] or '?'} (here {here[name]})" for name in there if there[name] != here[name]]
    if not others:
        return tolerance or 0.0
    chosen = tolerance or ELSEWHERE
    report.notes.append(f"recorded with {', '.join(others)}: compared with a tolerance of {chosen:g}, not bit for bit")
    return chosen


def _compare_states(run: RecordedRun, rerun: Rerun, stamp: int, report: ReplayReport) -> None:
    """Compare everything that was published at this stamp: one state, or several where it was set meanwhile."""
    joints = list(dict.fromkeys(run.states[stamp]))
    bases = list(dict.fromkeys(run.odometry.get(stamp, ())))
    several = len(joints) > 1
    while True:
        is_now = joints and (not several or joint_message(joints[0]).names == rerun.joint_names)
        if is_now and _joint_difference(run, rerun, stamp, joints[0], report) is None:
            report.states += 1
            del joints[0]
        if bases and _base_difference(rerun, stamp, bases[0], report) is None:
            del bases[0]
        if not (joints or bases) or not rerun.is_again_at(stamp):
            break
    if joints and several and not rerun.knows_sets:
        raise CannotReplay(f"{run.namespace}: at {stamp} ns the state was set from outside, which is not in the bag")
    if joints:
        report.difference = _joint_difference(run, rerun, stamp, joints[0], report)
    elif bases:
        report.difference = _base_difference(rerun, stamp, bases[0], report)


def _joint_difference(
    run: RecordedRun, rerun: Rerun, stamp: int, message: bytes, report: ReplayReport
) -> Difference | None:
    then = joint_message(message)
    if then.names != rerun.joint_names:
        raise CannotReplay(f"{run.namespace}: joint_states at {stamp} ns has other joints than the robot")
    for part, values in rerun.joint_state().items():
        labels, recorded = [f"{part} of '{name}'" for name in then.names], getattr(then, part)
        if len(recorded) != len(values):
            raise CannotReplay(
                f"{run.namespace}: joint_states at {stamp} ns has {len(recorded)} numbers for {part}, not {len(values)}"
            )
        difference = _compare(stamp, labels, recorded, values, report)
        if difference is not None:
            return difference
    return None


def _base_difference(rerun: Rerun, stamp: int, message: bytes, report: ReplayReport) -> Difference | None:
    odometry, base = odometry_message(message), rerun.odometry()
    return _compare(stamp, [f"base's {name}" for name in POSE], odometry.pose, base["pose"], report) or _compare(
        stamp, [f"base's twist {name}" for name in TWIST], odometry.twist, base["twist"], report
    )


def _compare(
    stamp: int, labels: list[str], then: np.ndarray, now: np.ndarray, report: ReplayReport
) -> Difference | None:
    """The first number that is not the same."""
    if then.tobytes() == now.tobytes():
        return None
    scaled = np.abs(then - now) / (1.0 + np.abs(then))
    wrong = ~(scaled <= report.tolerance) if report.tolerance else then.view(np.int64) != now.view(np.int64)
    if wrong.any():
        k = int(wrong.argmax())
        return Difference(stamp, labels[k], float(then[k]), float(now[k]))
    report.largest = max(report.largest, float(scaled.max()))
    return None
