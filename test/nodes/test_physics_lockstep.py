# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The physics node in lockstep: exact repetition, refusals, missing controllers, time that never goes back."""

from __future__ import annotations

import copy
import signal
import time

import numpy as np
import pytest
from physics_process import PATIENCE, ROOT, Client, ns, stamp, start_node, stop
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

ARM = f"robot_file:={ROOT}/urdf/arm.urdf.xacro"
LOCKSTEP = ("sync:=lockstep", "real_time_factor:=0.0")
TARGET = [0.2, 0.5, 1.0, 0.2, 0.1, 0.3]


@pytest.fixture
def client():
    client = Client()
    yield client
    client.close()


@pytest.fixture
def physics():
    started = []

    def start(*parameters, **options):
        started.append(start_node("physics", *parameters, **options))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            print(stop(process))  # for whoever looks for the cause of a failure


def run(physics, meddle=None):
    """States of 150 rounds as bytes."""
    process = physics(ARM, *LOCKSTEP)
    client = Client()  # a new one for each run: none that has a last state of the run before in its queue
    if meddle is not None:
        client.wait_for_state()
        meddle(client)
    states = client.lockstep(150, position=TARGET)
    written = stop(process)
    client.close()
    return [content(state) for state in states], written


def content(state):
    """Every number of a state, bit for bit. (Its serialised form has bytes between them that mean nothing.)"""
    arrays = (np.array(part).tobytes() for part in (state.position, state.velocity, state.effort))
    return stamp(state), tuple(state.name), *arrays


def malformed(rng, state):
    """A command that must be refused, of any of a dozen kinds, with the stamp of the state or another."""
    message = JointState(name=list(state.name))
    message.header.stamp = copy.copy(state.header.stamp)
    kind = rng.integers(9)
    n = len(state.name)
    values = rng.normal(size=n)
    if kind == 0:
        values[rng.integers(n)] = rng.choice([np.nan, np.inf, -np.inf])
    elif kind == 1:
        values = values[: rng.integers(1, n)]
    elif kind == 2:
        values = rng.normal(size=n + rng.integers(1, 500))
    elif kind == 3:
        message.name = ["", *state.name[1:]]
    elif kind == 4:
        message.name = [*state.name[1:], "no_such_joint_" + "x" * int(rng.integers(2000))]
    elif kind == 5:
        message.name = [state.name[0]] * n
    elif kind == 6:
        message.header.stamp.sec += int(rng.integers(1, 1000))
    elif kind == 7:
        message.header.stamp.sec = -int(rng.integers(1, 1000))
    else:
        message.name = []
    setattr(message, ("position", "velocity", "effort")[rng.integers(3)], values.tolist())
    return message


def test_the_same_commands_give_the_same_bytes_whoever_meddles(physics):
    """5,000 malformed commands are refused and counted, and change no bit."""
    quiet, _ = run(physics)
    rng = np.random.default_rng(5)

    def meddle(client):
        fuzz = client.create_publisher(JointState, "joint_commands", 100)
        bad_names = client.create_publisher(String, "coupling_command", 100)
        client.spin_until(lambda: fuzz.get_subscription_count(), "physics to listen")
        for k in range(5_000):
            fuzz.publish(malformed(rng, client.states[-1]))
            if k % 5 == 0:
                time.sleep(0.001)
            if k % 100 == 0:
                bad_names.publish(String(data=rng.choice(["", "nothing", "normal@x", "@", "a@-1"])))

    disturbed, written = run(physics, meddle)
    assert disturbed == quiet
    for cause in ("not finite", "wrong size", "unknown name", "joint named twice", "stale stamp"):
        assert written.count(f"refused a command ({cause})") == 1, written


def test_time_never_goes_back_through_pause_step_reset(client, physics):
    transforms = []
    client.create_subscription(TFMessage, "/tf", lambda m: transforms.append(ns(m.transforms[0].header.stamp)), 1000)
    physics(ARM, *LOCKSTEP)
    client.lockstep(50, position=TARGET)
    said = client.call("pause").message
    paused_at = round(
        1e9 * float(said.removeprefix("paused at ").removesuffix(" s"))
    )  # perhaps one state after the last we have
    client.spin_until(lambda: stamp(client.states[-1]) == paused_at, "the state at which it paused")
    client.answer(client.states[-1], position=TARGET)
    assert client.call("step").success
    client.spin_until(lambda: stamp(client.states[-1]) == paused_at + 2_000_000, "the state after one step")
    client.spin_until(lambda: client.clocks[-1] == paused_at + 2_000_000, "the clock of that step")
    assert client.call("resume").message == "goes on"
    client.lockstep(10, position=TARGET)
    before = stamp(client.states[-1])
    assert client.call("reset").success
    client.spin_until(lambda: stamp(client.states[-1]) >= before + 1_000_000_000, "the state after the reset")
    assert client.states[-1].position.tolist() == [0.0, 0.4, 1.2, 0.3, 0.0, 0.0]
    client.lockstep(20, position=TARGET)
    assert all(np.diff(client.clocks) >= 0)
    assert len(set(transforms)) == len(transforms) and all(np.diff(transforms) > 0)


def test_a_missing_controller_is_named_and_the_arm_holds_until_it_is_back(client, physics):
    process = physics(ARM, *LOCKSTEP, "lockstep_timeout:=0.5", "lockstep_participants:=[client]")
    client.lockstep(200, position=TARGET)
    held = np.array(client.states[-1].position)
    silent_since = stamp(client.states[-1])
    client.spin_until(lambda: stamp(client.states[-1]) > silent_since + 400_000_000, "time to go on without it")
    assert np.abs(np.array(client.states[-1].position) - held).max() < 0.05
    states = client.lockstep(200, position=TARGET)
    assert np.abs(np.array(states[-1].position) - TARGET).max() < 0.05
    assert np.isfinite([state.position for state in states]).all()
    written = stop(process)
    assert "no answer from /client: hold until it is back" in written
    assert "all participants are back" in written


def test_a_run_of_a_given_duration_ends_by_itself(client, physics):
    process = physics(ARM, "start:=run", "real_time_factor:=0.0", "duration:=0.5")
    assert process.wait(timeout=240) == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (("robot_file:=/nowhere.urdf",), "nowhere.urdf"),
        ((ARM, "sync:=sometimes"), "sync: expected one of 'lockstep', 'async', got 'sometimes'"),
        ((ARM, "control_period:=0.0015"), "control_period: expected a multiple of dt"),
        ((ARM, "initial_state:=hme"), "hme"),
        ((ARM, "use_sim_time:=true"), "use_sim_time"),
        ((ARM, "coupling:=normal"), "normal"),
        (
            (ARM, "integrator:=rk5"),
            "integrator: expected one of 'lie_variational', 'quaternion_variational', 'energy_stable'",
        ),
        ((ARM, "integrator:=rk4"), "integrator 'rk4' does not go with damping of waist"),
    ],
)
def test_bad_parameters_end_it_with_the_reason(physics, parameters, message):
    process = physics(*parameters)
    written = process.communicate(timeout=240)[0]
    assert process.returncode == 2
    assert message in written and "Traceback" not in written


def test_ctrl_c_ends_it_cleanly(client, physics):
    process = physics(ARM, "start:=run")
    client.wait_for_state()
    process.send_signal(signal.SIGINT)
    written = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0 and "Traceback" not in written
