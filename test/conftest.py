"""Fixtures for all tests."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

import pytest

# What starts the tests may ignore signals, and children inherit that: they are to meet the ordinary ones.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

sys.path.append(str(Path(__file__).parent / "dynamics"))  # its random robots serve other folders, too

_DOMAINS_PER_WORKER = 48
_domains = itertools.count()


@pytest.fixture(autouse=True)
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain of the test's own, so that no two tests hear each other."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    domain = 1 + worker % 2 * _DOMAINS_PER_WORKER + next(_domains) % _DOMAINS_PER_WORKER  # 1 … 96 are safe on Linux
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return domain
