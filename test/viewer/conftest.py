"""What tests of the web view share."""

from __future__ import annotations

import contextlib
import io

import pytest
from page_client import Page

from mbsim_ros.viewer.web_server import open_server

FIRST_PORT = 18480


@pytest.fixture
def server():
    """A server on loopback, on a free port."""
    server = open_server(port=FIRST_PORT, title="test")
    yield server
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


@pytest.fixture
def page(server):
    """A page that shows what the server has."""
    page = Page(server.get_port())
    yield page
    page.close()
