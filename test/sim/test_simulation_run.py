# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`run`: controllers, recordings, the progress bar."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from sim_robots import crawler, pendulum

from mbsim_ros import Simulation, SimulationDiverged
from mbsim_ros.control.command import JointCommand
from mbsim_ros.sim import Recorder, run_loop


@pytest.fixture
def sim():
    return Simulation(pendulum())


class Terminal(io.StringIO):
    """Standard error as somebody looks at it."""

    def isatty(self) -> bool:
        return True


def test_it_is_as_many_steps(sim):
    other = Simulation(pendulum())
    assert sim.run(1.2) is None
    other.advance(1200)
    assert sim.snapshot() == other.snapshot()
    sim.run(0.0)
    assert sim.time == 1_200_000_000


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"seconds": -1}, "seconds: expected a time of 0 s or more"),
        ({"seconds": np.nan}, "seconds: expected a finite"),
        (
            {"seconds": 0.1, "control_period": 0.0015, "controller": lambda sim: None},
            "control_period: expected a multiple",
        ),
        ({"seconds": 0.1, "control_period": 0, "controller": lambda sim: None}, "control_period"),
        ({"seconds": 0.1, "controller": 3}, "controller: expected something with update"),
        ({"seconds": 0.1, "controller": lambda sim: "go"}, "controller: expected None, efforts, or an object"),
        ({"seconds": 0.1, "record": ["position"]}, "record: no channel named 'position'"),
        (
            {"seconds": 0.1, "controller": lambda sim: [1.0]},
            "controller: expected 2 efforts, for shoulder, elbow, got 1",
        ),
    ],
)
def test_bad_arguments_change_nothing(sim, arguments, match):
    before = sim.snapshot()
    with pytest.raises(ValueError, match=match):
        sim.run(**arguments)
    assert sim.snapshot() == before


class TestControllers:
    def test_a_callable_is_asked_every_step(self, sim):
        other, times = Simulation(pendulum()), []

        def control(simulation):
            times.append(simulation.time)
            return -2.0 * simulation.v

        sim.run(0.05, control)
        for _ in range(50):
            other.step(-2.0 * other.v)
        assert times == [k * 1_000_000 for k in range(50)]
        np.testing.assert_array_equal(sim.q, other.q)

    def test_an_object_sees_the_state_and_its_efforts_hold(self, sim):
        class Controller:
            def __init__(self):
                self.seen = []

            def update(self, t, state):
                self.seen.append((t, state.time, state.q.copy(), state.coupling))
                return {"shoulder": 1.0 + t}

        controller, other = Controller(), Simulation(pendulum())
        sim.run(0.025, controller, control_period=0.01)
        assert [seen[:2] for seen in controller.seen] == [(0.0, 0), (0.01, 10_000_000), (0.02, 20_000_000)]
        assert controller.seen[0][3] == "identity"
        for tau, steps in ((1.0, 10), (1.01, 10), (1.02, 5)):
            other.advance(steps, {"shoulder": tau})
        assert sim.snapshot() == other.snapshot()

    def test_a_command_may_drive_motors_and_change_the_coupling(self, sim):
        def control(simulation):
            if simulation.seconds < 0.01:
                return SimpleNamespace(position={"shoulder": 0.4}, effort={"elbow": 0.1})
            return SimpleNamespace(coupling="belt", motor={"drum": 1.0}, effort=None)

        other = Simulation(pendulum())
        sim.run(0.02, control, control_period=0.005)
        other.drive(position={"shoulder": 0.4})
        other.advance(10, {"elbow": 0.1})
        other.couple("belt")
        other.advance(10, motor=[1.0])
        assert sim.snapshot() == other.snapshot()


