# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What tests of the web view share."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_client import Page

from mbsim_ros.model.loading import load_urdf
from mbsim_ros.viewer.page.web_server import close_server, open_server

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
