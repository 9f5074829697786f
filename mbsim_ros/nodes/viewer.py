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
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node

from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.contact.terrain import Ground, floor
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.nodes.fast_loop import FastLoop
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.viewer_contacts import read_contacts
from mbsim_ros.nodes.viewer_requests import LiveParameters, Requests
from mbsim_ros.nodes.viewer_states import ViewerStates
from mbsim_ros.nodes.viewer_topics import ViewerTopics
from mbsim_ros.viewer.controls import Controls, ParameterPanel, Push
from mbsim_ros.viewer.live_plots import LedgerPlots
from mbsim_ros.viewer.markdown import plain
from mbsim_ros.viewer.stage import Stage
from mbsim_ros.viewer.web_server import (
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
CONTACTS = 2  # pictures between two looks at contacts
SLOW = 6  # pictures between two looks at services, slow topics, balance and words, which cost more than all the others
ALONE = 0.2  # s of wall time between two looks for a browser
LOOK_FOR_NODES = 2.0  # s of wall time
RESET_GAP = SECOND // 2  # ns that a stamp jumps at a reset


class Viewer(Node):
    """See the head of this file. `run` is its main loop."""

    def __init__(self) -> None:
        super().__init__("viewer")
        self._values = declare(self, PARAMETERS)
        self._topics = ViewerTopics(self)
        self._loop = FastLoop(self, [])
        names = self._values["host_names"].split(",")
        self._server = open_server(self._values["host"], self._values["port"], f"mbsim {self.get_namespace()}", names)
        self._show: _Show | None = None
        self._described_at: float | None = None
        self._nodes_due = 0.0
        self._requests = Requests(self, self._say)
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
            self._show = _Show(self, self._server, topics, *robot)
        except ValueError as error:
            self.get_logger().error(f"cannot show the robot: {error}", once=True)
            topics.setup = topics.description = None
            return
        for problem in self._show.stage.robot.problems:
            self.get_logger().warning(problem)

    def _picture(self, show: _Show) -> None:
        with self._server.atomic():
            show.draw()
        while show.controls.asked:
            asked = show.controls.asked.popleft()
            if isinstance(asked, Push):
                self._requests.push(asked.link, show.frame_prefix, show.in_link(asked))
            else:
                self._requests.call(asked)
        while show.panel.asked:
            show.live.change(*show.panel.asked.popleft())
        # Not before the robot moves: nodes that are starting have better to do than to answer.
        if show.states.stamp > 0 and time.monotonic() > self._nodes_due:
            self._nodes_due = time.monotonic() + LOOK_FOR_NODES
            show.live.look_for_nodes()

    def _say(self, text: str) -> None:
        if self._show is not None:
            self._show.controls.show_answer(text)


class _Show:
    """The scene of one robot, and what of it has been drawn."""

    def __init__(
        self, node: Viewer, server: Any, topics: ViewerTopics, model: Model, ground: Ground | None, q: np.ndarray,
        prefix: str,
    ):  # fmt: skip
        self._topics, self.frame_prefix = topics, prefix
        self.stage = Stage(server, model, ground, q)
        self.states = ViewerStates(model, q, topics)
        self.controls = Controls(server, self.stage)
        with server.gui.add_folder("measured"):
            self._plots = LedgerPlots(server)
        self.panel = ParameterPanel(server)
        self.live = LiveParameters(node, self.panel, self.controls.show_answer)
        self._count = 0
        self._contacts = np.zeros((0, 3))
        self._coupling: str | None = None
        self._words = ""

    def draw(self) -> None:
        """Show what has come."""
        self._count += 1
        last = self.states.stamp
        if self.states.take():
            if not last <= self.states.stamp < last + RESET_GAP:
                self._restart()
            self.stage.place(self.states.q)
            self.stage.add_to_trail(self.states.q)
        contacts = self._topics.take("contacts") if self._count % CONTACTS == 0 else None
        if contacts is not None:
            self._contacts, colours, tips = read_contacts(contacts)
            self.stage.contacts.show(self._contacts, colours, tips)
        if self._count % SLOW == 0:
            self._draw_slowly(self._topics)

    def in_link(self, push: Push) -> np.ndarray:
        """The force (3,) of a push in the axes of its link."""
        rows = self.stage.robot.place(self.states.q)
        R_WL = rows[self.stage.model.link_names.index(push.link), :9].reshape(3, 3)
        return push.force * np.array(push.direction) @ R_WL  # type: ignore[no-any-return]

    def _draw_slowly(self, topics: ViewerTopics) -> None:
        self.stage.show_balance(self.states.q, self._contacts)
        if topics.coupling is not None and topics.coupling != self._coupling:
            self._coupling = topics.coupling
            self.stage.robot.show_coupling(self._coupling)
        found = topics.diagnostics
        if found is not None:
            topics.diagnostics = None
            self._words = f" · ×{_number(found, 'real time factor'):.2f} · {plain(found[''])}"
            prefix = "ledger "
            ledger = {
                key.removeprefix(prefix).removesuffix(" [J]"): _number(found, key)
                for key in found if key.startswith(prefix)
            }  # fmt: skip
            self._plots.add(_number(found, "time [s]"), _number(found, "real time factor"), ledger)
        coupling = f"\n\ncoupling **{plain(self._coupling)}** · red: braked, light blue: free" if self._coupling else ""
        self.controls.show_status(f"**t = {self.states.stamp / SECOND:.2f} s**{self._words}{coupling}")

    def _restart(self) -> None:
        self._plots.restart()
        if self.stage.trail is not None:
            self.stage.trail.clear()


def _robot(topics: ViewerTopics) -> tuple[Model, Ground | None, np.ndarray, str]:
    """Robot, ground, first q and prefix of the frames, as the simulation says; without one, of the description."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # physics tells of them
        warnings.simplefilter("ignore", ContactWarning)
        if topics.setup is not None:
            setup = SimulationSetup.from_json(topics.setup)
            sim = setup.simulation()
            return sim.model, sim.scene.ground, sim.q.copy(), setup.parameters["frame_prefix"]
        assert topics.description is not None
        model = load_urdf(topics.description, found_meshes={})
    return model, floor() if model.is_floating else None, model.neutral.copy(), ""


def _number(found: dict[str, str], key: str) -> float:
    try:
        return float(found[key])
    except (KeyError, ValueError):
        return float("nan")


def spin(node: Viewer) -> None:
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
        return run_node(Viewer, spin)
    except (ViewerMissing, ViewerNotGuarded) as error:
        print(f"[viewer] {error}", file=sys.stderr, flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main())
