"""Replay: the physics of a recording computed again from its commands, and every state compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros import __version__
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.cdr import joint_message, odometry_message
from mbsim_ros.bags.recorded_run import CannotReplay, RecordedRun, recorded_runs
from mbsim_ros.bags.rerun import RESET_GAP, Rerun
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
    tolerance: float = 0.0  # 0: bit for bit
    largest: float = 0.0  # difference, relative to 1 + |value|
    difference: Difference | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """Whether every state is as it was."""
        return self.difference is None


def replay(bag: str | os.PathLike | BagReader, tolerance: float | None = None) -> list[ReplayReport]:
    """Replay every robot of a bag up to its first difference; one report for each.

    tolerance: None compares bit for bit where this machine computes with what the recording was computed with, and to
    1e-6 elsewhere; a number compares to that, relative to 1 + |value|. Raises CannotReplay, saying what is missing.
    """
    reader = bag if isinstance(bag, BagReader) else BagReader(bag)
    reports = [_replay_run(run, tolerance) for run in recorded_runs(reader)]
    if not reader.complete:
        reports[0].notes.append("the bag was not closed: it is replayed as far as it was written")
    return reports


def _replay_run(run: RecordedRun, tolerance: float | None) -> ReplayReport:
    stamps = sorted(run.states)
    if not stamps:
        raise CannotReplay(f"there are no joint_states in the namespace {run.namespace}")
    rerun = Rerun(run)
    if stamps[0] > 0 and not (rerun.is_lockstep and 0 in run.commands):
        raise CannotReplay(
            f"the recording of {run.namespace} begins at {stamps[0] / SECOND:g} s: what happened before is not in it. "
            "Start recording before the simulation, or let the recorder take part in its lockstep"
        )
    report = ReplayReport(run.namespace, len(rerun.joint_names))
    report.tolerance = _chosen_tolerance(run, tolerance, report)
    report.notes += _guesses(run, rerun)
    left_out = 0
    for stamp in stamps:
        gap = stamp - rerun.stamp
        report.resets += gap >= RESET_GAP
        left_out += 0 if gap >= RESET_GAP else max(0, gap // rerun.period - 1)
        try:
            rerun.go_to(stamp)
        except SimulationDiverged as error:
            raise CannotReplay(f"the replay of {run.namespace} does not get to {stamp} ns: {error}") from None
        if rerun.stamp != stamp:
            raise CannotReplay(f"{run.namespace}: the state stamped {stamp} ns is at none of the control periods")
        _compare_state(run, rerun, stamp, report)
        if report.difference is not None:
            break
    if left_out:
        report.notes.append(f"{left_out} states are not in the bag: they were computed, but could not be compared")
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


def _guesses(run: RecordedRun, rerun: Rerun) -> list[str]:
    """What acted at an instant that the recording does not know exactly."""
    notes = []
    if not rerun.is_lockstep and run.arrivals:
        notes.append("recorded in async mode: when exactly a command acted is not known, use lockstep for equal bits")
    loose = sum(not stamped for _, stamped, _ in run.couplings)
    if loose:
        notes.append(f"{loose} coupling commands had no stamp: when exactly they acted is not known")
    pushes = len(rerun.pushes_from_outside)
    if pushes:
        notes.append(f"{pushes} wrenches came from outside: when exactly they acted is not known")
    return notes


def _compare_state(run: RecordedRun, rerun: Rerun, stamp: int, report: ReplayReport) -> None:
    """Compare everything that was published at this stamp."""
    now = rerun.joint_state()
    if len(set(run.states[stamp])) > 1:
        raise CannotReplay(f"{run.namespace}: at {stamp} ns the state was set from outside, which is not in the bag")
    for data in run.states[stamp]:
        then = joint_message(data)
        if then.names != rerun.joint_names:
            raise CannotReplay(f"{run.namespace}: joint_states at {stamp} ns has other joints than the robot")
        for part, values in now.items():
            labels = [f"{part} of '{name}'" for name in then.names]
            _compare(stamp, labels, getattr(then, part), values, report)
        report.states += 1
    for data in run.odometry.get(stamp, ()):
        odometry = odometry_message(data)
        base = rerun.odometry()
        _compare(stamp, [f"base's {name}" for name in POSE], odometry.pose, base["pose"], report)
        _compare(stamp, [f"base's twist {name}" for name in TWIST], odometry.twist, base["twist"], report)


def _compare(stamp: int, labels: list[str], then: np.ndarray, now: np.ndarray, report: ReplayReport) -> None:
    if then.tobytes() == now.tobytes() or report.difference is not None:
        return
    scaled = np.abs(then - now) / (1.0 + np.abs(then))
    report.largest = max(report.largest, float(scaled.max()))
    wrong = ~(scaled <= report.tolerance) if report.tolerance else then.view(np.int64) != now.view(np.int64)
    if wrong.any():
        k = int(wrong.argmax())
        report.difference = Difference(stamp, labels[k], float(then[k]), float(now[k]))
