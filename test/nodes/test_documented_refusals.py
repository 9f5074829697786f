# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""docs/errors.md, commands over ROS: every refusal in its table is provoked, and reads as the page says."""

from __future__ import annotations

import re
import time

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from physics_process import PATIENCE, ROOT, Client, stamp, start_node, stop
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.nodes.physics.inputs import MOST_COUPLINGS
from mbsim_ros.nodes.physics.lockstep import DUPLICATE, FUTURE, NOT_A_PARTICIPANT, STALE
from mbsim_ros.sim.drives.drive_table import CAUSES

PAGE = (ROOT / "docs/errors.md").read_text().partition("## Commands over ROS")[2]
# `elbow` has no kd, and this integrator has no couplings.
SIDECAR = "couplings: {tied: {motors: {drive: {shoulder: 1, elbow: -2}}}}\ngains: {elbow: {kp: 80, kd: 0}}\n"


def table() -> dict[str, str]:
    """Cause → what the log says of it, from the page."""
    section = PAGE.partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (?:`([^`]+)`|[^|`]*) \|", section, flags=re.MULTILINE))


def test_the_table_has_every_cause():
    source = (ROOT / "mbsim_ros/nodes/physics/inputs.py").read_text()
    named = {*re.findall(r'refuse\(\s*"([^"]+)"', source), *CAUSES, DUPLICATE, STALE, FUTURE, NOT_A_PARTICIPANT}
    assert {"not finite", "wrong size", "stale stamp", "bad wrench"} <= named
    assert named <= set(table())


class Talker(Client):
    """Says what must be refused, and hears what was."""

    def __init__(self):
        super().__init__()
        self.refused: set[str] = set()
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._couplings = self.create_publisher(String, "coupling_command", 2 * MOST_COUPLINGS)
        self._wrenches = self.create_publisher(WrenchStamped, "wrench", 10)

    def _on_diagnostics(self, message):
        keys = [value.key for status in message.status for value in status.values]
        self.refused |= {key.removeprefix("refused: ") for key in keys if key.startswith("refused: ")}

    def command(self, at, sender="/client", name=("shoulder", "elbow"), **parts):
        message = JointState(name=list(name), **parts)
        message.header.frame_id = sender
        message.header.stamp.nanosec = at
        self.commands.publish(message)

    def say_what_is_wrong(self):
        """To the state of 0 ns, all that is no answer to it."""
        self.commands.publish(b"\x00\x01\x00\x00\x01")
        self.command(0, name=("shoulder", "elbo"), effort=[0.0, 0.0])
        self.command(0, effort=[0.0])
        self.command(0, effort=[0.0, float("nan")])
        self.command(0, name=("elbow", "elbow"), effort=[0.0, 0.0])
        self.command(0, velocity=[0.0, 0.0])
        self.command(0, sender="/stranger", effort=[0.0, 0.0])
        self.command(4_000_000, effort=[0.0, 0.0])
        in_a_year = "tied@31536000000000000"
        for coupling in (
            "tied",
            "tied@soon",
            "tie",
            "{motors: {drive: {sholder: 1}}}",
            *([in_a_year] * MOST_COUPLINGS),
        ):
            self._couplings.publish(String(data=coupling))
        wrench = WrenchStamped()
        wrench.header.frame_id = "lower_rd"
        self._wrenches.publish(wrench)

    def until_refused(self, causes, say):
        """Say it again every second, for whoever was not heard yet, until all of it is refused."""
        end = time.monotonic() + PATIENCE
        while not causes <= self.refused:
            assert time.monotonic() < end, f"not refused: {causes - self.refused}"
            say()
            again = time.monotonic() + 1.0
            self.spin_until(lambda until=again: causes <= self.refused or time.monotonic() > until, "a second")

    def answer_until(self, at):
        """Answer states until there is one of this stamp."""
        seen = None
        while not (self.states and stamp(self.states[-1]) >= at):
            self.spin_until(lambda last=seen: self.states and self.states[-1] is not last, "a state")
            seen = self.states[-1]
            if stamp(seen) < at:
                self.command(stamp(seen), effort=[0.0, 0.0])
        assert stamp(self.states[-1]) == at

    def set_timeout(self, seconds):
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=seconds)
        request = SetParameters.Request(parameters=[Parameter(name="lockstep_timeout", value=value)])
        assert self.call("physics/set_parameters", SetParameters, request).results[0].successful


@pytest.fixture
def talker():
    talker = Talker()
    yield talker
    talker.close()


def test_every_refusal_of_the_page(talker, tmp_path):
    sidecar = tmp_path / "pendulum.mbsim.yaml"
    sidecar.write_text(SIDECAR)
    process = start_node(
        "physics", f"robot_file:={ROOT}/urdf/double_pendulum.urdf", f"sidecar:={sidecar}", "sync:=lockstep",
        "integrator:=quaternion_variational", "lockstep_participants:=[client]", "lockstep_timeout:=1000.0",
        "real_time_factor:=0.0", "diagnostics_period:=0.05",
    )  # fmt: skip
    try:
        talker.wait_for_state()
        later = {"coupling not possible", "stale stamp", "duplicate"}
        talker.until_refused(set(table()) - later, talker.say_what_is_wrong)
        talker.answer_until(4_000_000)
        talker.until_refused({"coupling not possible"}, lambda: None)
        talker.until_refused({"stale stamp"}, lambda: talker.command(0, effort=[0.0, 0.0]))
        talker.until_refused({"duplicate"}, lambda: talker.command(2_000_000, effort=[0.0, 0.0]))
        talker.set_timeout(0.3)
        talker.spin_until(lambda: stamp(talker.states[-1]) > 100_000_000, "time to go on without the client")
        talker.lockstep(50, effort=[0.0, 0.0])
    finally:
        written = stop(process)
    assert talker.refused == set(table())
    for cause, detail in table().items():
        end = "" if detail.endswith("…") else "; further ones are counted in /diagnostics"
        line = f"refused a command ({cause}): {detail.removesuffix('…')}{end}"
        assert (line in written) == (cause != "duplicate"), f"{line}\n{written}"
    for said in ("no answer from /client: hold until it is back", "all participants are back"):
        assert said in written and said in PAGE
