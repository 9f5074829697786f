# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The viewer node: a robot that is simulated, live in a web browser, with buttons that call the real services.

One picture after the other, 30 a second: take the newest state, show it, do what the user asked for, sleep. While no
browser looks, nothing is drawn.
"""

from __future__ import annotations

import signal
import sys
import time
import warnings

import rclpy
from rclpy.node import Node

from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import floor
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.transport.fast_loop import FastLoop
from mbsim_ros.nodes.viewer.requests import ParametersOfNodes, Requests
from mbsim_ros.nodes.viewer.show import SLOW, Show, ShownRobot
from mbsim_ros.nodes.viewer.topics import ViewerTopics
from mbsim_ros.sim.initial_states import named_state
from mbsim_ros.viewer.page.controls import Couple, Push, Speed
from mbsim_ros.viewer.page.web_server import (
    LOOPBACK,
    PORT,
    ViewerMissing,
    ViewerNotGuarded,
    address,
    close_server,
    open_browser,
    open_server,
)

PARAMETERS = (
    Parameter("host", LOOPBACK, "Address to listen on; all who can reach it can press the buttons."),
    Parameter("host_names", "", "Names, with commas, by which browsers may open it besides localhost and addresses."),
    Parameter("port", PORT, "Port to listen on; the next that is free where it is in use.", 1, 65535),
    Parameter("rate", 30.0, "Pictures per second of wall time.", 1.0, 120.0),
    Parameter("open_browser", True, "Whether a browser is opened where there is a screen."),
)
WITHOUT_SETUP = 3.0  # s of wall time to wait for simulation_setup when only robot_description has come
WAITING = "waiting for a simulation: the first start of a version compiles its kernels, some minutes"
ALONE = 0.2  # s of wall time between two looks for a browser
LOOK_FOR_NODES = 2.0  # s of wall time


class ViewerNode(Node):
    """See the head of this file. `run` is its main loop."""

    def __init__(self) -> None:
        super().__init__("viewer")
        self._values = declare(self, PARAMETERS)
        self._topics = ViewerTopics(self)
        self._loop = FastLoop(self, [])
        names = self._values["host_names"].split(",")
        self._server = open_server(self._values["host"], self._values["port"], f"mbsim {self.get_namespace()}", names)
        self._show: Show | None = None
        self._live: ParametersOfNodes | None = None
        self._waiting = self._server.gui.add_markdown(WAITING)
        self._described_at: float | None = None
        self._nodes_due = 0.0
        self._requests = Requests(self, self._say, self._on_time)
        self.get_logger().info(f"open {address(self._server)} in a browser")
        if self._values["open_browser"]:
            open_browser(address(self._server))

    def run(self) -> None:
        """Until the node is shut down."""
        due, count = time.monotonic(), 0
        while rclpy.ok():
            count += 1
            is_seen = bool(self._server.get_clients())
            if count % SLOW == 0 or not is_seen:
                self._loop.serve()
            if self._show is None:
                self._begin()
            elif is_seen:
                self._picture(self._show)
            due = max(due + (1.0 / self._values["rate"] if is_seen else ALONE), time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    def close(self) -> None:
        """End the server and the loop."""
        close_server(self._server)
        self._loop.close()

    def _begin(self) -> None:
        """Make the scene when it is known which robot is simulated."""
        topics = self._topics
        if topics.setup is None:
            if topics.description is not None and self._described_at is None:
                self._described_at = time.monotonic()
            if self._described_at is None or time.monotonic() - self._described_at < WITHOUT_SETUP:
                return
        try:
            robot = _robot(topics)
            if not topics.hot:
                topics.listen(to_simulation=topics.setup is not None)
                self._loop.close()
                self._loop = FastLoop(self, [(hot, lambda _: None) for hot in topics.hot.values()])
            show = Show(self._server, topics, robot)
            self._live = ParametersOfNodes(self, show.panel, show.controls, robot.friction)
            self._show = show
            self._waiting.visible = False
        except ValueError as error:
            self.get_logger().error(f"cannot show the robot: {error}", once=True)
            topics.setup = topics.description = None
            return
        for problem in self._show.stage.robot.problems:
            self.get_logger().warning(problem)

    def _picture(self, show: Show) -> None:
        show.take()
        with self._server.atomic():
            show.draw()
        pull = show.pull()
        if pull is not None:
            self._requests.pull(pull, show.frame_prefix)
        while show.controls.asked:
            self._do(show, show.controls.asked.popleft())
        assert self._live is not None
        while show.panel.asked:
            self._live.change(*show.panel.asked.popleft())
        # Not before the robot moves: nodes that are starting have better to do than to answer.
        if show.states.stamp > 0 and time.monotonic() > self._nodes_due:
            self._nodes_due = time.monotonic() + LOOK_FOR_NODES
            self._live.look_for_nodes()

    def _do(self, show: Show, asked: str | Push | Speed | Couple) -> None:
        """What was asked for on the panel."""
        assert self._live is not None
        if isinstance(asked, Push):
            self._requests.push(asked.link, show.frame_prefix, show.in_link(asked))
        elif isinstance(asked, Speed):
            self._live.change("physics", "real_time_factor", asked.factor)
        elif isinstance(asked, Couple):
            self._live.change("physics", "coupling", asked.name)
        else:
            self._requests.call(asked)

    def _say(self, text: str) -> None:
        if self._show is not None:
            self._show.controls.show_answer(text)

    def _on_time(self, is_paused: bool) -> None:
        if self._show is not None:
            self._topics.diagnostics = None  # of before
            self._show.controls.show_paused(is_paused)


def _robot(topics: ViewerTopics) -> ShownRobot:
    """What the simulation says; without one, the description."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # physics tells of them
        warnings.simplefilter("ignore", ContactWarning)
        if topics.setup is not None:
            setup = SimulationSetup.from_json(topics.setup)
            model, scene = setup.model_and_scene()
            friction = None if scene.contact is None else scene.contact.friction_static
            q = named_state(model, setup.parameters["initial_state"])[0]
            return ShownRobot(model, scene.ground, q, setup.parameters["frame_prefix"], friction)
        assert topics.description is not None
        model = load_urdf(topics.description, found_meshes={})
    return ShownRobot(model, floor() if model.is_floating else None, model.neutral.copy())


def spin(node: ViewerNode) -> None:
    """Run the node and clean up after it."""
    try:
        node.run()
    finally:
        node.close()


def main() -> int:
    """The node's process; where there can be no web view it says so, and nothing else stops for that."""
    # rclpy, too, hears of Ctrl-C and ends the loop; an exception in the middle of reading a message would not be clean.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return run_node(ViewerNode, spin)
    except (ViewerMissing, ViewerNotGuarded) as error:
        print(f"[viewer] {error}", file=sys.stderr, flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main())
