# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Viewer`: a simulation of a Python program in a web browser, while the program steps it."""

from __future__ import annotations

import sys
import time
import warnings
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.viewer.page.web_server import LOOPBACK, PORT, address, close_server, open_browser, open_server
from mbsim_ros.viewer.sim_page import SimPage

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

SHARE = 0.5  # of the time between two pictures: as long may one compiled call be
PAGE_OPENS = 15.0  # s to wait for a browser that was asked to open the page
BEHIND = 0.1  # s: what is further behind its real time does not try to catch up
NAP = 1e-3  # s: shorter waits are left until they have added up


class Viewer:
    """Shows a simulation in a browser; every step and run of it is seen from now on, until `close`.

        with Viewer(sim) as viewer:
            sim.run(5.0, controller)
            viewer.wait()          # keep the page until Ctrl-C

    port: to listen on, or the next that is free. host: the address; anybody who can reach it can press the buttons.
    open: a browser, where there is a screen. real_time_factor: simulated over real time, at most, 0 for as fast as
    possible. rate: pictures per second, while a browser looks. The simulation's numbers are the same with and without
    it, unless somebody presses a button on the page.
    """

    def __init__(
        self, sim: Simulation, port: int = PORT, *, host: str = LOOPBACK, open: bool = True,
        real_time_factor: float = 1.0, rate: float = 30.0,
    ):  # fmt: skip
        if not (np.isfinite(real_time_factor) and real_time_factor >= 0.0):
            raise ValueError(f"real_time_factor: expected 0 or more, got {real_time_factor!r}")
        if not 1.0 <= rate <= 120.0:
            raise ValueError(f"rate: expected 1 … 120 pictures per second, got {rate!r}")
        if sim.watcher is not None:
            raise ValueError(f"this simulation is shown already, at {sim.watcher.address}: close that view first")
        self.sim = sim
        self._period = 1.0 / rate
        self.server = open_server(host, port, f"mbsim {sim.model.name}")
        self._page = SimPage(self.server, sim, real_time_factor)
        self._step_cost = 0.0  # s of wall time of one step, with what the program does between two
        self._is_broken = False
        self._start = self._due = self._looked_at = self._slept = 0.0  # s of this machine's clock
        self._start_time = self._steps = 0  # ns of the simulation's clock; since it last looked up
        self._measured: deque[tuple[float, int]] = deque(maxlen=8)  # both clocks at the last words on the page
        self._factor = real_time_factor
        self._begin()
        self._draw(everything=True)
        sim.watcher = self
        print(f"mbsim: open {self.address} in a browser", file=sys.stderr, flush=True)
        if open and open_browser(self.address):
            self._wait_for_page()
        self._begin()

    @property
    def address(self) -> str:
        """What to type into a browser on this host."""
        return address(self.server)

    @property
    def pictures(self) -> int:
        """How many were drawn so far."""
        return self._page.pictures

    @property
    def is_open(self) -> bool:
        """Whether it still shows the simulation."""
        return self.sim.watcher is self

    def update(self) -> None:
        """Draw the present state at once: after a `reset` or `restore`. Steps are drawn by themselves."""
        if self.is_open:
            self._begin()
            self._draw(everything=True)

    def wait(self, seconds: float | None = None) -> None:
        """Keep the page open without stepping, for some time or until Ctrl-C."""
        end = np.inf if seconds is None else time.monotonic() + seconds
        try:
            while self.is_open and time.monotonic() < end:
                self._do_what_is_asked()
                self._draw(everything=True)
                time.sleep(min(self._period, max(0.0, end - time.monotonic())))
        except KeyboardInterrupt:
            if seconds is not None:
                raise
        self._begin()

    def close(self) -> None:
        """End the view; the simulation goes on as it is. A second call does nothing."""
        if self.is_open:
            self.sim.watcher = None
            close_server(self.server)

    def most_steps(self) -> int:
        """How many steps one compiled call may have for pictures and pace to be even."""
        most = SHARE * self._period / max(self._step_cost, 1e-7)
        if self._page.factor > 0.0:
            most = min(most, self._page.factor * self._period / self.sim.dt)
        return max(1, int(most))

    def after_steps(self, steps: int) -> None:
        """Called by the simulation after every call that advanced it: draw if it is time to, keep the pace."""
        self._steps += steps
        now = time.monotonic()
        if now >= self._due:
            self._look_up(now)
        if self._factor > 0.0:
            self._keep_pace()

    def _look_up(self, now: float) -> None:
        """Once for every picture: draw, and do what was asked for on the page."""
        self._step_cost = max(now - self._looked_at - self._slept, 0.0) / self._steps
        self._due = max(self._due + self._period, now)
        self._draw()
        self._do_what_is_asked()
        if self._page.is_paused:
            self._stand_still()
        if self._page.factor != self._factor or self.sim.time < self._start_time:
            self._begin()
        self._looked_at, self._slept, self._steps = time.monotonic(), 0.0, 0

    def _begin(self) -> None:
        """Count real time from here on."""
        now = time.monotonic()
        self._factor = self._page.factor
        self._start, self._start_time = now, self.sim.time
        self._due, self._looked_at, self._slept, self._steps = now, now, 0.0, 0  # the next call is looked at
        self._measured.clear()
        self._measured.append((now, self.sim.time))

    def _keep_pace(self) -> None:
        now = time.monotonic()
        ahead = self._start + 1e-9 * (self.sim.time - self._start_time) / self._factor - now
        if ahead > NAP:
            time.sleep(ahead)
            self._slept += time.monotonic() - now
        elif ahead < -BEHIND:
            self._start, self._start_time = now, self.sim.time

    def _stand_still(self) -> None:
        """Stay in this state while the page says pause; a step on the page lets one call of the program through."""
        page = self._page
        while page.is_paused and not page.steps and self.is_open:
            self._draw(everything=True)
            time.sleep(self._period)
            self._do_what_is_asked()
        self._begin()
        if page.steps:
            page.steps -= 1
            self._due = 0.0  # and after that one it stands still again

    def _do_what_is_asked(self) -> None:
        self._safely(lambda: self._page.do_what_is_asked(max(self._factor, self._speed_now() or 0.0)))

    def _draw(self, everything: bool = False) -> None:
        """Show the present state, if somebody looks."""
        if everything or self.server.get_clients():
            self._safely(lambda: self._page.draw(self._speed_now(), everything))

    def _safely(self, act: Callable[[], None]) -> None:
        """What goes wrong with a view is said, and never stops a run."""
        if self._is_broken:
            return
        try:
            act()
        except Exception as error:
            self._is_broken, self._page.is_paused = True, False
            warnings.warn(f"the web view stopped: {error!r}; the simulation goes on", stacklevel=2)

    def _speed_now(self) -> float | None:
        """The real-time factor of late, if it moves."""
        now = time.monotonic()
        then, since = self._measured[0]
        if now - self._measured[-1][0] > 3 * self._period:
            self._measured.append((now, self.sim.time))
        is_moving = self.sim.time > since and now - then >= self._period
        return 1e-9 * (self.sim.time - since) / (now - then) if is_moving else None

    def _wait_for_page(self) -> None:
        end = time.monotonic() + PAGE_OPENS
        while not self.server.get_clients() and time.monotonic() < end:
            time.sleep(0.05)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
