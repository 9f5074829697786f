# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Who may use a web view: a page that the view itself gave out, and no page of another site.

A browser lets every page open a websocket to every address, those of its own host too: without a look at two headers of
the request, any site that the user visits could press the buttons of a view.
- Host: the name by which the browser came. An address in numbers leads nowhere else; any other name must be one of this
  host, or its owner could let it lead here (DNS rebinding).
- Origin: the page that asks. It must have come from the same place as what it asks for. Programs that are no browsers
  send none; they are processes of this host, or of one that the view was opened to.
"""

from __future__ import annotations

import contextlib
import http
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mbsim_ros.viewer.page.page_script import PageScript

if TYPE_CHECKING:
    from websockets import Headers, Request, Response
    from websockets.asyncio.server import ServerConnection

    Process = Callable[[ServerConnection, Request], Response | None]

LOG = logging.getLogger("mbsim_ros.viewer")
MOST_SAID = 20  # refusals that are logged: who asks ten thousand times does not fill the disk
_replacing = threading.Lock()


class WebGuard:
    """Judges requests. host: the address that the server listens on; names: further ones that browsers may use."""

    def __init__(self, host: str, names: Iterable[str] = ()):
        self._trusted = {name.strip().lower() for name in names if name.strip()}
        self._names = {"localhost", host.lower(), *self._trusted}
        if not _is_loopback(host):
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._said: set[str] = set()
        self._script = PageScript()
        self.is_in_place = False

    def problem(self, headers: Headers) -> str:
        """Why a request with these headers is refused, or ""."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return "expected one header Host and at most one Origin"
        name = _host_name(f"//{hosts[0]}")
        if not (name in self._names or _is_address(name)):
            return f"'{hosts[0]}' is no name of this view: open it as localhost, or allow the name by --host-names"
        if origins and not self._is_own(origins[0], hosts[0]):
            return f"a page of {origins[0]} asks, which is not this view"
        return ""

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Servers that are opened meanwhile ask this guard first.

        viser hands nothing on to the server of websockets that it opens, so the opening itself is what is replaced.
        """
        from websockets.asyncio import server

        with _replacing:
            serve = server.serve

            def guarded(*given: Any, process_request: Process | None = None, **more: Any) -> object:
                self.is_in_place = True
                return serve(*given, process_request=self._before(process_request), **more)

            server.serve = guarded  # type: ignore[assignment,misc]
            try:
                yield
            finally:
                server.serve = serve  # type: ignore[misc]

    def _before(self, process_request: Process | None) -> Process:
        def guarded(connection: ServerConnection, request: Request) -> Response | None:
            problem = self.problem(request.headers)
            if problem:
                self._say(problem)
                return connection.respond(http.HTTPStatus.FORBIDDEN, f"refused: {problem}\n")
            response = process_request(connection, request) if process_request else None
            if response is not None:
                self._script.add_to(response)
                response.headers["X-Frame-Options"] = "SAMEORIGIN"  # no site lays the buttons under its own
            return response

        return guarded

    def _is_own(self, origin: str, host: str) -> bool:
        return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}") or (
            _host_name(origin) in self._trusted  # behind a proxy Host may be another
        )

    def _say(self, problem: str) -> None:
        if problem not in self._said and len(self._said) < MOST_SAID:
            self._said.add(problem)
            LOG.warning("refused a request: %s", problem)


def _host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
