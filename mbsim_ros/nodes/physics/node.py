# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The physics node: integrates a robot, publishes its state, and goes on when its controllers have answered.

One instant after the other: publish the state stamped t, wait until it may go on (answers in lockstep, the wall clock,
pause, the owner of /clock), act on the commands, take the steps of one control period in one compiled call.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future
from rosgraph_msgs.msg import Clock

from mbsim_ros.bags.journal import STAND_BY
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.nodes.composition.address import is_composed
from mbsim_ros.nodes.composition.host import CompositionHost
from mbsim_ros.nodes.parameters import declare
from mbsim_ros.nodes.physics.entities.interfaces import EntityInterfaces
from mbsim_ros.nodes.physics.entities.scene_changes import SceneChanges
from mbsim_ros.nodes.physics.gate import RESET_JUMP, Gate
from mbsim_ros.nodes.physics.inputs import Inputs
from mbsim_ros.nodes.physics.journal import Events, Journal
from mbsim_ros.nodes.physics.live import LiveParameters
from mbsim_ros.nodes.physics.lockstep import ANYBODY, Answers, qualified
from mbsim_ros.nodes.physics.outputs import Outputs
from mbsim_ros.nodes.physics.pacing import Pace
from mbsim_ros.nodes.physics.parameters import DAMP, HOLD, LOCKSTEP, PARAMETERS
from mbsim_ros.nodes.physics.robot_source import load_robot
from mbsim_ros.nodes.physics.run_summary import introduce, sum_up
from mbsim_ros.nodes.physics.services import Services
from mbsim_ros.nodes.physics.simulation_setup import make_simulation, setup_of
from mbsim_ros.nodes.robust_node import RobustNode
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.transport.fast_loop import FastLoop, Handler
from mbsim_ros.nodes.transport.local_topics import LOCAL_TOPICS
from mbsim_ros.nodes.unique_name import claim_name, refuse_if_in_graph
from mbsim_ros.sim.clock import whole_steps
from mbsim_ros.sim.drives.command_interface import CommandInterface

DIVERGED = 3  # exit code
MOST_WANTED = 1000  # steps of a paused simulation that are waited for


