"""What tests with real nodes share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def fast_discovery(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes find each other in 50 ms instead of two seconds; the domain keeps tests apart."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
