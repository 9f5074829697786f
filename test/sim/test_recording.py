# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What becomes of a recording: it is loaded again, computed again, and the simulation it is of is left as it was."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mbsim_ros import Recorder, Recording, Simulation
from mbsim_ros.bags.recording.history import history_of
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import height_field

ROOT = Path(__file__).resolve().parents[2]
CONTACTS = ("contact_modes", "contact_positions", "contact_forces")


@pytest.fixture(scope="module")
def sim():
    return Simulation(ROOT / "urdf/walker.urdf.xacro")


def wavy(sim):
    """Efforts in an array that is written to again and again, as careless controllers do."""
    wavy.efforts = getattr(wavy, "efforts", np.zeros(len(sim.tau_names)))
    wavy.efforts[:] = 3.0 * np.sin(20.0 * sim.seconds)
    return wavy.efforts


def test_it_says_what_it_has(sim):
    sim.reset()
    assert repr(sim.run(0.01, record=("q", "iterations"))) == "Recording(11 rows, 0 … 0.01 s: q (24,), iterations ())"


class TestFiles:
    def test_a_file_tells_the_robot_and_its_ground(self, sim, tmp_path):
        recording = sim.run(0.01, record=True)
        recording.save(tmp_path / "run.npz")
        for again in (Recording.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(recording))):
            assert list(again) == list(recording) and again.joint_names == recording.joint_names
            for name in recording:
                np.testing.assert_array_equal(again[name], recording[name])
            assert again.model.nv == sim.model.nv and again.model.is_floating
            np.testing.assert_array_equal(again.model.topology, sim.model.topology)
            assert again.model.mass == sim.model.mass
            assert str(again.ground) == str(sim.scene.ground)
        Recording.load(tmp_path / "run.npz").save(tmp_path / "once_more.npz")
        assert Recording.load(tmp_path / "once_more.npz").model.name == "walker"

    def test_hills_are_kept(self, sim, tmp_path):
        hills = height_field([[0.0, 0.1], [-3.0, -3.2]], 0.5)
        with pytest.warns(ContactWarning):
            on_hills = Simulation(sim.model, terrain=hills)
        on_hills.reset(on_hills.model.neutral + np.eye(on_hills.model.nq)[2] * 9.0)
        on_hills.run(0.001, record="q").save(tmp_path / "run.npz")
        ground = Recording.load(tmp_path / "run.npz").ground
        np.testing.assert_array_equal(ground.grid, hills.grid)
        np.testing.assert_array_equal(ground.data, hills.data)

    def test_files_of_something_else(self, sim, tmp_path):
        np.savez(tmp_path / "arrays.npz", q=np.zeros((3, 2)))
        (tmp_path / "text.npz").write_text("nothing")
        for name in ("arrays.npz", "text.npz"):
            with pytest.raises(ValueError, match=f"{name}: not a recording"):
                Recording.load(tmp_path / name)
        np.savez(tmp_path / "bare.npz", time_ns=np.zeros(3, np.int64), q=np.zeros((3, 2)))
        bare = Recording.load(tmp_path / "bare.npz")
        with pytest.raises(ValueError, match="does not say which robot it is of"):
            bare.model  # noqa: B018


class TestComputedAgain:
    def test_contacts_and_ledger_are_those_of_the_run(self, sim):
        sim.reset()
        sim.push("top", [0.0, 8.0, 0.0])
        names = ("q", "v", "ledger", *CONTACTS)
        recording = sim.run(0.3, wavy, control_period=0.004, record=Recorder(names, every=3))
        sim.push("top", None)
        before = sim.snapshot()
        bare = Recording({name: recording[name] for name in ("time_ns", "q")}, (), recording.scene, recording.log)
        history = history_of(bare)
        assert history.notes == [] and sim.snapshot() == before
        np.testing.assert_array_equal(history.ledger, recording["ledger"])
        assert (recording["contact_modes"] != ContactMode.NO_CONTACT).any()
        labels = [f"{report.link} {report.label}".strip() for report in sim.contacts()]
        columns = [labels.index(label) for label in history.contacts.labels]
        on = recording["contact_modes"][:, columns] != ContactMode.NO_CONTACT
        np.testing.assert_array_equal(history.contacts.modes, recording["contact_modes"][:, columns])
        np.testing.assert_array_equal(history.contacts.forces[on], recording["contact_forces"][:, columns][on])
        others = [k for k in range(len(labels)) if k not in columns]
        assert (recording["contact_modes"][:, others] == ContactMode.NO_CONTACT).all()
        asked = np.maximum(np.ceil(recording.seconds / 0.004 - 1e-9) - 1, 0) * 0.004  # when the controller was last
        expected = np.where(recording.seconds > 0.0, 3.0 * np.sin(20.0 * asked), 0.0)
        np.testing.assert_allclose(history.effort[:, 0], expected, atol=1e-12)

    def test_drives_and_couplings_of_a_controller_are_done_again(self, sim):
        sim.reset()
        start = sim.coupling

        def gait(sim):
            coupling = "normal" if sim.seconds > 0.05 else None
            gains = dict.fromkeys(sim.tau_names, 40.0)
            wanted = dict.fromkeys(sim.tau_names, 0.1 * np.sin(9 * sim.seconds))
            return SimpleNamespace(position=wanted, kp=gains, kd=dict.fromkeys(sim.tau_names, 1.0), coupling=coupling)

        recording = sim.run(0.1, gait, control_period=0.01, record="q")
        history = history_of(recording, most=20)
        assert history.notes == [] and len(history.q) <= 20
        assert history.coupling[-1] == "normal" and history.ledger is not None
        sim.couple(start)
        sim.release_drives()

    def test_a_controller_costs_what_it_changes(self, sim):
        """A log of drives in full would have megabytes for every second."""
        sim.reset()
        recording = sim.run(0.1, lambda sim: SimpleNamespace(position={"AFL_t": 0.1 * sim.seconds}), record="q")
        sim.release_drives()
        assert max(len(action.values) for action in recording.log.actions[1:]) == 1
        assert history_of(recording).notes == []

    def test_what_is_not_the_same_is_not_shown(self, sim):
        sim.reset()

        def meddler(sim):
            if sim.time == 50_000_000:  # nobody could know
                for momentum in (sim.integrator.state.p, sim.integrator.state.mu):
                    momentum *= 0.999

        history = history_of(sim.run(0.1, meddler, record="q"))
        assert history.contacts is None and history.ledger is None
        assert "it is not the same from 0.05" in history.notes[0]

    def test_a_time_that_goes_back_is_told(self, sim):
        sim.reset()
        recording = sim.run(0.02, lambda sim: sim.reset() if sim.time == 10_000_000 else None, record="q")
        assert "its time goes back" in history_of(recording).notes[0]

    def test_a_recording_without_q_says_what_it_lacks(self, sim):
        with pytest.raises(ValueError, match="no channel q"):
            history_of(Simulation(sim.model).run(0.001, record="energy"))
