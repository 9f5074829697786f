"""What tests of the web view share."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_client import Page

from mbsim_ros.model.loading import load_urdf
from mbsim_ros.viewer.web_server import close_server, open_server

ROOT = Path(__file__).resolve().parents[2]
FIRST_PORT = 18480


@pytest.fixture(scope="session")
def walker():
    """The eight-legged walker, read once: a model does not change."""
    return load_urdf(ROOT / "urdf/walker.urdf.xacro")


@pytest.fixture
def server():
    """A server on loopback, on a free port."""
    server = open_server(port=FIRST_PORT, title="test")
    yield server
    close_server(server)


@pytest.fixture
def page(server):
    """A page that shows what the server has."""
    page = Page(server.get_port())
    yield page
    page.close()
