# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Other sites get nothing from a view: real websocket clients with the headers that browsers would send."""

from __future__ import annotations

import contextlib
import gzip
import http.client

import pytest
import viser
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from mbsim_ros.viewer.page import web_server
from mbsim_ros.viewer.page.chooser import Chooser
from mbsim_ros.viewer.page.markdown import code, code_block, plain
from mbsim_ros.viewer.page.panel_values import problem_of
from mbsim_ros.viewer.page.web_guard import WebGuard


def status(port: int, **headers: str) -> int:
    """What a websocket client with these headers is answered: 101 if it is let in."""
    try:
        with connect(
            f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], additional_headers=headers,
            max_size=None,
        ):  # fmt: skip
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def answer(port: int, host: str) -> http.client.HTTPResponse:
    """The answer to a browser that opens the page by this name."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/", headers={"Host": host})
    return connection.getresponse()


def test_pages_of_other_sites_are_refused(server, caplog):
    port = server.get_port()
    assert status(port) == 101  # a program
    assert status(port, Origin=f"http://127.0.0.1:{port}") == 101
    for origin in (
        "https://example.org",
        f"http://localhost:{port + 1}",
        f"http://127.0.0.1.example.org:{port}",
        "null",
    ):
        assert status(port, Origin=origin) == 403
    assert "a page of https://example.org asks" in caplog.text
    assert not server.get_clients()


def test_names_that_others_let_lead_here_are_refused(server):
    port = server.get_port()
    opened = answer(port, f"localhost:{port}")
    assert opened.status == 200 and opened.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert answer(port, f"rebound.example.org:{port}").status == 403


def test_a_server_that_others_open_is_not_guarded(server):
    from websockets.asyncio.server import serve

    assert serve.__module__ == "websockets.asyncio.server"


@pytest.mark.parametrize(
    ("host", "names", "header", "origin", "allowed"),
    [
        ("127.0.0.1", (), "[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1", (), "LOCALHOST:8080", "http://localhost:8080", True),
        ("127.0.0.1", (), "localhost.example.org", None, False),
        ("127.0.0.1", (), "", None, False),
        ("127.0.0.1", (), "[", None, False),
        ("0.0.0.0", (), "192.0.2.7:8080", "http://192.0.2.7:8080", True),  # numbers cannot be made to lead elsewhere
        ("0.0.0.0", (), "192.0.2.7:8080", "http://192.0.2.8:8080", False),
        ("0.0.0.0", (), "robot.lab:8080", None, False),
        ("0.0.0.0", ("robot.lab",), "robot.lab:8080", "http://robot.lab:8080", True),
        ("robot.lab", (), "robot.lab:8080", "http://robot.lab:8080", True),
        ("127.0.0.1", ("robot.lab",), "localhost:8080", "https://robot.lab", True),  # behind a proxy
        ("127.0.0.1", ("",), "localhost:8080", "null", False),
    ],
)
def test_who_is_let_in(host, names, header, origin, allowed):
    headers = Headers({"Host": header} | ({} if origin is None else {"Origin": origin}))
    assert (WebGuard(host, names).problem(headers) == "") is allowed


def test_two_hosts_in_one_request_are_refused():
    assert WebGuard("127.0.0.1").problem(Headers([("Host", "localhost"), ("Host", "example.org")]))


def test_a_viser_that_works_otherwise_gives_no_view(monkeypatch):
    monkeypatch.setattr(WebGuard, "watching", contextlib.nullcontext)  # as if it opened its server in another way
    with pytest.raises(web_server.ViewerNotGuarded, match="pip install"):
        web_server.open_server(port=18960)


def test_values_that_no_menu_has_are_refused(server, page, caplog):
    chooser = Chooser(server)
    page.element("terrain")
    for label, value in (
        ("robot or launch file", "/tmp/foreign.launch.xml"),
        ("terrain", "flat record:=true"),
        ("terrain", 3),
    ):
        page.set(label, value)
    page.change("robot or launch file", {"value": "arm", "removed": True})
    page.set("terrain", "plate")
    page.until(lambda: "terrain:=plate" in page.words(), "a value that it has")
    assert chooser.command() == ["launch", "walker", "terrain:=plate"]
    assert "'robot or launch file' cannot be '/tmp/foreign.launch.xml'" in caplog.text
    assert "'robot or launch file': only its value can be changed" in caplog.text
    assert caplog.text.count("refused a value from a page") == 4


def test_numbers_and_texts_are_such_as_a_hand_could_give(server):
    gui = server.gui
    slider = gui.add_slider("force", min=0.0, max=10.0, step=0.1, initial_value=1.0)
    number = gui.add_number("gain", initial_value=1.0)
    text = gui.add_text("robot", initial_value="")
    for handle, value in (
        (slider, 10.0),
        (slider, 3),
        (number, -1e9),
        (text, "a b.urdf"),
        (gui.add_button("go"), True),
    ):
        assert not problem_of(handle, {"value": value})
    for handle, value in (
        (slider, 10.2), (slider, float("nan")), (slider, "3"), (slider, True), (number, float("inf")), (number, None),
        (text, "a\0b"), (text, "x" * 5000), (text, 3), (gui.add_checkbox("play", False), "yes"),
    ):  # fmt: skip
        assert problem_of(handle, {"value": value})
    assert problem_of(slider, {"value": 1.0, "update_cb": []}) and problem_of(slider, [])


HOSTILE = "{fetch('/')}\n\nexport const a = 1\n```\n<img src=x onerror=a()> ![x](/etc/passwd) `{b}`"


def test_words_of_others_stay_words():
    shown = plain(HOSTILE)
    assert "\n" not in shown and "\\{fetch" in shown and "\\<img" in shown and "![" not in shown
    assert code(HOSTILE).count("`") == 2 and "\n" not in code(HOSTILE)
    lines = code_block(HOSTILE.splitlines()).splitlines()
    assert lines[0] == lines[-1] == "```" and not any("`" in line or "![" in line for line in lines[1:-1])


@pytest.mark.parametrize("packed", [True, False])
def test_the_page_has_our_script(server, packed):
    headers = {"Accept-Encoding": "gzip" if packed else "identity"}
    connection = http.client.HTTPConnection("127.0.0.1", server.get_port())
    connection.request("GET", "/", headers=headers)
    body = connection.getresponse().read()
    page = gzip.decompress(body) if packed else body
    assert page.count(b"dataTransfer.files") == 2
    assert page.rstrip().endswith(b"</html>")
