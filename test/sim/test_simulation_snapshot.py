# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Snapshots: continuing bit for bit, in this process and in another; refusing those of something else."""

from __future__ import annotations

import os
import pickle
import secrets
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sim_robots import crawler, gripper, pendulum

from mbsim_ros import Simulation
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.sim import Snapshot

CONTINUE = """
import sys
sys.path[:0] = sys.argv[1:3]
from sim_robots import crawler
from mbsim_ros import Simulation
from mbsim_ros.sim import Snapshot
sim = Simulation(crawler())
sim.restore(Snapshot.load(sys.argv[3]))
sim.advance(150)
sim.snapshot().save(sys.argv[4])
"""


def standing_with_a_clutch() -> Simulation:
    """The crawler in the middle of a run: on its feet, motors engaged and driven, pushed."""
    sim = Simulation(crawler())
    sim.drive(position=dict.fromkeys(sim.tau_names, 0.0))
    sim.advance(300)
    sim.couple("sides")
    sim.drive_motors(position={"left": 0.1, "right": -0.05}, effort={"left": 0.2})
    sim.push("body", (0.5, 0.2, 0), at=(0.1, 0, 0))
    sim.advance(137)
    return sim


@pytest.fixture(scope="module")
def interrupted():
    """A snapshot in the middle of a run, and the one 150 steps later without interruption."""
    sim = standing_with_a_clutch()
    snapshot = sim.snapshot()
    assert ContactMode.STICKING in [report.mode for report in sim.contacts()]
    assert sim.coupling.name == "sides"
    sim.advance(150)
    return snapshot, sim.snapshot()


def test_going_back_and_on_again(interrupted):
    snapshot, later = interrupted
    sim = standing_with_a_clutch()
    assert sim.snapshot() == snapshot  # the same run twice, to begin with
    sim.advance(40)
    sim.couple("braked")
    sim.release_drives()
    sim.push("body", None)
    sim.advance(40)
    sim.restore(snapshot)
    assert sim.coupling.name == "sides" and sim.time == 437_000_000
    assert sim.snapshot() == snapshot
    sim.advance(100)
    sim.advance(50)
    assert sim.snapshot() == later
    assert sim.motor_names == ("left", "right")
    sim.step(motor={"left": 1.0})  # names and drives belong to the coupling that came back


def test_in_a_simulation_made_anew(interrupted):
    snapshot, later = interrupted
    sim = Simulation(crawler())
    sim.restore(snapshot)
    sim.advance(150)
    assert sim.snapshot() == later
    ledger = sim.ledger()
    sim.restore(snapshot)
    assert sim.ledger() != ledger
    sim.restore(later)
    assert sim.ledger() == ledger


def test_in_another_process(interrupted, tmp_path):
    snapshot, later = interrupted
    snapshot.save(tmp_path / "begin.npz")
    here, project = Path(__file__).parent, Path(__file__).resolve().parents[2]
    arguments = [str(here), str(project), str(tmp_path / "begin.npz"), str(tmp_path / "end")]
    subprocess.run([sys.executable, "-c", CONTINUE, *arguments], check=True)
    assert Snapshot.load(tmp_path / "end") == later
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begin.npz", "end"]


def test_pickled(interrupted):
    snapshot, _ = interrupted
    again = pickle.loads(pickle.dumps(snapshot))
    assert again == snapshot and hash(again) == hash(snapshot)
    with pytest.raises(ValueError):
        again.arrays["books"][0] = 1.0


def test_it_cannot_be_changed(interrupted):
    snapshot, later = interrupted
    with pytest.raises(ValueError, match="read-only"):
        snapshot.arrays["engine.state.q"][0] = 1.0
    with pytest.raises(TypeError):
        snapshot.arrays["engine.state.q"] = np.zeros(3)
    with pytest.raises(AttributeError):
        snapshot.facts = ""
    assert snapshot != later and snapshot != 3


@pytest.mark.parametrize(
    ("robot", "integrator"),
    [(pendulum, "lie_variational"), (gripper, "lie_variational"), (pendulum, "rk4"), (pendulum, "lie_euler")],
)
def test_other_robots_and_integrators(robot, integrator):
    sim = Simulation(robot(), integrator=integrator)
    sim.drive(effort=[0.3, 0.1])
    sim.advance(20)
    snapshot = sim.snapshot()
    sim.advance(20)
    later = sim.snapshot()
    sim.restore(snapshot)
    assert sim.time == 20_000_000
    sim.advance(20)
    assert sim.snapshot() == later


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (lambda: Simulation(pendulum(), 2e-3), "dt: 2000000 in the snapshot, 1000000 here"),
        (lambda: Simulation(pendulum(), quadrature="trapezoidal"), "quadrature: 'trapezoidal'"),
        (lambda: Simulation(pendulum(), retraction="exp"), "retraction"),
        (lambda: Simulation(pendulum(), order=4), "order: 4"),
        (lambda: Simulation(pendulum(), integrator="rk4"), "integrator: 'rk4'"),
        (lambda: Simulation(gripper()), "model: 'gripper"),
        (lambda: Simulation(crawler()), "contact points"),
    ],
)
def test_a_snapshot_of_something_else_changes_nothing(other, difference):
    sim = Simulation(pendulum())
    sim.advance(5)
    before = sim.snapshot()
    with pytest.raises(ValueError, match=difference):
        sim.restore(other().snapshot())
    assert sim.snapshot() == before


def test_contact_parameters_and_springs_are_part_of_it():
    snapshot = Simulation(crawler()).snapshot()
    with pytest.raises(ValueError, match="contact parameters"):
        Simulation(crawler(), contact={"friction": 0.5}).restore(snapshot)
    with pytest.raises(ValueError, match="springs"):
        Simulation(crawler(), springs=()).restore(snapshot)
    with pytest.raises(ValueError, match="terrain"):
        Simulation(crawler(), terrain=False).restore(snapshot)


def test_a_damaged_snapshot_changes_nothing(interrupted):
    snapshot, _ = interrupted
    arrays = {name: array for name, array in snapshot.arrays.items() if name != "engine.state.p"}
    damaged = Snapshot(snapshot.facts, arrays)
    sim = Simulation(crawler())  # in another coupling than the snapshot's
    before = sim.snapshot()
    with pytest.raises(ValueError, match="state.p"):
        sim.restore(damaged)
    assert sim.snapshot() == before
    assert sim.coupling.name == "identity"
    with pytest.raises(ValueError, match="expected a Snapshot, got str"):
        sim.restore("yesterday")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nonsense", b"some text"])
def test_files_that_are_no_snapshots(tmp_path, content):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="file.npz: not a snapshot"):
        Snapshot.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a snapshot"):
        Snapshot.load(path)
    with pytest.raises(FileNotFoundError):
        Snapshot.load(tmp_path / "missing.npz")


def test_nobody_can_lay_a_link_under_the_file_that_is_written(interrupted, tmp_path, monkeypatch):
    """In a folder of all, such as /tmp, others could know the name of what is written before it is moved."""
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / f".a.npz.{os.getpid()}").symlink_to(tmp_path / "theirs")
    (tmp_path / ".a.npz.guessed").symlink_to(tmp_path / "theirs")
    interrupted[0].save(tmp_path / "a.npz")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "guessed")
    with pytest.raises(FileExistsError):
        interrupted[0].save(tmp_path / "a.npz")
    assert (tmp_path / "theirs").read_text() == "kept"
    assert Snapshot.load(tmp_path / "a.npz") == interrupted[0]