class Physics(RobustNode):
    """See the head of this file. `run` is its main loop."""

    def __init__(self) -> None:
        super().__init__("physics")
        values = declare(self, PARAMETERS)
        if self.get_parameter("use_sim_time").value:
            raise ValueError("use_sim_time: expected false: this node makes the time that others use, got true")
        self.values = values
        self._claim = claim_name(self)
        robot = load_robot(self, values)
        self.sim = make_simulation(robot.model, values, robot.world)
        refuse_if_in_graph(self)  # by now it knows the others, and no topic or service of its own has disturbed them
        self.steps = whole_steps("control_period", values["control_period"], self.sim.dt_ns)
        self.intake = CommandInterface(self.sim)
        is_lockstep = values["sync"] == LOCKSTEP
        answers = Answers(self._participants(), self.get_namespace()) if is_lockstep else None
        self._offset = 0  # ns: stamp = offset + time of the simulation
        self.scene: SceneChanges | None = None  # of a simulation of several
        self.journal, self.events = Journal(self), Events(self)
        self.inputs = Inputs(self, answers, values["frame_prefix"])
        self._outputs = Outputs(self, self.intake, values, robot.published)
        interfaces = self._outputs.entities = EntityInterfaces(self, self._outputs.contacts)
        interfaces.add_all()
        self.pace = Pace(values["real_time_factor"])
        self.paused = False
        self.exit_code = 0
        self.is_interrupted = False
        self._epoch = 0
        self._next_diagnostics = 0.0
        self._wanted_steps: list[Future] = []
        self._clock_handlers: list[Handler] = []
        if values["clock"] == "follow":
            followed = self.create_subscription(Clock, "/clock", lambda _: None, 10)
            self._clock_handlers = [(followed, lambda message: self._gate.on_clock(message))]
        self._offered = Services(self)
        self._live = LiveParameters(self, self._outputs)
        if is_composed():
            LOCAL_TOPICS.open()
        loop = FastLoop(
            self, self._handlers(), processes=lambda: 1 + len(self._participants()), on_failure=self.outlive
        )
        self._loop = CompositionHost(self, loop) if is_composed() else loop
        self._gate = Gate(self, self._loop, answers, self.pace)
        if self.sim.entities is not None:
            self.scene = SceneChanges(self, self._outputs, interfaces, self._live, self._listen)
        self.robot_text = robot.text
        self.publish_setup()
        self._outputs.publish_epoch(0)
        self.intake.hold()
        self._answers = answers
        if answers is not None and values["start"] == "run":
            answers.stand_by(0)  # nobody is there yet, and nobody is waited for
        introduce(self)

    @property
    def stamp(self) -> int:
        """Stamp of the present state [ns]."""
        return self._offset + self.sim.time

    @property
    def period(self) -> int:
        """Control period [ns]."""
        return self.steps * self.sim.dt_ns

    @property
    def has_wanted_steps(self) -> bool:
        """Whether somebody waits for a step of the paused simulation."""
        return bool(self._wanted_steps)

    def run(self) -> None:
        """Until the duration is over, the node is shut down, or the simulation has diverged in a timed run."""
        self.publish()
        while rclpy.ok() and not (self.is_interrupted or self._is_over()):
            if self._gate.may_go_on():
                self.take_period()
                if self._wanted_steps:
                    self._wanted_steps.pop(0).set_result(True)
                    self._loop.serve()
            self.journal.look()
            self._outputs.publish_view(self.stamp)
            self._diagnose()
        if rclpy.ok():
            if not self.is_interrupted:  # by a signal that ends the others as well
                self._gate.wait_for_the_last()
            self.journal.flush()
            self._outputs.wait_until_received(self.journal.publisher, self.events.publisher)

    def destroy_node(self) -> None:
        """End it, and the nodes that share its process."""
        if hasattr(self, "_loop"):  # one that could not be made is destroyed, too
            self._loop.close()
        super().destroy_node()

    def publish(self, after_period: bool = False) -> None:
        """Publish the present state, and ask for answers to it."""
        self._gate.asked()
        self.inputs.now = self.stamp
        self._outputs.publish_state(self.stamp)
        self.journal.published(after_period)
        self.pace.note(self.stamp)

    def publish_again(self) -> None:
        """Publish the state that was published last once more: a stamp has one state, whatever came after it."""
        self._outputs.repeat_state(self.stamp)

    def publish_setup(self, changed: Sequence[str] = ()) -> None:
        """Say what it takes to run this again, from this stamp on, and which parameters have changed at it."""
        specs = () if self.scene is None else self.scene.specs.values()
        setup = setup_of(self.sim, self.robot_text, self.values, specs)
        self._outputs.publish_setup({**setup, "stamp_ns": self.stamp, "changed": list(changed)})

    def take_period(self) -> None:
        """Act on the commands, advance by one control period, publish the state that results."""
        self.inputs.begin_instant(self.stamp)
        limit = self.values["command_timeout"]
        if self.values["sync"] != LOCKSTEP and limit > 0.0 and self.inputs.has_command:
            for entity in self.inputs.overdue(self.stamp, round(limit * SECOND)):
                whom = f" of '{entity}'" if entity else ""
                policy = self.values["on_timeout"]
                self.get_logger().warning(f"no command{whom} for {limit:g} s of simulated time: {policy}")
                self.stand_by(policy, entity=entity)
        is_whole = True
        try:
            self.sim.advance(self.steps)
        except SimulationDiverged as error:
            is_whole = False
            self.journal.note_set()  # it may have taken some of the steps
            self.get_logger().error(f"{error}; paused, reset to go on")
            self._gate.trouble, self.paused = str(error), True
            if self.values["duration"] > 0.0:
                self.exit_code = DIVERGED
                rclpy.try_shutdown()
                return
        self.publish(after_period=is_whole)

    def stand_by(self, policy: str, who: Sequence[str] = (), entity: str = "") -> None:
        """What the joints do, all or those of an entity, while nobody commands them, or these do not."""
        {HOLD: self.intake.hold, DAMP: self.intake.damp}.get(policy, self.intake.zero)(entity)
        self.journal.note(STAND_BY, [policy, entity] if entity else policy)
        self.events.tell(policy, who)

    def reset(self) -> None:
        """Start again in the initial state, one second later on the clock: stamps never go back."""
        last = self.stamp
        self.sim.reset(self.values["initial_state"])
        self._offset = last + RESET_JUMP
        self.inputs.clear()
        if self._answers is not None:
            self._answers.resume()
        self._epoch += 1
        self._gate.trouble = ""
        self.intake.hold()
        self.pace.restart(self.stamp)
        self._outputs.publish_epoch(self._epoch)
        self.journal.note_set()
        self.publish()

    def place(self, q: np.ndarray, v: np.ndarray) -> None:
        """Go on from another state at this instant; drives and commands stay. ValueError if it is no state."""
        last = self.stamp
        self.sim.reset(q, v)
        self._offset = last
        self.journal.note_set()
        self.publish()

    def jump(self, stamp: int) -> None:
        """Go on as if it were about this stamp: the owner of the clock is there already."""
        self._offset += (stamp - self.stamp) // self.sim.dt_ns * self.sim.dt_ns
        self.pace.restart(self.stamp)
        self.journal.note_set()

    def wanted_step(self) -> Future:
        """Ask for one control period while paused; the future is done when it has been taken.

        ValueError if too many are waited for already.
        """
        if len(self._wanted_steps) >= MOST_WANTED:
            raise ValueError(f"{MOST_WANTED} steps are waited for already: wait for some of them")
        future: Future = Future()
        self._wanted_steps.append(future)
        return future

    def wait_for(self, participants: Sequence[str]) -> None:
        """From now on, in lockstep, for the answers of these nodes: controllers come and go as entities do."""
        if self._answers is not None:
            names = [name for name in participants if name] or [ANYBODY]
            self._answers.change(qualified(name, self.get_namespace()) for name in names)

    def _participants(self) -> list[str]:
        return [name for name in self.values["lockstep_participants"] if name] or [ANYBODY]

    def _handlers(self) -> list[Handler]:
        return [*self.inputs.handlers, *self._clock_handlers]

    def _listen(self) -> None:
        """To the topics that there are now."""
        self._loop.listen_to(self._handlers())

    def _is_over(self) -> bool:
        duration = self.values["duration"]
        return duration > 0.0 and self.stamp >= round(duration * SECOND)

    def _diagnose(self) -> None:
        if time.monotonic() < self._next_diagnostics:
            return
        self._next_diagnostics = time.monotonic() + self.values["diagnostics_period"]
        level = DiagnosticStatus.WARN if self._gate.trouble else DiagnosticStatus.OK
        counts: dict[str, object] = {
            "real time factor": self.pace.measured, "time [s]": self.stamp / SECOND, "paused": self.paused,
            **{f"refused: {cause}": number for cause, number in sorted(self.inputs.refused.items())},
            **{f"failed: {what}": number for what, number in sorted(self.failures.items())},
        }  # fmt: skip
        self._outputs.diagnostics.publish(
            self.stamp, level, self._gate.trouble or ("paused" if self.paused else "runs"), counts
        )


def spin(node: Physics) -> None:
    """Run the node and clean up after it. A signal ends it between two periods: it still says what acted last."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: setattr(node, "is_interrupted", True))
    try:
        node.run()
    except ExternalShutdownException:
        pass
    finally:
        sum_up(node)


def main() -> int:
    """The node's process."""
    return run_node(Physics, spin)


if __name__ == "__main__":
    sys.exit(main())
