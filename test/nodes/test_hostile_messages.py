"""`mbsim soak --fuzz --only messages` in its short form."""

from __future__ import annotations

from mbsim_ros.fuzz.runner import fuzz

CASES = 60  # a complete run has 5,000


def test_nodes_do_not_mind_hostile_messages():
    found = fuzz("messages", 4, range(CASES), 1)
    assert not found.failures, found.failures
    assert found.accepted > 10  # services that answered
    assert found.memory[0][0] > 1 << 28  # three nodes