class TestRecording:
    def test_rows_are_the_states_of_the_run(self, sim):
        recording = sim.run(0.1, record=Recorder(("q", "v", "energy", "momentum", "iterations"), every=10))
        assert recording.time_ns.tolist() == [k * 10_000_000 for k in range(11)]
        np.testing.assert_allclose(recording.seconds, np.arange(11) / 100)
        assert recording.q.shape == (11, 2) and recording["momentum"].shape == (11, 6)
        other = Simulation(pendulum())
        for row in range(11):
            np.testing.assert_array_equal(recording.q[row], other.q)
            np.testing.assert_array_equal(recording.v[row], other.v)
            energy = other.energy()
            np.testing.assert_allclose(recording.energy[row], [energy.kinetic, energy.potential, 0, 0, energy.total])
            other.advance(10)
        assert recording.iterations.dtype == np.int64 and recording.iterations[-1] >= 10

    def test_it_does_not_change_the_motion(self, sim):
        other = Simulation(pendulum())
        sim.run(0.123, record=True, control_period=0.003, controller=lambda s: None)
        other.run(0.123)
        assert sim.q.tobytes() == other.q.tobytes()

    def test_contact_channels(self):
        sim = Simulation(crawler())
        names = ("contact_modes", "contact_forces", "penetrations", "ledger")
        recording = sim.run(0.2, record=Recorder(names, every=50))
        assert recording.contact_modes.shape == (5, 4) and recording.contact_forces.shape == (5, 4, 3)
        assert recording.contact_modes[0].tolist() == [1] * 4 and (recording.contact_modes[-1] > 1).any()
        np.testing.assert_array_equal(recording.penetrations[-1], [report.penetration for report in sim.contacts()])
        assert list(recording) == ["time_ns", *names] and len(recording) == 5

    def test_names_alone_record_every_step(self, sim):
        assert len(sim.run(0.01, record=["q"])) == 11
        assert len(sim.run(0.01, record="q")) == 11
        with pytest.raises(ValueError, match="every: expected"):
            Recorder(every=0)
        with pytest.raises(AttributeError, match="no channel named 'v'"):
            sim.run(0.001, record="q").v  # noqa: B018
        with pytest.raises(KeyError, match="no channel named 'v'"):
            sim.run(0.001, record="q")["v"]

    def test_it_is_saved_as_one_file(self, sim, tmp_path):
        recording = sim.run(0.01, record=True)
        recording.save(tmp_path / "run.npz")
        with np.load(tmp_path / "run.npz") as file:
            assert {"energy", "q", "time_ns", "v"} < set(file.files)
            np.testing.assert_array_equal(file["q"], recording.q)

    def test_what_was_recorded_before_a_failure_is_not_lost(self):
        sim = Simulation(crawler())

        def meddle(running_sim):
            if running_sim.seconds >= 0.2:  # absurd: no number of parts helps
                running_sim.integrator.joints.damping[-1], running_sim.integrator.external[:] = 1e18, 1e15

        with pytest.raises(SimulationDiverged) as caught:
            sim.run(1.0, meddle, record=["q"])
        recording = caught.value.recording
        assert 1 < len(recording) <= 1 + sim.time // 1_000_000
        assert np.isfinite(recording.q).all()


class TestProgress:
    def test_nobody_looks_so_nothing_is_shown(self, sim, capsys, monkeypatch):
        monkeypatch.setattr(run_loop, "SHOWN_AFTER", 0.0)
        sim.run(0.6)
        assert capsys.readouterr().err == ""

    def test_it_is_shown_on_a_terminal_when_it_takes_long(self, sim, monkeypatch):
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        sim.run(0.6)
        assert terminal.getvalue() == ""  # over before anybody wonders
        monkeypatch.setattr(run_loop, "SHOWN_AFTER", 0.0)
        sim.run(0.6, progress=False)
        assert terminal.getvalue() == ""
        sim.run(0.6)
        assert "% of the run" in terminal.getvalue()

    def test_it_is_shown_when_asked_for(self, sim, capsys):
        sim.run(0.6, progress=True)
        assert "100 % of the run" in capsys.readouterr().err


def test_nothing_is_logged_in_an_ordinary_run(sim, caplog):
    with caplog.at_level(logging.INFO):
        sim.run(0.1)
    assert not caplog.records


@pytest.mark.parametrize("part", ["position", "effort"])
def test_a_command_is_of_the_joints_that_it_names_in_its_order(part):
    values = {"shoulder": 0.3, "elbow": -0.2}

    def end_of(names):
        sim = Simulation("urdf/arm.urdf.xacro")

        class Asks:
            def update(self, t, state):
                return JointCommand(names, **{part: np.array([values.get(name, 0.0) for name in names])})

        sim.run(0.1, Asks(), control_period=0.01)
        return sim.q

    every = Simulation("urdf/arm.urdf.xacro").tau_names
    np.testing.assert_array_equal(end_of(every), end_of(every[::-1]))
    some = end_of(("elbow", "shoulder"))
    if part == "effort":  # those that are not named have none
        np.testing.assert_array_equal(some, end_of(every))
    else:
        sim = Simulation("urdf/arm.urdf.xacro")
        sim.drive(position=values)
        sim.run(0.1)
        np.testing.assert_array_equal(some, sim.q)


def test_a_command_with_fewer_numbers_than_names_is_refused():
    class Asks:
        def update(self, t, state):
            return JointCommand(("elbow", "shoulder"), position=np.zeros(3))

    with pytest.raises(ValueError, match="2 names, got 3"):
        Simulation("urdf/arm.urdf.xacro").run(0.1, Asks())
